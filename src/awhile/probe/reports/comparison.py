"""Two reports side by side: two servers, or two versions of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from awhile.probe.grades import Grade
from awhile.probe.reports.data import FORMAT, findings_by_check

if TYPE_CHECKING:
    from awhile.probe.exchanges import Json

TELLING = frozenset({Grade.CONFORMS, Grade.DIFFERS, Grade.MISLEADS, Grade.LOSES_WORK})


def compared(first: Json, second: Json) -> Json:
    """What differs between two reports (see `as_data`), the differences first."""
    checks: list[Json] = []
    for check, era, found in findings_by_check([first, second]):
        grades = [one and one["grade"] for one in found]
        titles = [one["title"] for one in found if one is not None]
        checks.append(
            {
                "check": check,
                "era": era,
                "title": titles[0],
                "grades": grades,
                "seen": [one and one["seen"] for one in found],
                "change": _change(grades),
            }
        )
    order = {"worse": 0, "better": 1, "other": 2, "same": 3}
    checks.sort(key=lambda one: (order[one["change"]], -max(map(_severity, one["grades"]))))
    return {"format": FORMAT, "reports": [first, second], "checks": checks}


def _severity(grade: Any) -> int:
    return 0 if grade is None else Grade(grade).severity


def _change(grades: list[Any]) -> str:
    one, two = grades
    if one == two:
        return "same"
    if one is None or two is None or not {Grade(one), Grade(two)} <= TELLING:
        return "other"
    return "better" if _severity(two) < _severity(one) else "worse"


__all__ = ["compared"]
