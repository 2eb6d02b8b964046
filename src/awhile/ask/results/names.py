"""Short names of results: `result_1`, `result_2`, … of each person's own.

A number is given once and never again, also when its result is gone. Kept beside the results, as
the names of empty files, so that every replica sees the same: whoever wants a number writes a file
that claims it, and has it if nobody else claims it by then. Of two who claim one at once, at least
one sees the other, and whoever does lets it go; that takes a storage that lists what was written
before. Source: ours.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from awhile.ask.results.storage import Storage, name_of

__all__ = ["ResultNames"]

_SUFFIX = ".name"
_LONGEST_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class _Claim:
    run_id: str
    owner: str
    number: int

    @property
    def file(self) -> str:
        return name_of(self.run_id, f".{self.owner}-{self.number}{_SUFFIX}")


class ResultNames:
    """The numbers of results. Its methods may block."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._last: dict[str, int] = {}
        """The last number that each person is known to have, so that one list is enough."""

    def give(self, owner: str, run_id: str) -> int:
        """The number of this run's result; a new one where it has none."""
        person = _person(owner)
        if person not in self._last:
            self._last[person] = _last_of(self._claims(person))
        while True:
            mine = _Claim(run_id, person, self._last[person] + 1)
            self._storage.write(mine.file, b"")
            others = [one for one in self._claims(person) if one != mine]
            before = next((one.number for one in others if one.run_id == run_id), None)
            self._last[person] = max(_last_of(others), self._last[person])
            if before is None and self._last[person] < mine.number:
                self._last[person] = mine.number
                return mine.number
            self._storage.delete(mine.file)
            if before is not None:
                return before
            time.sleep(random.uniform(0, _LONGEST_PAUSE_SECONDS))  # noqa: S311 - to be apart

    def find(self, owner: str, number: int) -> str | None:
        """The run whose result has that number; None if there is none, or no longer."""
        found = [one.run_id for one in self._claims(_person(owner)) if one.number == number]
        return found[0] if len(found) == 1 else None

    def highest(self, owner: str) -> int:
        """The last number that was given; 0: none was."""
        return _last_of(self._claims(_person(owner)))

    def delete(self, run_ids: Collection[str]) -> None:
        """Forget the numbers of runs that are gone, but for each person's last one."""
        last: dict[str, int] = {}
        claims = list(self._all())
        for claim in claims:
            last[claim.owner] = max(claim.number, last.get(claim.owner, 0))
        gone = set(run_ids)
        for claim in claims:
            if claim.run_id in gone and claim.number < last[claim.owner]:
                self._storage.delete(claim.file)

    def run_ids(self) -> list[str]:
        """The runs whose results have a number."""
        return [claim.run_id for claim in self._all()]

    def _claims(self, person: str) -> list[_Claim]:
        return list(self._all(f".{person}-"))

    def _all(self, part: str = "") -> Iterator[_Claim]:
        for name in self._storage.names(_SUFFIX):
            if part not in name:
                continue
            run_id, _, rest = name.removesuffix(_SUFFIX).partition(".")
            owner, _, number = rest.partition("-")
            if run_id.isalnum() and number.isdecimal():
                yield _Claim(run_id, owner, int(number))


def _last_of(claims: Iterable[_Claim]) -> int:
    return max((one.number for one in claims), default=0)


def _person(owner: str) -> str:
    """A person in the name of a file: whoever lists files learns no names of people."""
    return hashlib.sha256(owner.encode()).hexdigest()[:16]
