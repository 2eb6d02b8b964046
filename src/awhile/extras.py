"""Optional parts of this package: loading one, and what to type to add it to wherever this was
installed from."""

from __future__ import annotations

import json
import shlex
from contextlib import suppress
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname


def loaded(point: EntryPoint, what: str) -> Any:
    """The object of an entry point.

    Raises `ImportError` with a sentence about ``what`` and the extra that is missing.
    """
    try:
        return point.load()
    except ImportError as error:
        extra = next(iter(point.extras), point.name)
        raise ImportError(
            f"{what} is not completely installed: {error}; install what it needs: "
            f"{command_to_add(extra)}"
        ) from error


KEYRING_SERVICE = "awhile"


def in_keyring(name: str) -> str | None:
    """The secret of that name in the person's keyring; None where there is none, or no keyring."""
    with suppress(Exception):  # whatever a keyring's backend may raise, it gives no secret
        keyring: Any = import_module("keyring")  # an optional package
        return keyring.get_password(KEYRING_SERVICE, name)
    return None


def command_to_add(extra: str) -> str:
    """The pip command that adds ``extra``, by what pip noted down of the installation.

    A folder or an archive is named again, since a package index may not have this version, or
    nothing of this name. Source of the note: PyPA, "Recording the Direct URL Origin".
    """
    try:
        noted = distribution("awhile").read_text("direct_url.json")
    except PackageNotFoundError:  # run from its source without having been installed
        noted = None
    origin: dict[str, Any] = json.loads(noted) if noted else {}
    url = urlsplit(str(origin.get("url", "")))
    if url.scheme == "file":
        path = Path(url2pathname(url.path))
        if not path.exists():
            return f"pip install '.[{extra}]' in a folder with Awhile's source ({path} is gone)"
        editable = origin.get("dir_info", {}).get("editable") is True
        return f"pip install {'-e ' if editable else ''}{shlex.quote(f'{path}[{extra}]')}"
    if vcs := origin.get("vcs_info", {}).get("vcs"):
        return f"pip install {shlex.quote(f'awhile[{extra}] @ {vcs}+{url.geturl()}')}"
    return (
        f"pip install 'awhile[{extra}]' (from a folder with its source: pip install '.[{extra}]')"
    )


__all__ = ["KEYRING_SERVICE", "command_to_add", "in_keyring", "loaded"]
