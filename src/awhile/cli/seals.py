"""From the setting ``seal_keys`` to what seals contents before they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from awhile.errors import SettingsError
from awhile.extras import command_to_add

if TYPE_CHECKING:
    from awhile.cli.settings import Settings
    from awhile.stores.sealing import Codec


def codec_of(settings: Settings) -> Codec | None:
    """What seals contents, as the settings say; None: nothing does.

    Raises:
        SettingsError: a key cannot be used, or what seals is not installed.
    """
    if settings.seal_keys is None:
        return None
    try:
        from awhile.stores.aes import AesGcm  # only with its extra
    except ImportError as missing:
        raise SettingsError(
            f"seal_keys is set, and what seals is not installed ({missing}). "
            f"Install it: {command_to_add('sealed')}"
        ) from missing
    return AesGcm.from_text(settings.seal_keys)


__all__ = ["codec_of"]
