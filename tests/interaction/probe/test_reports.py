"""What was found, told in four ways; and a server whose every word is an attack on the report."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree as Xml

import anyio
import jsonschema
import pytest
from rich.console import Console

from awhile.probe import Grade, Report, Target, probe
from awhile.probe.reports import as_data, as_html, as_junit, compared, schema, show
from awhile.probe.reports.wording import verdict
from tests.interaction.probe.bench import Bench, probe_bench
from tests.interaction.probe.breaking import Answer, Defect, Json, Request, as_object

EVIL = '</style></pre><script>alert("1")</script><img src=x onerror=alert(2)>\x1b[2J\x07 &amp; \x00'


class Evil(Defect):
    """Puts an attack wherever a server may put a text, and misspells a status beside it."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        info = as_object(as_object(answer.result.get("_meta")).get(SERVER_INFO))
        info.update({"name": EVIL} if info else {})
        for tool in answer.result.get("tools", ()):
            tool["description"] = EVIL
        if answer.task:
            self._spoil(answer.task)
        error = as_object(answer.message.get("error"))
        if error:
            error["message"] = EVIL
        return answer

    def _spoil(self, task: Json) -> None:
        message = task.get("statusMessage")
        task["statusMessage"] = f"{message} {EVIL}"
        task["createdAt"] = EVIL


SERVER_INFO = "io.modelcontextprotocol/serverInfo"


@pytest.fixture(scope="module")
def evil(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """The attacking server, probed."""
    store = tmp_path_factory.mktemp("store") / "t.db"

    async def run() -> Report:
        return await probe_bench(store, defect=Evil(), eras=("2026-07-28",))

    return anyio.run(run)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Report:
    """A sound server, probed without a tool, in both eras."""
    bench = Bench(tmp_path_factory.mktemp("store") / "t.db")

    async def run() -> Report:
        async with bench.serving() as url:
            return await probe(Target(url=url))

    return anyio.run(run)


@pytest.fixture(scope="module")
def data(evil: Report) -> Json:
    return as_data(evil)


def test_the_published_schema_is_a_schema_and_describes_every_report(
    data: Json, sound: Report
) -> None:
    """Ours."""
    jsonschema.Draft202012Validator.check_schema(schema())
    validator: Any = jsonschema.Draft202012Validator(schema())
    for one in (data, as_data(sound), compared(data, as_data(sound))):
        validator.validate(one)


def test_json_survives_a_strict_reader(data: Json) -> None:
    """Ours."""

    def refuse(constant: str) -> object:
        raise AssertionError(constant)

    assert json.loads(json.dumps(data, allow_nan=False), parse_constant=refuse) == data


def test_every_exchange_a_finding_names_is_there_with_request_and_answer(data: Json) -> None:
    """Ours."""
    for finding in data["findings"]:
        for number in finding["exchanges"]:
            exchange = data["exchanges"][str(number)]
            assert exchange["number"] == number
            assert exchange["request"]["message"]["method"]
            assert exchange["answer"]["ending"]


def test_faults_come_first_and_the_worst_of_them_first(data: Json) -> None:
    """Ours."""
    severities = [Grade(one["grade"]).severity for one in data["findings"]]
    assert severities == sorted(severities, reverse=True)
    assert data["worst"] == data["findings"][0]["grade"]
    assert sum(data["counts"].values()) == len(data["findings"])


class Reader(HTMLParser):
    """What a browser would make elements of."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links |= {value or "" for name, value in attrs if name in ("href", "src")}

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def page(data: Json) -> Reader:
    reader = Reader()
    reader.feed(as_html(data))
    return reader


def test_nothing_of_the_server_becomes_markup(page: Reader) -> None:
    """Ours: its words are shown, as words."""
    assert not page.tags & {"script", "img", "iframe", "object", "link", "form", "base"}
    assert not any(name.startswith("on") for name in page.attributes)
    assert "<script>alert(" in page.text
    allowed = ("https://modelcontextprotocol.io/", "https://github.com/modelcontextprotocol/")
    assert all(link.startswith(allowed) for link in page.links)


def test_the_page_is_one_file_that_loads_and_runs_nothing(data: Json) -> None:
    """Ours: its own policy says so, too."""
    text = as_html(data)
    assert "default-src &#x27;none&#x27;; style-src &#x27;unsafe-inline&#x27;" in text
    assert "@import" not in text
    assert "url(" not in text


def test_the_page_draws_what_happened_and_tells_it(page: Reader, data: Json) -> None:
    """Ours: each drawing has a title and a description, for who cannot see it."""
    assert {"svg", "title", "desc", "rect", "circle"} <= page.tags
    assert {"role", "aria-labelledby"} <= page.attributes
    titles = [one["title"] for one in data["eras"]["2026-07-28"]["timelines"]]
    assert titles == [
        "A run, followed to its end",
        "A run, cancelled",
        "A call that takes no tasks",
    ]
    assert all(title in page.text for title in titles)
    assert "every 1 s" in page.text


def test_the_page_has_each_fault_with_advice_source_and_what_was_captured(
    page: Reader, data: Json
) -> None:
    """Ours."""
    faults = [one for one in data["findings"] if Grade(one["grade"]).severity]
    assert faults
    for one in faults:
        for words in (one["title"], one["advice"], one["source"]["words"], one["check"]):
            assert words in page.text
        purpose = data["exchanges"][str(one["exchanges"][0])]["purpose"]
        assert f"Exchange {one['exchanges'][0]}: {purpose}" in page.text


def printed(report: Json, columns: int = 80) -> str:
    screen = io.StringIO()
    console = Console(file=screen, width=columns, markup=False, highlight=False, emoji=False)
    show(console, report)
    return screen.getvalue()


def test_the_terminal_says_first_how_it_stands_and_drives_no_terminal(data: Json) -> None:
    """Ours."""
    text = printed(data)
    assert not {"\x1b", "\x07", "\x00"} & set(text)
    assert r"\x1b[2J" in text.replace("\n", "")
    lines = text.strip().splitlines()
    assert lines[0].strip() == data["target"]
    assert lines[1].startswith("To fix: ")
    assert max(map(len, lines)) <= 80


def test_a_clean_sheet_is_said_to_be_one(sound: Report) -> None:
    """Ours."""
    text = printed(as_data(sound))
    assert "A clean sheet: everything that was tried is as it should be." in text
    assert "What to fix" not in text
    assert "no tool called" in text


def test_the_verdict_names_the_revision_in_which_no_call_became_a_task(data: Json) -> None:
    """Ours: a call that lacks what its tool needs fails there before it is a task."""
    shapes = [
        {"check": "task-shape", "grade": Grade.NOT_TRIED, "era": "2026-07-28"},
        {"check": "task-shape", "grade": Grade.CONFORMS, "era": "2025-11-25"},
    ]
    said = verdict({**data, "tool": "report", "findings": shapes})
    assert said.endswith(" But no call of report became a task in 2026-07-28.")
    said = verdict({**data, "tool": "report", "findings": shapes[1:]})
    assert "became a task" not in said


def test_junit_has_a_case_a_check_and_fails_from_the_grade_asked_for(data: Json) -> None:
    """Ours."""
    root = Xml.fromstring(as_junit(data, Grade.DIFFERS.severity))  # noqa: S314 - our own
    cases = root.findall(".//testcase")
    assert len(cases) == len(data["findings"])
    failed = {case.get("name") for case in cases if case.find("failure") is not None}
    faults = {one["check"] for one in data["findings"] if Grade(one["grade"]).severity}
    assert failed == faults
    [suite] = root
    assert suite.get("failures") == str(len(faults))
    assert int(suite.get("skipped") or 0) == sum(
        one["grade"] in ("not tried", "not applicable") for one in data["findings"]
    )
    never = Xml.fromstring(as_junit(data, 4))  # noqa: S314 - our own
    assert never.find(".//failure") is None


def test_two_reports_side_by_side_show_first_what_differs(data: Json, sound: Report) -> None:
    """Ours."""
    other = as_data(sound)
    both = compared(data, other)
    changes = [one["change"] for one in both["checks"]]
    assert changes == sorted(changes, key=["worse", "better", "other", "same"].index)
    by_check = {(one["check"], one["era"]): one for one in both["checks"]}
    assert by_check["unknown-get-refused", "2026-07-28"]["change"] == "same"
    assert by_check["units", "2026-07-28"]["grades"] == ["conforms", "not tried"]
    assert by_check["units", "2025-11-25"]["grades"] == [None, "not tried"]
    text = printed(both)
    assert "not served" in text
    assert max(map(len, text.splitlines())) <= 80
    reader = Reader()
    reader.feed(as_html(both))
    assert not reader.tags & {"script", "img"}
    assert data["target"] in reader.text
    assert other["target"] in reader.text


def changes(first: Json, second: Json) -> Mapping[str, str]:
    return {one["check"]: one["change"] for one in compared(first, second)["checks"]}


def test_a_fault_that_is_gone_is_better_and_a_new_one_is_worse(data: Json) -> None:
    """Ours: two versions of one server."""
    mended: dict[str, Any] = json.loads(json.dumps(data))
    [first] = [one for one in mended["findings"] if one["check"] == data["findings"][0]["check"]]
    first["grade"] = "conforms"
    there, back = changes(data, mended), changes(mended, data)
    assert (there[first["check"]], back[first["check"]]) == ("better", "worse")
    assert sum(change != "same" for change in there.values()) == 1
