"""What lies in the data folder: results, the page's key, and which servers are running."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Generator

    from awhile.cli.settings import Settings

TOKEN_BYTES = 24


def served_by(settings: Settings) -> str:
    """What a server with these settings serves, for telling two of them apart."""
    return str(settings.database) if settings.database else f"sample:{settings.sample}"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One server of this data folder, as it announced itself."""

    url: str
    pid: int
    serves: str
    """What it serves, as `DataFolder.announced` was told."""


class DataFolder:
    """The data folder, made on the way.

    Raises:
        SettingsError: it cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = path / "results"
        self._servers = path / "servers"
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._servers.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise self._unwritable(error.strerror) from error
        if not os.access(path, os.W_OK | os.X_OK):
            raise self._unwritable("permission denied")

    def page_token(self) -> str:
        """The key of the page: kept, so that an open page goes on after a restart."""
        file, draft = self.path / "page-key", self.path / f".page-key-{secrets.token_hex(4)}"
        # Only this user may read it: whoever has it may read and stop everything.
        draft.touch(mode=0o600, exist_ok=False)
        draft.write_text(secrets.token_urlsafe(TOKEN_BYTES), encoding="ascii")
        try:
            file.hardlink_to(draft)  # whole or not at all, and never over one in use
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        return file.read_text(encoding="ascii")

    @contextmanager
    def announced(self, url: str, serves: str) -> Generator[None]:
        """Let other programs of this data folder find this server, for as long as it runs."""
        file = self._servers / f"{os.getpid()}.json"
        draft = file.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(RunningServer(url, os.getpid(), serves))))
        draft.replace(file)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)

    def running_servers(self) -> list[RunningServer]:
        """Servers that announced themselves and whose process lives, the newest first."""
        found: list[tuple[float, RunningServer]] = []
        for file in self._servers.glob("*.json"):
            try:
                server = RunningServer(**json.loads(file.read_text()))
                at = file.stat().st_mtime
            except (OSError, ValueError, TypeError):
                continue  # it ended just now
            if _alive(server.pid):
                found.append((at, server))
            else:
                file.unlink(missing_ok=True)  # it was killed
        return [server for _, server in sorted(found, key=lambda one: one[0], reverse=True)]

    def _unwritable(self, why: str | None) -> SettingsError:
        return SettingsError(
            f"The data folder {str(self.path)!r} cannot be written ({why}), so nothing could be "
            "kept. Make it writable, or choose another with --data-folder."
        )


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


__all__ = ["DataFolder", "RunningServer", "served_by"]
