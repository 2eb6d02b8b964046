"""The report for CI, as JUnit's XML: a suite an era, a case a check."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as Xml

from awhile.probe.grades import Grade

if TYPE_CHECKING:
    from awhile.probe.exchanges import Json


def as_junit(report: Json, fail_on: int) -> str:
    """A report (see `as_data`) as XML. ``fail_on``: the least severity that is a failure."""
    root = Xml.Element("testsuites", name="awhile probe")
    for era in report["eras"]:
        findings = [one for one in report["findings"] if one["era"] == era]
        suite = Xml.SubElement(root, "testsuite", name=f"{_legal(report['target'])} {era}")
        counts = {"tests": len(findings), "failures": 0, "skipped": 0, "errors": 0}
        for one in findings:
            grade = Grade(one["grade"])
            case = Xml.SubElement(suite, "testcase", classname=f"probe.{era}", name=one["check"])
            words = _legal(f"{one['title']} Seen: {one['seen']}")
            if grade in (Grade.NOT_TRIED, Grade.NOT_APPLICABLE):
                counts["skipped"] += 1
                Xml.SubElement(case, "skipped", message=f"{grade.value}: {_legal(one['seen'])}")
            elif grade.severity >= fail_on:
                counts["failures"] += 1
                fault = Xml.SubElement(case, "failure", type=grade.value, message=words)
                source = one["source"]
                fault.text = _legal(
                    f"{one['advice']}\n{source['words']} {source['url'] or ''}".rstrip()
                )
            else:
                Xml.SubElement(case, "system-out").text = _legal(f"{grade.value}: {one['seen']}")
        for name, count in counts.items():
            suite.set(name, str(count))
    Xml.indent(root)
    return f"<?xml version='1.0' encoding='utf-8'?>\n{Xml.tostring(root, encoding='unicode')}\n"


def _legal(text: str) -> str:
    """Without the characters that XML 1.0 has no place for."""
    return "".join(
        letter
        if letter in "\t\n\r" or 0x20 <= ord(letter) < 0xD800 or ord(letter) >= 0xE000
        else "\N{REPLACEMENT CHARACTER}"
        for letter in text
        if ord(letter) not in (0xFFFE, 0xFFFF)
    )


__all__ = ["as_junit"]
