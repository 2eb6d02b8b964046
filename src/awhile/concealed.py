"""A command line as it may be shown: what looks like a secret in it is written as ``[hidden]``.

Whoever starts a server gives it keys as options, as variables before it, in headers and in URLs.
Which words are secrets can only be guessed, from the names they stand under and from the shapes of
well-known tokens; where in doubt, they are hidden (source: ours).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

HIDDEN = "[hidden]"
"""What stands where a secret was."""

_SECRET = re.compile(
    r"auth|authorization|bearer|cookie|credentials?|dsn|keys?|pass|passphrase|passwd|passwords?"
    r"|pat|pw|pwd|secrets?|signature|token"
)
"""Words of a name; run together with others, these:"""
_RUN_TOGETHER = re.compile(r"apikey|accesskey|secretkey|privatekey|authkey|\w{3,}token$|passw")

_ABOUT_IT = re.compile(
    r"algorithm|count|env|file|header|id|length|limit|mode|name|path|scheme|size|ttl|type|url"
    r"|version"
)
"""A name that ends so is of something about a secret: ``--token-file``, ``--key-id``."""

_PLAIN_KEY = re.compile(r"foreign|group|index|partition|primary|public|sort")

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_OPTION = re.compile(r"(--?[A-Za-z][\w.-]*)(?:(=)(.*))?", re.DOTALL)
_ASSIGNMENT = re.compile(r"([A-Za-z_][\w.-]*)=(.*)", re.DOTALL)
_HEADER = re.compile(r"([A-Za-z][A-Za-z0-9-]*:\s*)(\S.*)", re.DOTALL)
_HEADER_OPTIONS = frozenset({"-H", "--header", "--headers"})
_SHELL = "-c"
"""What comes after it is a command line itself, in one word."""

_TOKEN = re.compile(
    r"\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{12,}"  # OpenAI, Anthropic, Stripe
    r"|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_\w{16,}|\bglpat-[\w-]{16,}"
    r"|\bxox[a-z]-[\w-]{10,}|\bAKIA[A-Z0-9]{12,}|\bAIza[\w-]{20,}|\bhf_[A-Za-z0-9]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"  # a JSON Web Token
)


def shown_command(words: Sequence[str]) -> str:
    """The command line as one would type it, without its secrets."""
    return " ".join(_quoted(word) for word in _Looking().through(words))


def secrets_of(words: Sequence[str]) -> tuple[str, ...]:
    """What looks like a secret in a command line."""
    looking = _Looking()
    looking.through(words)
    return tuple(looking.found)


def is_secret(name: str) -> bool:
    """Whether what stands under this name is likely to be a secret: ``--api-key``, ``DB_TOKEN``."""
    words = [word.lower() for word in _WORDS.findall(name)]
    if not words or _ABOUT_IT.fullmatch(words[-1]):
        return False
    if words[-1] in ("key", "keys") and len(words) > 1 and _PLAIN_KEY.fullmatch(words[-2]):
        return False
    return any(map(_SECRET.fullmatch, words)) or bool(_RUN_TOGETHER.search("".join(words)))


class _Looking:
    """One look through a command line."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def through(self, words: Sequence[str]) -> list[str]:
        """The words as they may be shown."""
        shown: list[str] = []
        under: str | None = None
        for word in words:
            option = _OPTION.fullmatch(word)
            if under is not None and not (option and word.startswith("--")):
                shown.append(self._under(under, word))
                under = None
            elif option is None:
                shown.append(self._word(word))
                under = None
            else:
                name, equals, value = option.groups()
                waits = is_secret(name) or name in (*_HEADER_OPTIONS, _SHELL)
                under = name if waits and equals is None else None
                shown.append(name if equals is None else f"{name}={self._under(name, value)}")
        return shown

    def _under(self, name: str, value: str) -> str:
        """The value of an option, or of a variable."""
        if name == _SHELL:
            return self._line(value)
        if name in _HEADER_OPTIONS and (header := _HEADER.fullmatch(value)):
            return f"{header[1]}{self._hidden(header[2])}"
        return self._hidden(value) if is_secret(name) else self._word(value)

    def _word(self, word: str) -> str:
        assignment, header = _ASSIGNMENT.fullmatch(word), _HEADER.fullmatch(word)
        if assignment and is_secret(assignment[1]):
            return f"{assignment[1]}={self._hidden(assignment[2])}"
        if header and is_secret(header[1]):
            return f"{header[1]}{self._hidden(header[2])}"
        if "://" in word:
            word = self._url(word)
        if re.search(r"\s", word):
            word = self._line(word)
        return _TOKEN.sub(lambda token: self._hidden(token[0]), word)

    def _url(self, word: str) -> str:
        try:
            parts = urlsplit(word)
            given = [
                parts.password,
                *(one for name, one in parse_qsl(parts.query) if is_secret(name)),
            ]
        except ValueError:
            return word
        for one in given:
            if one:
                word = word.replace(one, self._hidden(one))
        return word

    def _line(self, line: str) -> str:
        """A word that is a command line itself, as ``sh -c`` takes it: cut out, not taken apart."""
        try:
            words = shlex.split(line)
        except ValueError:
            words = line.split()
        if len(words) < 2:
            return line
        inner = _Looking()
        inner.through(words)
        for one in sorted(inner.found, key=len, reverse=True):
            line = line.replace(one, self._hidden(one))
        return line

    def _hidden(self, secret: str) -> str:
        if not secret or secret == HIDDEN:
            return secret
        self.found.append(secret)
        return HIDDEN


def _quoted(word: str) -> str:
    """As a shell takes it; but that brackets of ours need no quotes."""
    plain = word.replace(HIDDEN, "x")
    return word if shlex.quote(plain) == plain else shlex.quote(word)


__all__ = ["HIDDEN", "is_secret", "secrets_of", "shown_command"]
