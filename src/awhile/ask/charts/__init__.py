"""Charts of results: which one shows a result best, and its points, drawn elsewhere."""

from awhile.ask.charts.choose import Aggregate, Choice, Kind, Wanted
from awhile.ask.charts.draw import Axis, Chart, NothingToDraw, draw

__all__ = ["Aggregate", "Axis", "Chart", "Choice", "Kind", "NothingToDraw", "Wanted", "draw"]
