"""Links by which a person lets others read one run, until they take them back.

Whoever holds a share's id can read the run; what is kept is a hash of the id, so nobody can who
only sees what is kept. A share is one small file beside the run's label, and gone with the run.
How often it was opened is a number in a file of each process that counts, so that no two ever
write the same one. Source: ours.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import threading
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING

from awhile.ask.results.storage import name_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from awhile.ask.results.storage import Storage

__all__ = ["Share", "Shares", "is_share_id", "run_of"]

_SUFFIX = ".share"
_OPENED = ".opened"

_SECRET_BYTES = 16
_RUN_ID_LETTERS = 32
_SHARE_ID = re.compile("[0-9a-f]{64}")
"""The run's id, which is no secret to whoever may read it, and 128 bits that are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """One share of a run; its id is known to nobody but those who were given it."""

    run_id: str
    key: str
    """The hash of its id, by which its owner names it."""
    owner: str
    by: str | None
    """What to call its owner to a person, where that is known."""
    made_at_ms: int
    expires_at_ms: int | None
    """From when on it opens nothing; None: until it is revoked."""


def is_share_id(text: str) -> bool:
    """Whether this looks like the id of a share, rather than of a run."""
    return _SHARE_ID.fullmatch(text) is not None


def run_of(share_id: str) -> str:
    """The run that a share's id speaks of, whether or not there is such a share."""
    return share_id[:_RUN_ID_LETTERS]


class Shares:
    """The shares in one storage. Its methods may block."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._here = secrets.token_hex(8)
        self._counted: dict[str, int] = {}
        self._counting = threading.Lock()

    def make(
        self, run_id: str, *, owner: str, by: str | None, now_ms: int, expires_at_ms: int | None
    ) -> tuple[Share, str]:
        """A new share, and its id, which cannot be had again."""
        share_id = f"{run_id}{secrets.token_hex(_SECRET_BYTES)}"
        share = Share(
            run_id=run_id,
            key=_hash(share_id),
            owner=owner,
            by=by,
            made_at_ms=now_ms,
            expires_at_ms=expires_at_ms,
        )
        told = {name: value for name, value in asdict(share).items() if name not in _IN_THE_NAME}
        self._storage.write(_name(share), json.dumps(told, ensure_ascii=False).encode())
        return share, share_id

    def find(self, share_id: str, *, now_ms: int) -> Share | None:
        """The share of that id; None if there is none, or no longer."""
        if not is_share_id(share_id):
            return None
        name = name_of(run_of(share_id), f".{_hash(share_id)}{_SUFFIX}")
        return next(self._read([name], now_ms), None)

    def of(self, run_id: str, *, now_ms: int) -> list[Share]:
        """The shares of a run that open it now, the oldest first."""
        names = self._names(_SUFFIX, run_id)
        return sorted(self._read(names, now_ms), key=lambda share: (share.made_at_ms, share.key))

    def count(self, share: Share) -> None:
        """Count that it was opened."""
        with self._counting:
            count = self._counted.get(share.key, 0) + 1
            self._storage.write(_opened(share, self._here), str(count).encode())
            self._counted[share.key] = count

    def opened(self, run_id: str) -> dict[str, int]:
        """How often each share of a run was opened, by its key, where it ever was."""
        counts: dict[str, int] = {}
        for name, content in self._storage.read(self._names(_OPENED, run_id)).items():
            key = name.split(".")[1]
            counts[key] = counts.get(key, 0) + int(content or b"0")
        return counts

    def revoke(self, run_id: str, key: str | None = None) -> None:
        """Delete one share of a run, or all of them; nothing happens where there is none."""
        for suffix in (_SUFFIX, _OPENED):  # the counts last: without the share they open nothing
            for name in self._names(suffix, run_id):
                if key in (None, name.split(".")[1]):
                    self._storage.delete(name)

    def run_ids(self) -> list[str]:
        """The runs that something of a share is kept of."""
        return [name.partition(".")[0] for end in (_SUFFIX, _OPENED) for name in self._names(end)]

    def tidy(self, gone: Collection[str], *, now_ms: int) -> None:
        """Delete the shares of runs that are gone or that have expired, and the counts of both."""
        opened = self._names(_OPENED)  # first: whatever has a count here has its share below
        names = self._names(_SUFFIX)
        kept = {share.key for share in self._read(names, now_ms) if share.run_id not in gone}
        for name in (*names, *opened):
            if name.split(".")[1] not in kept:
                self._storage.delete(name)

    def _names(self, suffix: str, run_id: str = "") -> list[str]:
        """The files with that ending of one run, or of all; nothing that is not ours."""
        names = self._storage.names(suffix)
        return [name for name in names if name.startswith(run_id) and _FILE.fullmatch(name)]

    def _read(self, names: Collection[str], now_ms: int) -> Iterator[Share]:
        for name, content in self._storage.read(names).items():
            run_id, key, _ = name.split(".")
            # What a later version of this program wrote may have more to it.
            told = {one: value for one, value in json.loads(content).items() if one in _NAMES}
            share = Share(run_id=run_id, key=key, **told)
            if share.expires_at_ms is None or now_ms < share.expires_at_ms:
                yield share


_IN_THE_NAME = ("run_id", "key")
_NAMES = frozenset(one.name for one in fields(Share))
_FILE = re.compile(r"[0-9a-f]{32}\.[0-9a-f]{64}\.([0-9a-f]{16}\.opened|share)")
"""What else is in a folder that somebody chose for results is not ours to delete."""


def _hash(share_id: str) -> str:
    return hashlib.sha256(share_id.encode()).hexdigest()


def _name(share: Share) -> str:
    return name_of(share.run_id, f".{share.key}{_SUFFIX}")


def _opened(share: Share, where: str) -> str:
    return name_of(share.run_id, f".{share.key}.{where}{_OPENED}")
