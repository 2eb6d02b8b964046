"""What went over the wire, as it went: each request with everything that came back, and when."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from awhile.concealed import HIDDEN

Json = dict[str, Any]

LONGEST_TEXT = 20_000
"""Letters of a frame that are kept; the rest is counted."""

DEEPEST = 64
"""Values inside values of a message that is read: deeper ones are there to exhaust a reader."""

SHORTEST_SECRET = 6
"""Letters of a word that is hidden wherever it stands; a shorter one would be found everywhere, and
its header is hidden by its name anyway."""

SECRET_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
"""Never kept, whoever sends them."""

CUT = "…"
"""What stands where a text was cut."""


class Clock:
    """Milliseconds since the probe began; never goes back."""

    def __init__(self) -> None:
        self.began = time.time()
        self._zero = time.monotonic()

    def now_ms(self) -> float:
        """Milliseconds since this clock was made."""
        return (time.monotonic() - self._zero) * 1000


class Secrets:
    """What is hidden wherever it would be kept: the values of the headers the user gave."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        words = {word for value in values for word in (value, *re.split(r"[\s;,=]+", value))}
        # As JSON writes them, too: a frame is kept as it came, and some write a slash as \\/.
        written = {json.dumps(word)[1:-1] for word in words} | words
        written |= {word.replace("/", "\\/") for word in written}
        long = (one for one in written if len(one) >= SHORTEST_SECRET)
        self._hidden = sorted(long, key=len, reverse=True)

    def out_of(self, text: str) -> str:
        """The text without them."""
        for one in self._hidden:
            text = text.replace(one, HIDDEN)
            if CUT in text:  # where a part of one may have been left
                for letters in range(len(one) - 1, SHORTEST_SECRET - 1, -1):
                    text = text.replace(one[:letters] + CUT, HIDDEN + CUT)
        return text

    def out_of_json(self, value: Any, *, names: bool = True) -> Any:
        """A JSON value without them in its texts, and in the names of its members."""
        if isinstance(value, str):
            return self.out_of(value)
        if isinstance(value, dict):
            return {
                self.out_of(name) if names else name: self.out_of_json(one, names=names)
                for name, one in cast("Json", value).items()
            }
        if isinstance(value, list | tuple):
            return [self.out_of_json(one, names=names) for one in cast("list[Any]", value)]
        return value


@dataclass(frozen=True, slots=True)
class Frame:
    """One thing that came: a JSON body, an SSE event, an SSE comment, a line of stdout."""

    at_ms: float
    kind: str
    """``message``, ``comment``, ``event`` (an SSE event without JSON) or ``text``."""
    text: str
    message: Json | None = None

    @property
    def method(self) -> str | None:
        """The method of a notification or of a request to the client."""
        found = None if self.message is None else self.message.get("method")
        return found if isinstance(found, str) else None

    @property
    def params(self) -> Json:
        """Its parameters, `{}` where there are none."""
        return as_object(None if self.message is None else self.message.get("params"))


def frame_of(text: str, at_ms: float) -> Frame:
    """A frame of some text: a message if it is a JSON object, and none that is hard to hold."""
    try:
        message: Any = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except (ValueError, RecursionError):
        return Frame(at_ms, "text" if text.strip() else "event", text)
    if not isinstance(message, dict) or _deeper(message, DEEPEST):
        return Frame(at_ms, "text", text)
    return Frame(at_ms, "message", text, cast("Json", message))


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no JSON")


def _finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else _refuse(digits)


def _deeper(value: Any, levels: int) -> bool:
    inside: list[Any] = [value]
    for _ in range(levels):
        inside = [one for outer in inside for one in _children(outer)]
    return bool(inside)


def _children(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("Json", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


@dataclass(slots=True)
class Exchange:
    """One request, and all that came back on its own stream."""

    number: int
    era: str
    purpose: str
    """Why the probe sent it."""
    request: Json
    """The JSON-RPC message that was sent, `{}` for a GET."""
    headers: dict[str, str]
    sent_at_ms: float
    verb: str = "POST"
    """The HTTP method; of no meaning over stdio."""
    status: int | None = None
    """The HTTP status; None over stdio, and where none came."""
    reply_headers: dict[str, str] = field(default_factory=dict[str, str])
    frames: list[Frame] = field(default_factory=list[Frame])
    ending: str = "open"
    """How it ended: ``answered``, ``closed`` by the server, ``left`` by the probe, ``timed out``,
    or what broke."""

    @property
    def id(self) -> Any:
        """The JSON-RPC id of the request."""
        return self.request.get("id")

    @property
    def answer_frame(self) -> Frame | None:
        """The frame that answers the request."""
        for frame in self.frames:
            found = frame.message
            if found is None or "method" in found:
                continue
            unread = found.get("id") is None and "error" in found  # no id could be read
            if unread or found.get("id") == self.id:
                return frame
        return None

    @property
    def answer(self) -> Json:
        """The JSON-RPC response, `{}` where none came."""
        frame = self.answer_frame
        return {} if frame is None or frame.message is None else frame.message

    @property
    def result(self) -> Json | None:
        """Its result, None where it is an error or none came."""
        found = self.answer.get("result")
        return cast("Json", found) if isinstance(found, dict) else None

    @property
    def error(self) -> Json | None:
        """Its error, None where it is a result or none came."""
        found = self.answer.get("error")
        return cast("Json", found) if isinstance(found, dict) else None

    @property
    def code(self) -> int | None:
        """The JSON-RPC error code."""
        found = (self.error or {}).get("code")
        return found if isinstance(found, int) else None

    @property
    def answered_at_ms(self) -> float | None:
        """When the answer came."""
        return None if self.answer_frame is None else self.answer_frame.at_ms

    @property
    def took_ms(self) -> float | None:
        """From sending to the answer."""
        return None if self.answered_at_ms is None else self.answered_at_ms - self.sent_at_ms

    @property
    def seen(self) -> str:
        """What came back, in one phrase."""
        http = "" if self.status is None else f"HTTP {self.status}, "
        if (elsewhere := self.reply_headers.get("location")) is not None:
            http += f"a redirect to {short(elsewhere)}, which was not followed, "
        if (error := self.error) is not None:
            words = short(str(error.get("message", ""))).rstrip(".")
            return f"{http}error {error.get('code')}: {words}"
        if self.result is not None:
            return f"{http}a result: {short(self.result)}"
        if self.frames:
            return f"{http}no answer, but {short(self.frames[0].text)}"
        return f"{http}no answer ({self.ending})"

    def notes(self, method: str) -> list[Frame]:
        """The notifications of one method that came on its stream."""
        return [frame for frame in self.frames if frame.method == method]


def as_object(value: Any) -> Json:
    """A JSON object, or an empty one for anything else."""
    return cast("Json", value) if isinstance(value, dict) else {}


def short(value: Any, letters: int = 140) -> str:
    """A value in one line, cut."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= letters else f"{text[: letters - 1]}{CUT}"


def without_secrets(
    headers: Mapping[str, str], given: Iterable[str], secrets: Secrets
) -> dict[str, str]:
    """Headers as they may be kept. ``given``: the names of those the user brought."""
    hidden = SECRET_HEADERS | {name.lower() for name in given}
    return {
        name: HIDDEN if name.lower() in hidden else secrets.out_of(value)
        for name, value in headers.items()
    }


def as_json(exchange: Exchange, secrets: Secrets) -> Json:
    """The exchange as a report keeps it: without secrets, and cut."""

    def text(value: str) -> str:
        value = secrets.out_of(value)  # before it is cut, which might leave a part of one
        if len(value) <= LONGEST_TEXT:
            return value
        return f"{value[:LONGEST_TEXT]}… ({len(value) - LONGEST_TEXT} letters more)"

    return {
        "number": exchange.number,
        "era": exchange.era,
        "purpose": exchange.purpose,
        "sent_at_ms": round(exchange.sent_at_ms, 1),
        "request": {
            "verb": exchange.verb,
            "headers": exchange.headers,
            "message": secrets.out_of_json(exchange.request),
        },
        "answer": {
            "http_status": exchange.status,
            "headers": secrets.out_of_json(exchange.reply_headers),
            "frames": [
                {"at_ms": round(frame.at_ms, 1), "kind": frame.kind, "text": text(frame.text)}
                for frame in exchange.frames
            ],
            "ending": secrets.out_of(exchange.ending),
        },
    }


__all__ = ["Clock", "Exchange", "Frame", "Json", "Secrets", "as_json", "as_object", "frame_of"]
