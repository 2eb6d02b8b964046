"""Stored results: where they are, views and pages of them, and the files they leave as."""

from awhile.ask.results.names import ResultNames
from awhile.ask.results.pages import Page, page
from awhile.ask.results.results import Results
from awhile.ask.results.views import Filter, Sort, View

__all__ = ["Filter", "Page", "ResultNames", "Results", "Sort", "View", "page"]
