"""A sample to ask: two years of a grocer's customers, products, orders and order lines."""

from awhile.ask.sample.ensure import ensure_sample
from awhile.ask.sample.recipe import SIZES

__all__ = ["SIZES", "ensure_sample"]
