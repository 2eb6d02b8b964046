"""The probe is a guest: it calls nothing unasked, keeps to bounds, says its name, tidies up."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import anyio
import pytest

from awhile.errors import SettingsError, Unreachable
from awhile.probe import Grade, Limits, Target, Trial, probe
from awhile.probe.measures.evidence import MEASURING, SUGGESTED
from tests.interaction.probe.bench import BRIEF, Bench
from tests.interaction.probe.breaking import Answer, Defect, Request, as_object

pytestmark = pytest.mark.anyio

PATIENCE_SECONDS = 30


class Guestbook(Defect):
    """Breaks nothing, and notes who asked for what."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def asked(self, request: Request) -> Answer | None:
        self.requests.append(request)
        return None

    def methods(self) -> set[str]:
        return {one.method for one in self.requests}


async def living(bench: Bench) -> int:
    """Bodies that still make steps."""
    made = bench.made
    await anyio.sleep(0.6)
    return bench.made - made


async def test_without_a_tool_nothing_is_called(tmp_path: Path) -> None:
    """Ours."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    async with bench.serving(book) as url:
        report = await probe(Target(url=url))
    assert "tools/call" not in book.methods()
    assert bench.made == 0
    assert report.faults == []
    tried = {one.check for one in report.findings if one.grade is Grade.CONFORMS}
    assert {"undeclared-refused", "unknown-get-refused", "mcp-name-required"} <= tried
    [why] = {one.seen for one in report.findings if one.check == "ending-stays"}
    assert why == "no tool was called: name one with --tool, and say --safe-to-run"


async def test_a_tool_that_needs_more_than_it_is_given_is_not_called(tmp_path: Path) -> None:
    """Ours: it was called, refused, and reported as one that makes no tasks."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()

    @bench.mcp.tool()
    def report(year: int, place: str, unit: str = "EUR") -> str:
        return f"{year} {place} {unit}"

    trial = Trial(tool="report", arguments={"place": "Bonn"})
    async with bench.serving(book) as url:
        with pytest.raises(SettingsError, match=r"'report' needs 'year', so it was not called\."):
            await probe(Target(url=url), trial)
    assert "tools/call" not in book.methods()


async def test_it_says_who_it_is(tmp_path: Path) -> None:
    """Ours: in each era's own place."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    async with bench.serving(book) as url:
        await probe(Target(url=url))
    names: set[str] = set()
    for one in book.requests:
        meta = as_object(one.params.get("_meta"))
        info = meta.get("io.modelcontextprotocol/clientInfo") or one.params.get("clientInfo")
        names |= {as_object(info)["name"]} if info else set()
    assert names == {"awhile-probe"}


async def test_a_bound_on_requests_is_kept_and_what_was_not_come_to_says_so(
    tmp_path: Path,
) -> None:
    """Ours: only what ends its own tasks comes on top."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    limits = Limits(requests=34, run_seconds=8)
    async with bench.serving(book) as url:
        report = await probe(Target(url=url), Trial(tool="steps"), limits, eras=("2026-07-28",))
        assert await living(bench) == 0
    ending = [one for one in report.exchanges if one.purpose.startswith(("end a task", "see that"))]
    assert len(report.exchanges) - len(ending) <= limits.requests
    assert report.left_running == []
    reasons = {one.seen for one in report.findings if one.grade is Grade.NOT_TRIED}
    assert any("requests was reached" in why for why in reasons), reasons


async def test_a_bound_on_time_is_kept_and_every_task_is_ended(tmp_path: Path) -> None:
    """Ours."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    async with bench.serving(book) as url:
        report = await probe(Target(url=url), Trial(tool="steps"), Limits(seconds=1))
        assert await living(bench) == 0
    assert report.stopped_early == "the bound of 1 s was reached"
    assert report.left_running == []
    assert "tasks/cancel" in book.methods()


async def test_a_call_of_2025_that_is_left_is_taken_back(tmp_path: Path) -> None:
    """Ours: there, a dropped stream does not say that nobody waits any more."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    stop = anyio.Event()

    def say(line: str) -> None:
        if "without taking tasks" in line:
            stop.set()

    async with bench.serving(book) as url:
        trial, eras = Trial(tool="steps"), ("2025-11-25",)
        report = await probe(Target(url=url), trial, BRIEF, eras=eras, say=say, stop=stop)
        assert await living(bench) == 0
    sent = [one for one in report.exchanges if one.purpose == "call the tool without taking tasks"]
    taken_back = [
        one.params["requestId"] for one in book.requests if one.method == "notifications/cancelled"
    ]
    assert taken_back == [one.id for one in sent]


async def test_when_it_is_stopped_it_ends_its_tasks_and_tells_what_it_has(tmp_path: Path) -> None:
    """Ours."""
    bench = Bench(tmp_path / "t.db")
    stop = anyio.Event()

    def say(line: str) -> None:
        if "cancel a run" in line:
            stop.set()

    async with bench.serving() as url:
        report = await probe(Target(url=url), Trial(tool="steps"), BRIEF, say=say, stop=stop)
        assert await living(bench) == 0
    assert report.stopped_early == "it was stopped"
    assert report.left_running == []
    found = {one.check: one.grade for one in report.findings}
    assert found["result-read-twice"] is Grade.CONFORMS
    assert found["cancel-ends-the-task"] is Grade.NOT_TRIED


async def test_when_it_is_cancelled_it_ends_its_tasks_all_the_same(tmp_path: Path) -> None:
    """Ours."""
    bench, book = Bench(tmp_path / "t.db"), Guestbook()
    async with bench.serving(book) as url:
        with anyio.move_on_after(1.5):
            await probe(Target(url=url), Trial(tool="strict"), BRIEF, eras=("2026-07-28",))
        assert await living(bench) == 0
    assert book.requests[-1].method in ("tasks/get", "tasks/cancel")


async def test_a_task_that_cannot_be_ended_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours."""
    monkeypatch.setattr("awhile.probe.sessions.ENDING_SECONDS", 0.5)
    bench = Bench(tmp_path / "t.db")

    class Deaf(Defect):
        def asked(self, request: Request) -> Answer | None:
            return request.result({}) if request.method == "tasks/cancel" else None

    limits = Limits(run_seconds=0.3, stop_seconds=0.2)
    async with bench.serving(Deaf()) as url:
        report = await probe(Target(url=url), Trial(tool="ask"), limits, eras=("2026-07-28",))
    assert len(report.left_running) == 3
    assert set(report.left_running) == set(report.eras["2026-07-28"].ids)


async def test_only_the_measuring_poller_is_faster_than_the_server_suggests(
    tmp_path: Path,
) -> None:
    """Ours."""
    bench = Bench(tmp_path / "t.db")
    async with bench.serving() as url:
        report = await probe(Target(url=url), Trial(tool="steps"), BRIEF, eras=("2026-07-28",))
    watched = report.eras["2026-07-28"].watched.needed
    suggested = watched.first.poll_ms
    assert suggested is not None
    for name, interval in watched.pollers.items():
        assert (interval < suggested) is (name == MEASURING), name
    looks = [view.at_ms for view in watched.views[SUGGESTED] if not view.ended]
    assert all(two - one >= suggested for one, two in pairwise(looks))


async def test_where_nobody_answers_it_says_so() -> None:
    """Ours."""
    with anyio.fail_after(PATIENCE_SECONDS), pytest.raises(Unreachable, match="does not answer"):
        await probe(Target(url="http://127.0.0.1:9/mcp"))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "Give one of the two"),
        ({"url": "http://a/", "command": ("b",)}, "Give one of the two"),
        ({"url": "ftp://a/"}, "no http or https address"),
    ],
)
def test_a_target_that_is_none_is_refused(given: dict[str, Any], words: str) -> None:
    """Ours."""
    with pytest.raises(SettingsError, match=words):
        Target(**given)


@pytest.mark.parametrize("given", [{"seconds": 0}, {"requests": 0}, {"measure_every_ms": 1}])
def test_a_bound_with_which_nothing_could_be_measured_is_refused(given: dict[str, Any]) -> None:
    """Ours."""
    with pytest.raises(SettingsError):
        Limits(**given)
