"""Stored results: where they are, and pages of exact text from them."""

from awhile.ask.results.folder import ResultFolder
from awhile.ask.results.pages import Page, page

__all__ = ["Page", "ResultFolder", "page"]
