"""Contents are sealed before they are kept: nothing of them is in the store's files."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from awhile.errors import SettingsError, StoreError
from awhile.stores.aes import AesGcm
from awhile.stores.contract import Store
from awhile.stores.open import open_store
from awhile.stores.operated import Notifies, Operated
from awhile.stores.sealing import UNREADABLE, sealed
from awhile.tasks import StoppedHow, TaskRecord, apply
from awhile.tasks import events as ev
from awhile.testing.store_case import AT, task
from awhile.testing.store_keeping import KeepsTasks
from awhile.testing.store_leases import GivesLeases
from awhile.testing.store_operating import IsOperated
from awhile.testing.store_races import EndsOnce

pytestmark = pytest.mark.anyio

OLD, NEW = b"o" * 32, b"n" * 32
CODEC = AesGcm({"k1": OLD})
SECRET = "sEcReT"  # noqa: S105 - what is looked for in the files

DONE = {"content": [{"type": "text", "text": f"{SECRET} result"}]}


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'tasks.db'}"


class TestSealedStore(KeepsTasks, EndsOnce, GivesLeases, IsOperated):
    """A sealed store passes what a store passes; how it wakes and survives is the store's own."""

    @pytest.fixture
    def store_url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path / 'tasks.db'}"

    @pytest.fixture
    async def store(self, store_url: str) -> AsyncGenerator[Store]:
        async with sealed(open_store(store_url), CODEC) as opened:
            yield opened

    @pytest.fixture
    async def second(self, store: Store, store_url: str) -> AsyncGenerator[Store]:
        async with sealed(open_store(store_url), CODEC) as opened:
            yield opened


async def whole_lives(store: Store) -> list[TaskRecord]:
    """Two tasks to which everything happens that has contents; as they are at the end."""
    told = ev.Reported(generation=1, done=1, total=2, message=f"{SECRET} step")
    early = apply(task(worker="w", arguments={"q": SECRET}, context={"h": SECRET}), told, AT)
    one = await store.create(early)
    other = await store.create(task(worker="w", arguments={"q": SECRET}))
    question = {"method": "elicitation/create", "params": {"message": f"{SECRET}?"}}
    for event in (
        ev.Reported(generation=1, done=2, total=2, message=f"{SECRET} next step"),
        ev.Reported(generation=1, done=2, total=2, message=f"{SECRET} next step"),
        ev.Noted(generation=1, key="job", outcome={"id": SECRET}),
        ev.InputAsked(generation=1, key="k", request=question),
        ev.InputAnswered(responses={"k": {"name": SECRET}}),
        ev.CancelAsked(reason=f"{SECRET} reason"),
        ev.Completed(generation=1, result=DONE, message=f"{SECRET} end."),
    ):
        await store.append(one.task_id, event, AT + 5)
    error = {"code": -32603, "message": f"{SECRET} error"}
    failed = ev.Failed(generation=1, error=error, message=f"{SECRET} error")
    await store.append(other.task_id, failed, AT + 5)
    return [found for each in (one, other) if (found := await store.get(each.task_id)) is not None]


def bytes_of(folder: Path) -> bytes:
    """All there is in the store's files, the write-ahead log included."""
    return b"".join(one.read_bytes() for one in folder.iterdir() if one.is_file())


async def test_the_bytes_of_the_files_contain_no_plaintext(tmp_path: Path, store_url: str) -> None:
    """Ours: neither while it is open, with its log, nor after; and all of it is read back."""
    async with sealed(open_store(store_url), CODEC) as store:
        one, other = await whole_lives(store)
        while_open = bytes_of(tmp_path)
        assert (tmp_path / "tasks.db-wal").stat().st_size > 0
        history = [*await store.history(one.task_id), *await store.history(other.task_id)]
    for data in (while_open, bytes_of(tmp_path)):
        assert SECRET.encode() not in data
        assert base64.b64encode(SECRET.encode())[:7] not in data
        assert b"elicitation" not in data
    assert one.arguments == {"q": SECRET}
    assert one.context == {"h": SECRET}
    assert [step.message for step in one.steps] == [f"{SECRET} step", f"{SECRET} next step"]
    assert one.progress is not None
    assert one.progress.message == f"{SECRET} next step"
    assert one.journal["job"].outcome == {"id": SECRET}
    assert one.inputs["k"].request["params"] == {"message": f"{SECRET}?"}
    assert one.inputs["k"].response == {"name": SECRET}
    assert one.cancel_reason == f"{SECRET} reason"
    assert one.result == DONE
    assert one.status_message == f"{SECRET} end. The stop that was asked for came too late."
    assert other.status_message == f"{SECRET} error"
    assert other.error == {"code": -32603, "message": f"{SECRET} error"}
    said = json.dumps([dict(each.fields) for each in history])
    assert said.count(SECRET) == 9
    assert "awhile/sealed" not in said


async def test_operators_without_the_key_see_and_stop_but_read_nothing(store_url: str) -> None:
    """Ours."""
    async with sealed(open_store(store_url), CODEC) as store:
        made = await store.create(task(worker="w", arguments={"q": SECRET}))
        told = ev.Reported(generation=1, message=SECRET)
        await store.append(made.task_id, told, AT)
    async with open_store(store_url) as keyless:
        assert isinstance(keyless, Operated)
        [held] = (await keyless.overview()).held
        assert (held.task_id, held.tool) == (made.task_id, "report")
        assert (held.status_message or "").startswith("[[sealed:")
        await keyless.append(made.task_id, ev.CancelAsked(reason="olga"), AT + 1)
        how = StoppedHow.COROUTINE_ENDED
        await keyless.append(made.task_id, ev.Stopped(generation=1, how=how), AT + 2)
    async with sealed(open_store(store_url), CODEC) as store:
        ended = await store.get(made.task_id)
        assert ended is not None
        assert (ended.stopped_how, ended.cancel_reason) == (how, "olga")
        assert ended.arguments == {"q": SECRET}


async def test_a_task_whose_key_was_lost_can_be_stopped(store_url: str) -> None:
    """Ours: whoever asks hears that it was written, although not what the task is about."""
    async with sealed(open_store(store_url), CODEC) as store:
        made = await store.create(task(worker="w", arguments={"q": SECRET}))
    async with sealed(open_store(store_url), AesGcm({"k2": NEW})) as store:
        asked = await store.append(made.task_id, ev.CancelAsked(reason="olga"), AT + 1)
        assert (asked.cancel_asked, asked.status_message) == (True, UNREADABLE)


async def test_keys_are_changed_one_after_the_other(store_url: str) -> None:
    """Ours: what an old key sealed is read while that is given, and refused afterwards."""
    rolling = AesGcm({"k1": OLD, "k2": NEW}), AesGcm({"k2": NEW, "k1": OLD})
    ids: list[str] = []
    for codec in (CODEC, *rolling):
        async with sealed(open_store(store_url), codec) as store:
            ids.append((await store.create(task(arguments={"q": SECRET}))).task_id)
    for codec in rolling:
        async with sealed(open_store(store_url), codec) as store:
            for task_id in ids:
                record = await store.get(task_id)
                assert record is not None
                assert record.arguments == {"q": SECRET}
    async with sealed(open_store(store_url), AesGcm({"k2": NEW})) as store:
        for task_id in ids[:2]:
            with pytest.raises(StoreError, match="sealed under a key that is not here"):
                await store.get(task_id)
        assert await store.get(ids[2]) is not None


async def test_a_list_shows_what_cannot_be_read_as_unreadable_beside_the_rest(
    every_store_url: str,
) -> None:
    """Ours: one task whose key was lost hides none of its owner's others."""
    async with sealed(open_store(every_store_url), CODEC) as store:
        lost, _ = await whole_lives(store)
    async with sealed(open_store(every_store_url), AesGcm({"k2": NEW})) as store:
        made = await store.create(task(arguments={"q": SECRET}))
        for detail in ("whole", "brief", "outline"):
            found = await store.find(owner="ada", detail=detail)
            assert [one.status_message for one in found[1:]] == [UNREADABLE, UNREADABLE]
            assert found[0].task_id == made.task_id
            assert found[0].arguments == ({} if detail == "outline" else {"q": SECRET})
            [shown] = [one for one in found if one.task_id == lost.task_id]
            assert "sealed:" not in repr(shown)
            assert "awhile/sealed" not in repr(shown)
            for name in ("status", "tool", "rev", "ended_at_ms", "stopped_how", "is_error"):
                assert getattr(shown, name) == getattr(lost, name)


async def test_what_a_worker_cannot_read_stays_for_one_that_can(
    store_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Ours: nothing is written of it; and it is said once which key is missing where."""
    asked: dict[str, Any] = {
        "worker": "w",
        "tools": ["report"],
        "at_ms": AT,
        "until_ms": AT + 9,
        "limit": 9,
    }
    async with (
        sealed(open_store(store_url), CODEC) as ours,
        sealed(open_store(store_url), AesGcm({"k2": NEW})) as other,
    ):
        assert isinstance(other, Notifies)
        await other.note_endings()
        one = await ours.create(task(arguments={"q": SECRET}))
        assert await other.claim(**asked) == []
        two = await other.create(task(arguments={"q": SECRET}))
        assert [each.task_id for each in await other.claim(**asked)] == [two.task_id]
        kept = await ours.history(one.task_id)
        assert [each.kind for each in kept] == ["Created"]
        [said] = caplog.messages
        assert "sealed under a key that is not here" in said
        assert "left to workers that have it" in said
        [taken] = await ours.claim(**asked)
        assert (taken.task_id, taken.attempt) == (one.task_id, 1)
        done = ev.Completed(generation=taken.generation, result=DONE)
        await ours.append(one.task_id, done, AT + 5)
        [notice] = await other.take_notices(at_ms=AT + 9, until_ms=AT + 99)
        assert notice.record.task_id == one.task_id


async def test_what_was_sealed_for_one_task_is_not_taken_for_anothers(store_url: str) -> None:
    """Ours: whoever can write the store cannot move contents between tasks, or change them."""
    async with sealed(open_store(store_url), CODEC) as store:
        one = await store.create(task(arguments={"q": SECRET}))
    async with open_store(store_url) as raw:
        kept = await raw.get(one.task_id)
        assert kept is not None
        moved = await raw.create(task(arguments=kept.arguments))
        [(key, text)] = kept.arguments.items()
        changed = {key: f"{text[:-6]}{'A' if text[-6] != 'A' else 'B'}{text[-5:]}"}
        broken = await raw.create(task(arguments=changed, task_id="0" * 32))
    async with sealed(open_store(store_url), CODEC) as store:
        for task_id in (moved.task_id, broken.task_id):
            with pytest.raises(StoreError, match="were changed since"):
                await store.get(task_id)


async def test_what_was_kept_before_there_was_a_key_is_still_read(store_url: str) -> None:
    """Ours: and sealed when it is written again."""
    async with open_store(store_url) as plain:
        made = await plain.create(task(worker="w", arguments={"q": SECRET}))
    async with sealed(open_store(store_url), CODEC) as store:
        ended = await store.append(made.task_id, ev.Completed(generation=1, result=DONE), AT)
        assert (ended.arguments, ended.result) == ({"q": SECRET}, DONE)


async def test_a_redaction_decides_what_is_kept_at_all(tmp_path: Path, store_url: str) -> None:
    """Ours: also without a key; it is told what each value is."""
    seen: set[str] = set()

    def redact(what: str, value: Any) -> Any:
        seen.add(what)
        return json.loads(json.dumps(value).replace(SECRET, "…"))

    async with sealed(open_store(store_url), redact=redact) as store:
        one, other = await whole_lives(store)
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert one.arguments == {"q": "…"}
    assert one.result == {"content": [{"type": "text", "text": "… result"}]}
    assert other.status_message == "… error"
    assert seen == {
        "arguments",
        "context",
        "error",
        "message",
        "outcome",
        "reason",
        "request",
        "response",
        "result",
    }


async def test_notices_of_a_sealed_store_are_those_of_the_store(store_url: str) -> None:
    """Ours: the webhook works as ever."""
    async with sealed(open_store(store_url), CODEC) as store:
        assert isinstance(store, Notifies)
        await store.note_endings()
        await whole_lives(store)
        taken = await store.take_notices(at_ms=AT + 9, until_ms=AT + 99)
        assert {one.record.status_message for one in taken} == {
            f"{SECRET} error",
            f"{SECRET} end. The stop that was asked for came too late.",
        }


@pytest.mark.parametrize("text", ["", "k1", "k1:", "k1:c2hvcnQ=", ":", "k1:!!"])
def test_keys_that_are_none_are_refused_and_not_repeated(text: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError) as refused:
        AesGcm.from_text(text)
    assert "secrets.token_bytes(32)" in str(refused.value)
    assert "c2hvcnQ=" not in str(refused.value)


def test_keys_are_read_from_one_setting() -> None:
    """Ours: the first one seals, every one opens."""
    text = ", ".join(
        f"{name}:{base64.b64encode(key).decode()}" for name, key in (("b", NEW), ("a", OLD))
    )
    both = AesGcm.from_text(text)
    assert AesGcm({"b": NEW}).open(both.seal(b"x", b"t"), b"t") == b"x"
    assert both.open(AesGcm({"a": OLD}).seal(b"y", b"t"), b"t") == b"y"
