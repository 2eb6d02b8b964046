"""What a sample is made from, apart from the day it ends."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["SEED", "SIZES", "Size", "fingerprint", "text"]

SEED = 20_260_711
_DATA = ("products.csv", "places.csv", "first_names.txt", "last_names.txt", "warehouse.sql")


@dataclass(frozen=True, slots=True)
class Size:
    """How big a sample is, and after how many days it is made anew.

    `restaurant_share` of the customers order by the hundred lines: few of them make finding
    products bought together cheap, many make it the kind of work that cannot be waited for.
    """

    orders: int
    customers: int
    restaurant_share: float
    keep_days: int


SIZES = {
    "small": Size(orders=3_000_000, customers=60_000, restaurant_share=0.09, keep_days=0),
    "large": Size(orders=80_000_000, customers=900_000, restaurant_share=0.004, keep_days=30),
    "tiny": Size(orders=4_000, customers=600, restaurant_share=0.09, keep_days=0),
}
"""`tiny` is for tests and takes a second."""


def text(name: str) -> str:
    """One of the files that lie beside this module."""
    return files("awhile.ask.sample").joinpath(name).read_text(encoding="utf-8")


def fingerprint() -> str:
    """Eight digits that change whenever the content of a sample of some day would."""
    made_from = [text(name) for name in _DATA] + [str(SEED), repr(SIZES)]
    return hashlib.sha256("".join(made_from).encode()).hexdigest()[:8]
