"""Results in storage that fsspec speaks to: S3, Google Cloud Storage, Azure, SFTP, …

The driver is the user's own (`s3fs`, `gcsfs`, `adlfs`, …) and so are its settings: credentials, an
endpoint of one's own, proxies are read by it from the environment and its configuration files.
Replicas name the same URL and see the same results.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from awhile.ask.results.storage import Check, Drafts, Found, Storage
from awhile.errors import SettingsError

__all__ = ["Remote", "open_remote"]

logger = logging.getLogger(__name__)

_APPEAR_WHOLE = frozenset(("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl"))
"""Object stores, where nothing is seen of a file before its upload is complete. Elsewhere a file is
written under another name and renamed."""


_VERSIONS = ("ETag", "etag", "md5Hash", "mtime", "created")
"""What drivers know a file by that another of the same name and size has not."""


class Remote:
    """One prefix of one storage.

    Args:
        files: an fsspec file system.
        prefix: the path in it, without a slash at the end.
        drafts: a folder of this machine.
    """

    def __init__(self, files: Any, prefix: str, drafts: Path) -> None:
        self._files = files
        self._prefix = prefix
        self._drafts = Drafts(drafts)
        protocol = files.protocol
        protocols = {protocol} if isinstance(protocol, str) else set(protocol)
        self._appears_whole = bool(protocols & _APPEAR_WHOLE)

    @property
    def drafts(self) -> Drafts:
        return self._drafts

    def keep(self, name: str, draft: Path, check: Check) -> None:
        from fsspec.callbacks import Callback  # pyright: ignore[reportMissingTypeStubs]

        stopped: list[Exception] = []

        class Checked(Callback):
            """Raises from inside of the upload, which the driver then takes back."""

            def relative_update(self, inc: int = 1) -> None:
                try:
                    check()
                except Exception as reason:
                    stopped.append(reason)
                    raise

        check()
        target = self._at(name)
        try:
            with self._told():
                if self._appears_whole:
                    self._files.put_file(str(draft), target, callback=Checked())
                else:
                    self._renamed(draft, target, Checked())
        except OSError:
            if stopped:
                raise stopped[0] from None
            raise
        draft.unlink(missing_ok=True)

    def _renamed(self, draft: Path, target: str, callback: Any) -> None:
        part = f"{target}.{uuid4().hex}.part"
        self._files.makedirs(self._prefix, exist_ok=True)
        try:
            self._files.put_file(str(draft), part, callback=callback)
            self._files.mv(part, target)
        except BaseException:
            if self._files.exists(part):
                self._files.rm_file(part)
            raise

    def write(self, name: str, content: bytes) -> None:
        with self._told():
            if not self._appears_whole:
                self._files.makedirs(self._prefix, exist_ok=True)
            self._files.pipe_file(self._at(name), content)

    def read(self, names: Collection[str]) -> Mapping[str, bytes]:
        if not names:
            return {}
        with self._told():
            found = self._files.cat([self._at(name) for name in names], on_error="return")
        contents: dict[str, bytes] = {}
        for path, content in found.items():
            if isinstance(content, bytes):
                contents[path.rpartition("/")[2]] = content
            elif not isinstance(content, FileNotFoundError):
                raise _failed(self._prefix, content) from content
        return contents

    def find(self, name: str) -> Found | None:
        with self._told():
            try:
                info = self._files.info(self._at(name))
            except FileNotFoundError:
                return None
        version = next((str(info[key]) for key in _VERSIONS if key in info), "")
        safe = "".join(letter for letter in version if letter.isalnum())
        return Found(name, int(info["size"]), f"{safe}-{int(info['size']):x}", None)

    def part(self, name: str, start: int, end: int) -> bytes:
        with self._told():
            content: bytes = self._files.cat_file(self._at(name), start=start, end=end)
        return content

    def names(self, suffix: str) -> list[str]:
        with self._told():
            try:
                paths = self._files.ls(self._prefix, detail=False)
            except FileNotFoundError:
                return []
        names = [str(path).rpartition("/")[2] for path in paths]
        return [name for name in names if name.endswith(suffix)]

    def delete(self, name: str) -> None:
        self._drafts.delete(name)
        with self._told():
            try:
                self._files.rm_file(self._at(name))
            except FileNotFoundError:
                return

    def _at(self, name: str) -> str:
        return f"{self._prefix}/{name}"

    @contextmanager
    def _told(self) -> Generator[None]:
        """Drivers raise errors of their own, and of the libraries below them."""
        try:
            yield
        except FileNotFoundError:
            raise
        except Exception as error:
            raise _failed(self._prefix, error) from error


def _failed(prefix: str, error: object) -> OSError:
    return OSError(
        f"The results' storage {prefix!r} did not do what was asked "
        f"({type(error).__name__}: {error}). Check its address, rights and network, and try again."
    )


def open_remote(url: str, drafts: Path) -> Storage:
    """The storage at a URL of another machine's, or of this process's memory.

    Raises `SettingsError` for an unknown scheme or a missing driver, which it names.
    """
    scheme = urlsplit(url).scheme
    try:
        import fsspec  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise SettingsError(
            f"results is {url!r}, and storage of this kind needs a driver, so nothing could be "
            f"kept: pip install {_DRIVERS.get(scheme, 'fsspec')}."
        ) from None
    try:
        # Listings are never taken from memory: other replicas write, too.
        opener: Any = fsspec
        files, prefix = opener.url_to_fs(url, use_listings_cache=False)
    except ImportError as missing:
        driver = _DRIVERS.get(scheme)
        what = f"pip install {driver}" if driver else str(missing)
        raise SettingsError(
            f"results is {url!r}, and the driver for {scheme}:// is not installed, so nothing "
            f"could be kept: {what}."
        ) from None
    except ValueError as unknown:
        raise SettingsError(
            f"results is {url!r}, which is no storage that fsspec knows ({unknown}), so nothing "
            "could be kept. Use a folder, s3://bucket/prefix, gs://…, az://… or another of its."
        ) from None
    return Remote(files, str(prefix).rstrip("/"), drafts)


_DRIVERS = {
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
    "sftp": "paramiko",
    "ssh": "paramiko",
    "smb": "smbprotocol",
}
"""Packages by scheme; fsspec knows further ones."""
