"""Sealing with AES-256-GCM, under keys that can be changed: needs the extra ``sealed``.

Every value is sealed under a nonce of its own (96 random bits), with the task's id and the key's
own id authenticated. NIST SP 800-38D allows 2^32 of them for each key, so a key should be changed
before it has sealed some billions of values. Source: ours, on `cryptography`'s ``AESGCM``.
"""

from __future__ import annotations

import base64
import binascii
import os
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from awhile.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

VERSION = 1
KEY_BYTES, NONCE_BYTES = 32, 12

HOW = (
    "Make one by `python3 -c 'import base64, secrets; "
    "print(base64.b64encode(secrets.token_bytes(32)).decode())'`."
)


class AesGcm:
    """A `awhile.stores.sealing.Codec`: seals under the first key, opens under any.

    To change the key: give every process the new one behind the old one, then the new one in front,
    and drop the old one once all that it sealed has expired.

    Args:
        keys: by an id of one's own, which is kept beside what each seals; 32 bytes each.

    Raises:
        SettingsError: there is none, or one is no key.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        for name, key in keys.items():
            if len(key) != KEY_BYTES or not 0 < len(name.encode()) < 256:
                raise SettingsError(
                    f"The key {name!r} has {len(key)} bytes; AES-256 has {KEY_BYTES}, and its id "
                    f"1 to 255. {HOW}"
                )
        if not keys:
            raise SettingsError(f"There is no key to seal with. {HOW}")
        self._keys = {name.encode(): AESGCM(key) for name, key in keys.items()}
        self._first = next(iter(self._keys))

    @classmethod
    def from_text(cls, text: str) -> Self:
        """From ``ID:BASE64``, several with commas between them, the one to seal with first.

        Raises:
            SettingsError: it is not written so. The message repeats no key.
        """
        keys: dict[str, bytes] = {}
        for one in text.split(","):
            name, colon, encoded = one.strip().partition(":")
            try:
                keys[name] = base64.b64decode(encoded, validate=True)
            except (binascii.Error, ValueError):
                colon = ""
            if not colon:
                raise SettingsError(
                    f"A key to seal with is written ID:BASE64, with an id of your own. {HOW}"
                )
        return cls(keys)

    def seal(self, data: bytes, about: bytes) -> bytes:
        """See `Codec.seal`."""
        nonce = os.urandom(NONCE_BYTES)
        head = bytes([VERSION, len(self._first)]) + self._first
        return head + nonce + self._keys[self._first].encrypt(nonce, data, head + about)

    def open(self, kept: bytes, about: bytes) -> bytes:
        """See `Codec.open`."""
        if len(kept) < 2 or kept[0] != VERSION:
            raise ValueError("This was not sealed here.")
        start = 2 + kept[1]
        head, nonce, sealed = kept[:start], kept[start : start + NONCE_BYTES], kept[start:]
        key = self._keys.get(head[2:])
        if key is None:
            raise ValueError(f"This was sealed under the key {head[2:]!r}, which is not here.")
        try:
            return key.decrypt(nonce, sealed[NONCE_BYTES:], head + about)
        except InvalidTag:
            raise ValueError("This was changed since, or belongs to another task.") from None


__all__ = ["AesGcm"]
