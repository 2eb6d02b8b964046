"""What was found, for people and for machines: terminal, one HTML file, JSON, JUnit."""

from awhile.probe.reports.comparison import compared
from awhile.probe.reports.data import SCHEMA, as_data, schema
from awhile.probe.reports.junit import as_junit
from awhile.probe.reports.page import as_html
from awhile.probe.reports.terminal import show

__all__ = ["SCHEMA", "as_data", "as_html", "as_junit", "compared", "schema", "show"]
