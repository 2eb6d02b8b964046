"""The webhook: a real receiver is told of each end, once it is, whatever died in between."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import pytest
from standardwebhooks import Webhook as Verifier

from awhile.errors import SettingsError
from awhile.runtime.webhook import (
    AGAIN_SECONDS,
    AT_ONCE,
    Webhook,
    WebhookSender,
    again_after,
    key_of,
)
from awhile.runtime.worker import wall_clock_ms
from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.stores.operated import Notifies
from awhile.tasks import events as ev
from awhile.testing.store_case import task
from tests.interaction.fleet.fleet import Fleet, Member, fleet
from tests.interaction.server.peer import PATIENCE_SECONDS, until

pytestmark = pytest.mark.anyio

SECRET = "whsec_" + base64.b64encode(b"s" * 32).decode()
OLD_SECRET = "whsec_" + base64.b64encode(b"o" * 24).decode()
DONE = {"content": [{"type": "text", "text": "the secret result"}]}
HOUR_SECONDS = 3600
FACTS = {"taskId", "status", "tool", "owner", "createdAt", "endedAt"}


class _ManyAtOnce(ThreadingHTTPServer):
    request_queue_size = 2 * AT_ONCE


class Receiver:
    """A receiver on this machine, which answers as it is told, in order, and then with 204."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str]]] = []
        self.got: list[tuple[dict[str, str], bytes]] = []
        self.open = threading.Event()
        self.open.set()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.got.append(
                    ({name.lower(): value for name, value in self.headers.items()}, body)
                )
                receiver.open.wait(30)
                code, headers = receiver.answers.pop(0) if receiver.answers else (204, {})
                try:
                    self.send_response(code)
                    for name, value in headers.items():
                        self.send_header(name, value)
                    self.send_header("content-length", "0")
                    self.end_headers()
                except OSError:  # the sender was killed meanwhile
                    self.close_connection = True

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = _ManyAtOnce(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook?team=data"

    @property
    def messages(self) -> list[dict[str, Any]]:
        """What was told, in order."""
        return [json.loads(body) for _, body in self.got]

    def close(self) -> None:
        """Give the port back."""
        self.open.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def receiver() -> Generator[Receiver]:
    one = Receiver()
    yield one
    one.close()


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.db'}"


async def hooked(servers: Fleet, receiver: Receiver) -> Member:
    """A server that works and tells the receiver."""
    settings = f'webhook_url = "{receiver.url}"\nwebhook_secret = "{SECRET}"\n'
    (servers.folder / "config.toml").write_text(settings)
    return await servers.server()


async def test_a_receiver_is_told_of_an_end_signed_as_standard_webhooks_has_it(
    tmp_path: Path, store_url: str, receiver: Receiver
) -> None:
    """Standard Webhooks 1.0: checked by its own library."""
    async with fleet(tmp_path, store_url) as servers:
        server = await hooked(servers, receiver)
        task_id = await server.peer.start("work", name="a")
        servers.let_go("a")
        await server.peer.ended(task_id)
        await until(lambda: len(receiver.got) == 1, "the receiver was told")
        headers, body = receiver.got[0]
        assert headers["content-type"] == "application/json"
        assert headers["webhook-id"] == f"{task_id}.ended"
        assert abs(int(headers["webhook-timestamp"]) - time.time()) < 60
        said = Verifier(SECRET).verify(body.decode(), headers)
        assert said == json.loads(body)
        assert said["type"] == "task.completed"
        assert set(said) == {"type", "timestamp", "data"}
        assert set(said["data"]) == FACTS
        assert said["data"]["taskId"] == task_id
        assert said["data"]["tool"] == "work"
        assert said["timestamp"] == said["data"]["endedAt"]

        stopped = await server.peer.start("work", name="b")
        await server.peer.cancel(stopped)
        await until(lambda: len(receiver.got) == 2, "the receiver was told again")
        told = receiver.messages[1]
        assert told["type"] == "task.cancelled"
        assert told["data"]["stoppedHow"] == "coroutine_ended"


async def test_what_was_not_told_before_a_kill_is_told_after_it(
    tmp_path: Path, store_url: str, receiver: Receiver
) -> None:
    """Ours: the end is written, its notice is on the way, and every process is killed."""
    async with fleet(tmp_path, store_url) as servers:
        server = await hooked(servers, receiver)
        receiver.open.clear()  # it takes the message, and never answers
        task_id = await server.peer.start("work", name="a")
        servers.let_go("a")
        await until(lambda: len(receiver.got) == 1, "the notice is on the way")
        server.process.kill()
        await server.ended()
        receiver.open.set()
        async with open_store(store_url) as store:
            assert isinstance(store, Notifies)
            # Due again after `TAKEN_MS`; here at once, as if that time had passed.
            await store.settle_notices(again_ms={task_id: wall_clock_ms()})
        await hooked(servers, receiver)
        await until(lambda: len(receiver.got) == 2, "it was told after the kill")
        assert receiver.messages[0] == receiver.messages[1]
        assert receiver.got[0][0]["webhook-id"] == receiver.got[1][0]["webhook-id"]


async def test_a_receiver_that_fails_at_first_is_told_again_later(
    store_url: str, receiver: Receiver
) -> None:
    """Ours: errors and redirects alike, until it says that it has it; then never again."""
    elsewhere = {"location": receiver.url}
    receiver.answers = [(500, {}), (302, elsewhere), (503, {"retry-after": "900"})]
    clock = [wall_clock_ms()]
    webhook = Webhook(url=receiver.url, secrets=(SECRET,))
    async with (
        open_store(store_url) as store,
        WebhookSender(store, webhook, lambda: clock[0]).running(),
    ):
        await end_one(store, clock[0])
        with anyio.fail_after(PATIENCE_SECONDS):
            while len(receiver.got) < 4 or await outstanding(store, clock[0] + 10**9):
                clock[0] += 1000 * HOUR_SECONDS
                await store.create(task(at_ms=clock[0]))  # any change wakes the sender
                await anyio.sleep(0.05)
    assert len(receiver.got) == 4
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert b"secret result" not in b"".join(body for _, body in receiver.got)


async def test_a_receiver_that_hangs_with_one_notice_is_told_of_the_others_meanwhile(
    store_url: str, receiver: Receiver
) -> None:
    """Ours: side by side, but no more than a bounded number at once."""
    receiver.open.clear()
    webhook = Webhook(url=receiver.url, secrets=(SECRET,))
    async with (
        open_store(store_url) as store,
        WebhookSender(store, webhook, wall_clock_ms).running(),
    ):
        for number in (1, 2):
            await end_one(store, wall_clock_ms())
            await until(lambda: len(receiver.got) == number, "told, and not answered")  # noqa: B023
        for _ in range(AT_ONCE):
            await end_one(store, wall_clock_ms())
        await until(lambda: len(receiver.got) == AT_ONCE, "as many as may be are on their way")
        receiver.open.set()
        await until(lambda: len(receiver.got) == AT_ONCE + 2, "the rest follow")
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == AT_ONCE + 2


async def test_a_receiver_on_this_machine_is_told_past_the_proxies_that_variables_name(
    store_url: str, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours: a proxy would look for it on its own machine, and read what is not encrypted."""
    for name in ("http_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # nothing is there
    webhook = Webhook(url=receiver.url, secrets=(SECRET,))
    async with (
        open_store(store_url) as store,
        WebhookSender(store, webhook, wall_clock_ms).running(),
    ):
        await end_one(store, wall_clock_ms())
        await until(lambda: len(receiver.got) == 1, "told")


async def end_one(store: Store, at_ms: int) -> None:
    """Let a task end."""
    record = await store.create(task(worker="w", at_ms=at_ms))
    await store.append(record.task_id, ev.Completed(generation=1, result=DONE), at_ms)


async def outstanding(store: Store, at_ms: int) -> int:
    """How many notices are due then; they stay due."""
    assert isinstance(store, Notifies)
    return len(await store.take_notices(at_ms=at_ms, until_ms=at_ms))


def test_attempts_come_ever_later_and_never_sooner_than_the_receiver_asks() -> None:
    """Ours: three days in all, as Standard Webhooks recommends."""
    assert [again_after(one, 0, 0) for one in (1, 2, 3)] == [5, 60, 300]
    assert again_after(1, 900, 0) == 900
    assert again_after(2, 0, 1) == pytest.approx(72)
    assert list(AGAIN_SECONDS) == sorted(AGAIN_SECONDS)
    assert 2.5 * 86_400 < sum(AGAIN_SECONDS) < 4 * 86_400


async def test_while_a_secret_is_changed_both_sign(store_url: str, receiver: Receiver) -> None:
    """Standard Webhooks: several signatures, with spaces between them."""
    webhook = Webhook(url=receiver.url, secrets=(SECRET, OLD_SECRET))
    async with (
        open_store(store_url) as store,
        WebhookSender(store, webhook, wall_clock_ms).running(),
    ):
        await end_one(store, wall_clock_ms())
        await until(lambda: len(receiver.got) == 1, "told")
    headers, body = receiver.got[0]
    for secret in (SECRET, OLD_SECRET):
        Verifier(secret).verify(body.decode(), headers)
        signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
        digest = hmac.new(key_of(secret), signed, hashlib.sha256).digest()
        expected = f"v1,{base64.b64encode(digest).decode()}"
        assert expected in headers["webhook-signature"].split(" ")


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("http://example.com/hook", "Use an https URL"),
        ("ftp://example.com/hook", "Use an https URL"),
        ("https://[", "Use an https URL"),
        ("https:///hook", "names no host"),
        ("https://user:pass@example.com/hook", "has a user"),
    ],
)
def test_a_url_that_others_could_read_is_refused(url: str, words: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match=words):
        Webhook(url=url, secrets=(SECRET,))


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_c2hvcnQ=", SECRET[6:], "whsec_!!"])
def test_a_secret_that_is_none_is_refused_and_not_repeated(secret: str) -> None:
    """Ours: 24 to 64 bytes in base64, as Standard Webhooks has them."""
    with pytest.raises(SettingsError) as refused:
        Webhook(url="https://example.com/hook", secrets=(secret,) if secret else ())
    assert "secrets.token_bytes" in str(refused.value)
    assert secret in {"", "whsec_"} or secret not in str(refused.value)
