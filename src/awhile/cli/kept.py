"""What a program keeps in the data folder for its next start: secrets of this user's."""

from __future__ import annotations

import os
import secrets
from typing import TYPE_CHECKING

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def kept_secret(folder: Path, name: str, make: Callable[[], str]) -> str:
    """The secret in that file, made where there is none; only this user may read it."""
    file, draft = folder / name, folder / f".{name}-{secrets.token_hex(4)}"
    draft.touch(mode=0o600, exist_ok=False)
    draft.write_text(make(), encoding="ascii")
    try:
        file.hardlink_to(draft)  # whole or not at all, and never over one in use
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    return file.read_text(encoding="ascii")


def make_folder(folder: Path) -> None:
    """Make the data folder where it is missing.

    Raises:
        SettingsError: it cannot be made or written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error.strerror) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise unwritable(folder, "permission denied")


def unwritable(folder: Path, why: str | None) -> SettingsError:
    """Nothing can be kept in the data folder."""
    return SettingsError(
        f"The data folder {str(folder)!r} cannot be written ({why}), so nothing could be kept. "
        "Make it writable, or choose another with --data-folder."
    )


__all__ = ["kept_secret", "make_folder", "unwritable"]
