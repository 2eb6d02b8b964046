"""Measuring how any MCP server makes its callers wait: on the wire, in both eras, politely."""

from awhile.probe.checks import CHECKS, Check
from awhile.probe.grades import MEANINGS, Finding, Grade, Source
from awhile.probe.limits import Limits
from awhile.probe.probing import Report, probe
from awhile.probe.targets import Target, Trial

__all__ = [
    "CHECKS",
    "MEANINGS",
    "Check",
    "Finding",
    "Grade",
    "Limits",
    "Report",
    "Source",
    "Target",
    "Trial",
    "probe",
]
