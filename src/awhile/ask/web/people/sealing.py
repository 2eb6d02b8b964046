"""What browsers and the disk keep of people: signed and sealed, by a key for each purpose."""

from __future__ import annotations

import base64
import hmac
import json
from typing import TYPE_CHECKING, Any, cast

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from joserfc import jwe
from joserfc.errors import JoseError
from joserfc.jwk import OctKey

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_HEADER = {"alg": "dir", "enc": "A256GCM"}


class Seal:
    """Seals objects, and signs names.

    Args:
        purpose: what for; what was made for another purpose is not taken.
        secrets: texts of 32 letters or more: the first makes, each of them takes, so that they can
            be changed without losing what was made before.
    """

    def __init__(self, purpose: str, secrets: Sequence[str]) -> None:
        self._keys = [_derived(one, purpose) for one in secrets]

    def sealed(self, what: Mapping[str, Any]) -> str:
        """The object, unreadable (RFC 7516)."""
        key = OctKey.import_key(self._keys[0])
        return jwe.encrypt_compact(_HEADER, json.dumps(what), key)

    def opened(self, text: str) -> dict[str, Any] | None:
        """The object again; None if it was not sealed by us for this purpose."""
        for one in self._keys:
            try:
                found = jwe.decrypt_compact(text, OctKey.import_key(one), ["dir", "A256GCM"])
                return cast("dict[str, Any]", json.loads(found.plaintext or b""))
            except (JoseError, ValueError):
                continue
        return None

    def signed(self, name: str) -> str:
        """The name, with what proves that it is one of ours."""
        return f"{name}.{signature(self._keys[0], name)}"

    def verified(self, text: str) -> str | None:
        """The name again; None if it was not signed by us for this purpose."""
        name, _, given = text.rpartition(".")
        for one in self._keys:
            if hmac.compare_digest(given.encode(), signature(one, name).encode()):
                return name
        return None


def _derived(secret: str, purpose: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=f"awhile page: {purpose}".encode()).derive(
        secret.encode()
    )


def signature(key: bytes, name: str) -> str:
    """What only whoever has the key can say of a name: 43 letters that an address may hold."""
    made = hmac.digest(key, name.encode(), "sha256")
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode()


__all__ = ["Seal", "signature"]
