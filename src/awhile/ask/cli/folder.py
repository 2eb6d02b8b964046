"""What lies in the data folder: results, the page's key, and which servers are running."""

from __future__ import annotations

import json
import os
import secrets
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from awhile.ask.engines.open import without_password
from awhile.ask.translators.models.providers import GGUF
from awhile.cli.kept import kept_secret, make_folder, unwritable

if TYPE_CHECKING:
    from collections.abc import Generator

    from awhile.cli.settings import Settings

TOKEN_BYTES = 24


def semantics_of(settings: Settings) -> str:
    """The semantic file a server with these settings goes by; empty without one."""
    return "" if settings.semantic_file is None else str(settings.semantic_file.resolve())


def model_of(settings: Settings) -> str:
    """The model of a server with these settings, for telling two of them apart; empty without
    one."""
    if settings.model is None:
        return ""
    provider, _, name = settings.model.partition(":")
    if provider == GGUF:
        name = str(Path(name).expanduser().resolve())
    at = "" if settings.model_url is None else f" at {without_password(settings.model_url)}"
    return f"{provider}:{name}{at}"


def served_by(settings: Settings) -> str:
    """What a server with these settings serves, for telling two of them apart."""
    # This is written into a file: it says which database, and never with which password.
    if settings.database:
        return "\n".join(map(without_password, settings.database))
    return f"sample:{settings.sample}"


@dataclass(frozen=True, slots=True)
class RunningServer:
    """One server of this data folder, as it announced itself."""

    url: str
    pid: int
    serves: str
    """What it serves, as `DataFolder.announced` was told."""
    semantics: str = ""
    """The semantic file it goes by; empty without one."""
    model: str = ""
    """Its model, as `model_of` has it; empty without one."""


class DataFolder:
    """The data folder, made on the way.

    Raises:
        SettingsError: it cannot be made or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results = path / "results"
        self._servers = path / "servers"
        make_folder(path)
        try:
            self._servers.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise unwritable(path, error.strerror) from error

    def page_token(self) -> str:
        """The key of the page: kept, so that an open page goes on after a restart."""
        # Whoever has it may read and stop everything.
        return kept_secret(self.path, "page-key", lambda: secrets.token_urlsafe(TOKEN_BYTES))

    @contextmanager
    def announced(
        self, url: str, serves: str, semantics: str = "", model: str = ""
    ) -> Generator[None]:
        """Let other programs of this data folder find this server, for as long as it runs."""
        file = self._servers / f"{os.getpid()}.json"
        draft = file.with_suffix(".tmp")
        server = RunningServer(url, os.getpid(), serves, semantics, model)
        draft.write_text(json.dumps(asdict(server)))
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


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


__all__ = ["DataFolder", "RunningServer", "model_of", "semantics_of", "served_by"]
