"""From a URL to a store: the scheme picks an entry point of the group ``awhile.stores``."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from awhile.errors import SettingsError
from awhile.extras import loaded

if TYPE_CHECKING:
    from awhile.stores.contract import Store

GROUP = "awhile.stores"
"""The entry-point group; each name in it is a URL scheme, each object a `StoreFromUrl`."""


class StoreFromUrl(Protocol):
    """What an entry point of the group has to be: usually the store's class."""

    def from_url(self, url: str) -> Store:
        """The store of that URL, not yet opened.

        Raises:
            SettingsError: the URL is not one of this store's.
        """
        ...


def open_store(url: str) -> Store:
    """The store of a URL, to be opened with ``async with``.

    ``sqlite:///relative.db``, ``sqlite:////absolute.db``; other packages bring other schemes.

    Raises:
        SettingsError: no installed store has that scheme, or it cannot use the URL.
    """
    scheme = url.partition("://")[0]  # errors name it alone: the rest may hold a password
    found = {one.name: one for one in entry_points(group=GROUP)}
    if scheme not in found:
        installed = ", ".join(f"'{name}://'" for name in sorted(found)) or "none"
        raise SettingsError(
            f"No store is installed for {scheme!r} URLs. Installed: {installed}. A file on this "
            "machine is written 'sqlite:///tasks.db'."
        )
    try:
        store: StoreFromUrl = loaded(found[scheme], f"The store for {scheme!r} URLs")
    except ImportError as error:
        raise SettingsError(str(error)) from error
    return store.from_url(url)


__all__ = ["GROUP", "StoreFromUrl", "open_store"]
