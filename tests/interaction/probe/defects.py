"""One defect at a time, each with the check that has to find it.

The first part are those that the official conformance suite does not notice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from awhile.probe import Grade
from tests.interaction.probe.bench import BRIEF
from tests.interaction.probe.breaking import Answer, Defect, Json, Request, as_object

MODERN, LEGACY = "2026-07-28", "2025-11-25"
TASKS = "io.modelcontextprotocol/tasks"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ENDED = frozenset({"completed", "failed", "cancelled"})


@dataclass(frozen=True)
class Case:
    """A defect, and what has to be found."""

    name: str
    check: str
    grade: Grade
    make: Callable[[], Defect]
    era: str = MODERN
    tool: str | None = "steps"
    """None where it shows without any: most of a probe's requests are about a tool."""
    how: Json = field(default_factory=dict[str, Any])


class OnTasks(Defect):
    """Every task that goes out is changed."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if answer.task:
            self.change(request, answer.task)
        return answer

    def change(self, request: Request, task: Json) -> None:
        raise NotImplementedError


def on_tasks(change: Callable[[Json], object]) -> Callable[[], Defect]:
    """A defect that changes each task by a function of it."""

    class Changed(OnTasks):
        def change(self, request: Request, task: Json) -> None:
            change(task)

    return Changed


class GuessableIds(Defect):
    """Counts instead of drawing."""

    def __init__(self) -> None:
        self._real: dict[str, str] = {}

    def asked(self, request: Request) -> Answer | None:
        real = {shown: one for one, shown in self._real.items()}.get(request.task_id)
        if real is not None:
            request.params["taskId"] = real
            if request.headers.get("mcp-name") in self._real.values():
                request.headers["mcp-name"] = real
        filters = as_object(request.params.get("notifications"))
        if "taskIds" in filters:
            shown = {one: real for real, one in self._real.items()}
            filters["taskIds"] = [shown.get(one, one) for one in filters["taskIds"]]
        return None

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        task = answer.task
        if task:
            shown = self._real.setdefault(task["taskId"], f"task-{len(self._real) + 1:04}")
            task["taskId"] = shown
        filters = as_object(as_object(answer.message.get("params")).get("notifications"))
        if "taskIds" in filters:
            filters["taskIds"] = [self._real.get(one, one) for one in filters["taskIds"]]
        return answer


class Status200(Defect):
    """An error code that comes with HTTP 200."""

    def __init__(self, code: int) -> None:
        self._code = code

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if answer.code == self._code:
            answer.status = 200
        return answer


class NamelessAccepted(Defect):
    """Puts in the header that was forgotten."""

    def asked(self, request: Request) -> Answer | None:
        if request.method.startswith("tasks/") and "taskId" in request.params:
            request.headers.setdefault("mcp-name", request.task_id)
        return None


class GoneEarly(Defect):
    """Drops a task at its second look after the end, whatever its ttl."""

    def __init__(self) -> None:
        self._looks: dict[str, int] = {}

    def asked(self, request: Request) -> Answer | None:
        if request.method == "tasks/get" and self._looks.get(request.task_id, 0) >= 2:
            return request.error(-32602, "No such task.")
        return None

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        task = answer.task
        if request.method == "tasks/get" and task.get("status") == "completed":
            self._looks[task["taskId"]] = self._looks.get(task["taskId"], 0) + 1
        return answer


def result_on_cancelled(task: Json) -> None:
    if task["status"] == "cancelled":
        task["result"] = {"content": [{"type": "text", "text": "half of it"}]}


class LooksUpdate(OnTasks):
    """Makes lastUpdatedAt up while answering."""

    def __init__(self) -> None:
        self._looks = 0

    def change(self, request: Request, task: Json) -> None:
        self._looks += 1
        task["lastUpdatedAt"] = task["lastUpdatedAt"][:-4] + f"{self._looks % 1000:03}Z"
        # Of the future, so that it stays after createdAt.
        task["lastUpdatedAt"] = "2099" + task["lastUpdatedAt"][4:]
        task["pollIntervalMs"] += self._looks  # as of a server that gets ever busier


class CancelInNameOnly(OnTasks):
    """Keeps the cancel from the server, and says the word itself."""

    def __init__(self, *, steps_go_on: bool = False) -> None:
        self._cancelled: dict[str, Json] = {}
        self._steps_go_on = steps_go_on

    def asked(self, request: Request) -> Answer | None:
        if request.method == "tasks/cancel" and "no-such" not in request.task_id:
            self._cancelled.setdefault(request.task_id, {})
            return request.result({"resultType": "complete"})
        return None

    def change(self, request: Request, task: Json) -> None:
        first = self._cancelled.get(task["taskId"])
        if first is None or (task["status"] in ENDED and not first):
            return
        moving = task.get("statusMessage")
        if not first:
            first.update(task, status="cancelled", statusMessage="Cancelled.")
        task.clear()
        task.update(first)
        if self._steps_go_on:
            task["statusMessage"] = moving


class CancelIgnored(Defect):
    """Acknowledges, and does nothing."""

    def asked(self, request: Request) -> Answer | None:
        if request.method == "tasks/cancel" and "no-such" not in request.task_id:
            return request.result({"resultType": "complete"})
        return None


class Acknowledged(Defect):
    """Acknowledges a method for ids that never were."""

    def __init__(self, method: str) -> None:
        self._method = method

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if request.method == self._method and answer.code == -32602:
            return request.result({"resultType": "complete"})
        return answer


def in_seconds(name: str, milliseconds: int) -> Callable[[Json], None]:
    def change(task: Json) -> None:
        task[name] = milliseconds // 1000

    return change


class StaleMessage(OnTasks):
    """Status and message in two writes, the second of which is never made."""

    def __init__(self) -> None:
        self._last: dict[str, Any] = {}

    def change(self, request: Request, task: Json) -> None:
        if task["status"] == "completed":
            task["statusMessage"] = self._last.get(task["taskId"])
        elif task["status"] != "cancelled":
            self._last[task["taskId"]] = task.get("statusMessage")


class SeenByAll(Defect):
    """Takes whoever asks for the owner."""

    def asked(self, request: Request) -> Answer | None:
        if request.method.startswith("tasks/"):
            request.headers["authorization"] = "Bearer token-of-ada"
        return None


class TellsApart(Defect):
    """Another word for somebody else's task than for none."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        eve = request.headers.get("authorization", "").endswith("eve")
        if eve and answer.code == -32602 and "no-such" not in request.task_id:
            answer.message["error"]["message"] = "Not yours."
        return answer


class NotYetThere(Defect):
    """Answers with the handle before the task is written down."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def asked(self, request: Request) -> Answer | None:
        new = request.task_id not in self._known
        if request.method == "tasks/get" and new and "no-such" not in request.task_id:
            self._known.add(request.task_id)
            return request.error(-32602, "No such task.")
        return None


class Declares(Defect):
    """Declares the extension for a client that does not."""

    def __init__(self, *methods: str) -> None:
        self._methods = methods

    def asked(self, request: Request) -> Answer | None:
        capabilities = as_object(as_object(request.params.get("_meta")).get(CAPABILITIES))
        if request.method in self._methods:
            capabilities["extensions"] = {TASKS: {}}
        return None


class ResultOnce(OnTasks):
    """Hands the result out once."""

    def __init__(self) -> None:
        self._given: set[str] = set()

    def change(self, request: Request, task: Json) -> None:
        if request.method == "tasks/get" and "result" in task:
            if task["taskId"] in self._given:
                task["result"] = {"content": []}
            self._given.add(task["taskId"])


class LateCancelWins(OnTasks):
    """A cancel overwrites an ending."""

    def __init__(self) -> None:
        self._cancelled: set[str] = set()

    def asked(self, request: Request) -> Answer | None:
        if request.method == "tasks/cancel":
            self._cancelled.add(request.task_id)
        return None

    def change(self, request: Request, task: Json) -> None:
        if task["taskId"] in self._cancelled and task["status"] == "completed":
            task["status"] = "cancelled"
            task.pop("result", None)


class EndUntold(Defect):
    """Agrees to push, and keeps the ending to itself."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if answer.message.get("method") == "notifications/tasks":
            return None if answer.task.get("status") in ENDED else answer
        return answer


class ProgressOnListen(Defect):
    """A progress notification on the listen stream."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if answer.message.get("method") == "notifications/tasks":
            answer.headers["before"] = (
                '{"jsonrpc": "2.0", "method": "notifications/progress", '
                '"params": {"progressToken": "t", "progress": 1, "_meta": '
                f'{{"io.modelcontextprotocol/subscriptionId": {request.message["id"]}}}}}}}'
            )
        return answer


class ProgressFalls(Defect):
    """The number goes down again."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if answer.message.get("method") == "notifications/progress":
            params = as_object(answer.message["params"])
            params["progress"] = 10 - params["progress"]
        return answer


class Undeclared(Defect):
    """Serves tasks without saying so."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if request.method in ("server/discover", "initialize"):
            capabilities = as_object(answer.result.get("capabilities"))
            capabilities.pop("extensions", None)
            capabilities.pop("tasks", None)
        return answer


class Untied(Defect):
    """tasks/result does not say whose it is."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if request.method == "tasks/result":
            answer.result.pop("_meta", None)
        return answer


class LateCancelAccepted(Defect):
    """A cancel of an ended task is answered with the task."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if request.method == "tasks/cancel" and "already" in str(answer.message):
            return request.result({"taskId": request.task_id, "status": "cancelled"})
        return answer


class RefusalInText(Defect):
    """A required tool refuses with a result whose text says so."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if request.method == "tools/call" and answer.code == -32601:
            text = {"type": "text", "text": "MCP error -32601: task required"}
            return request.result({"content": [text], "isError": True})
        return answer


class Unlisted(Defect):
    """tasks/list forgets."""

    def answered(self, request: Request, answer: Answer) -> Answer | None:
        if "tasks" in answer.result and request.method == "tasks/list":
            answer.result["tasks"] = []
        return answer


class EagerResult(Defect):
    """tasks/result answers at once, with nothing."""

    def __init__(self) -> None:
        self._asked: set[str] = set()

    def asked(self, request: Request) -> Answer | None:
        if request.method != "tasks/result" or request.task_id in self._asked:
            return None
        self._asked.add(request.task_id)
        meta = {"io.modelcontextprotocol/related-task": {"taskId": request.task_id}}
        return None if "no-such" in request.task_id else request.result({"_meta": meta})


def another_word(task: Json) -> None:
    if task["status"] == "working":
        task["status"] = "running"


def fraction(name: str) -> Callable[[Json], None]:
    def change(task: Json) -> None:
        task[name] = 60_000.5 if task.get(name) is None else task[name] + 0.5

    return change


def rename(task: Json) -> None:
    task["ttl"] = task.pop("ttlMs")


def without_zone(task: Json) -> None:
    for name in ("createdAt", "lastUpdatedAt"):
        task[name] = task[name].removesuffix("Z")


def never_updated(task: Json) -> None:
    task["lastUpdatedAt"] = task["createdAt"]


def an_hour_off(task: Json) -> None:
    for name in ("createdAt", "lastUpdatedAt"):
        hour = int(task[name][11:13])
        task[name] = f"{task[name][:11]}{(hour + 5) % 24:02}{task[name][13:]}"


def updated_tomorrow(task: Json) -> None:
    day = datetime.fromisoformat(task["lastUpdatedAt"]) + timedelta(days=1)
    task["lastUpdatedAt"] = day.isoformat()


def forgets_steps(task: Json) -> None:
    task.pop("_meta", None)
    task["pollIntervalMs"] = 900


D, M, L = Grade.DIFFERS, Grade.MISLEADS, Grade.LOSES_WORK

UNNOTICED = [
    Case("another status word", "status-words", D, on_tasks(another_word)),
    Case("guessable ids", "ids-unguessable", L, GuessableIds),
    Case("-32020 with HTTP 200", "header-mismatch-is-400", D, lambda: Status200(-32020), tool=None),
    Case(
        "-32021 with HTTP 200", "missing-capability-is-400", D, lambda: Status200(-32021), tool=None
    ),
    Case("a missing Mcp-Name is accepted", "mcp-name-required", D, NamelessAccepted),
    Case("gone before its ttl", "no-early-expiry", L, GoneEarly),
    Case("a fraction for ttlMs", "ttl-is-whole", D, on_tasks(fraction("ttlMs"))),
    Case("a result on a cancelled task", "result-beside-status", M, on_tasks(result_on_cancelled)),
    Case("lastUpdatedAt never moves", "updates-move-the-time", M, on_tasks(never_updated)),
    Case("looking moves lastUpdatedAt", "looking-is-no-update", M, LooksUpdate),
    Case("dates without a zone", "instants-have-a-zone", D, on_tasks(without_zone)),
    Case(
        "work goes on after cancel",
        "nothing-moves-after-cancelled",
        M,
        CancelInNameOnly,
        how={"with_witness": True},
    ),
    Case("cancel is ignored while asking", "cancel-while-asking", L, CancelIgnored, tool="ask"),
    Case(
        "a cancel of no task is acknowledged",
        "unknown-cancel-refused",
        M,
        lambda: Acknowledged("tasks/cancel"),
        tool=None,
    ),
    Case(
        "an answer to no task is acknowledged",
        "unknown-update-refused",
        M,
        lambda: Acknowledged("tasks/update"),
        tool=None,
    ),
]
"""The kinds of `facts` about the conformance suite: a server with any of them passes all of it."""

NAMED = [
    Case("ttlMs in seconds", "units", M, on_tasks(in_seconds("ttlMs", 3_600_000))),
    Case("pollIntervalMs in seconds", "units", M, on_tasks(in_seconds("pollIntervalMs", 2_000))),
    Case("a stale message", "message-describes-the-end", M, StaleMessage),
    Case(
        "cancelled in name, and moving",
        "nothing-moves-after-cancelled",
        M,
        lambda: CancelInNameOnly(steps_go_on=True),
    ),
    Case("seen by all", "others-see-nothing", L, SeenByAll, how={"with_people": True}),
]
"""Those the plan of the probe names beside them."""

OTHERS = [
    Case(
        "cancel is ignored",
        "cancel-ends-the-task",
        D,
        CancelIgnored,
        tool="long",
        how={"limits": replace(BRIEF, stop_seconds=10)},
    ),
    Case("told apart", "others-learn-nothing", D, TellsApart, how={"with_people": True}),
    Case("a handle too early", "readable-at-once", L, NotYetThere),
    Case("anybody may look", "undeclared-refused", D, lambda: Declares("tasks/get"), tool=None),
    Case("a task unasked", "no-task-unasked", L, lambda: Declares("tools/call")),
    Case("a result once", "result-read-twice", L, ResultOnce),
    Case("a late cancel wins", "ending-stays", L, LateCancelWins),
    Case("the end is not pushed", "listen-tells-the-end", L, EndUntold),
    Case("progress on listen", "no-progress-on-listen", D, ProgressOnListen),
    Case("progress falls", "progress-rises", D, ProgressFalls),
    Case("undeclared tasks", "tasks-declared", D, Undeclared, tool=None),
    Case("other names", "field-names", D, on_tasks(rename)),
    Case("a clock off", "clock", M, on_tasks(an_hour_off)),
    Case("updated tomorrow", "times-in-order", M, on_tasks(updated_tomorrow)),
    Case("steps are lost", "steps-seen-as-suggested", M, on_tasks(forgets_steps)),
    Case("an untied result", "result-names-its-task", D, Untied, LEGACY),
    Case("a late cancel is accepted", "late-cancel-refused", D, LateCancelAccepted, LEGACY),
    Case("a refusal in a text", "required-tool-refused", D, RefusalInText, LEGACY, "strict"),
    Case("an unlisted task", "listed", D, Unlisted, LEGACY),
    Case("a result too early", "result-waits", D, EagerResult, LEGACY),
    Case("undeclared tasks of old", "tasks-declared", D, Undeclared, LEGACY, None),
]
"""More of what the probe is there for."""

CASES = [*UNNOTICED, *NAMED, *OTHERS]


def slug(case: Case) -> str:
    """A name for a file."""
    return hashlib.sha256(case.name.encode()).hexdigest()[:12]
