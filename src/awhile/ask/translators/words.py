"""A question as tokens: lower-cased, contractions opened, plurals reduced to a stem.

Source: ours. Pure text work; nothing here knows a schema.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from decimal import Decimal

from awhile.ask.translators.language import ENGLISH

__all__ = ["Token", "distance_within", "split_name", "stem", "tokenise"]

_PIECE = re.compile(
    r"""
      (?P<quoted>"[^"]{1,200}"|“[^”]{1,200}”|(?<!\w)'[^']{1,200}'(?!\w))
    | (?P<date>\d{4}-\d{2}-\d{2}(?!\d))
    | (?P<number>[$€£]?\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|[$€£]?\d+(?:\.\d+)?k?(?![\w]))
    | (?P<operator>>=|<=|!=|<>|>|<|=)
    | (?P<word>\w+(?:[’']\w+)?)
    | (?P<mark>[^\w\s])
    """,
    re.VERBOSE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_ENDS = re.compile(r"[?!;]\s+\w|\.\s+[A-Z]")
_SILENT_MARKS = frozenset("?!.;:-–—()[]…'\"’`")
_IRREGULAR = {
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "countries": "country",
    "series": "series",
    "diagnoses": "diagnosis",
    "analyses": "analysis",
    "theses": "thesis",
    "crises": "crisis",
    "status": "status",
    "bus": "bus",
    "ids": "id",
}


@dataclass(frozen=True, slots=True)
class Token:
    """One word, number, date or comparison sign. `start` and `end` are places in the question."""

    text: str
    norm: str
    stem: str
    start: int
    end: int
    number: Decimal | None = None
    quoted: bool = False


def stem(word: str) -> str:
    """The singular of a lower-case English word, by rule; a word it does not know stays as it is.

    It only has to map both forms of one word to the same text, not to be good English.
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def split_name(name: str) -> tuple[str, ...]:
    """The lower-case words of an identifier: `orderLines`, `order_lines`, `OrderLines`."""
    spaced = _CAMEL.sub(" ", name)
    return tuple(piece.casefold() for piece in re.split(r"[\W_]+", spaced) if piece)


def tokenise(question: str) -> tuple[Token, ...]:
    """The tokens of a question; silent punctuation is dropped, commas stay, and so does what ends
    a sentence where another one follows.

    A sign that is neither silent nor a comparison becomes a token nothing will explain.
    """
    # Length is kept character by character so that places still point into the question.
    text = "".join(" " if unicodedata.category(each)[0] == "C" else each for each in question)
    tokens: list[Token] = []
    for match in _PIECE.finditer(text):
        kind, piece, start, end = match.lastgroup, match.group(), match.start(), match.end()
        if kind == "quoted":
            inner = piece[1:-1].strip()
            if inner:
                norm = " ".join(inner.casefold().split())
                tokens.append(Token(inner, norm, norm, start, end, quoted=True))
        elif kind == "number":
            digits = piece.lstrip("$€£").replace(",", "")
            scale = 1000 if digits.endswith("k") else 1
            number = Decimal(digits.rstrip("k")) * scale
            tokens.append(Token(piece, digits, digits, start, end, number=number))
        elif kind == "word":
            tokens.extend(_words(piece, start, end))
        elif kind == "mark" and _ENDS.match(text, start):
            tokens.append(Token(piece, ".", ".", start, end))
        elif kind == "mark" and piece in _SILENT_MARKS:
            continue
        elif piece == "&":
            tokens.append(Token(piece, "and", "and", start, end))
        else:
            tokens.append(Token(piece, piece, piece, start, end))
    return tuple(tokens)


def _words(piece: str, start: int, end: int) -> list[Token]:
    norm = unicodedata.normalize("NFKC", piece).casefold().replace("’", "'")
    parts: list[str] = []
    head, _, tail = norm.partition("'")
    if tail == "t" and head.endswith("n"):
        parts = [{"ca": "can", "wo": "will"}.get(head[:-1], head[:-1]), "not"]
    elif tail == "s" and head in ("what", "who", "that", "there", "it", "how", "when", "where"):
        parts = [head, "is"]
    elif tail == "s":
        parts = [head]
    elif tail in ("ve", "re", "ll", "d", "m"):
        parts = [head, {"ve": "have", "re": "are", "ll": "will", "d": "would", "m": "am"}[tail]]
    else:
        parts = [part for part in norm.replace("'", "_").split("_") if part]
    return [
        Token(piece if len(parts) == 1 else part, part, stem(part), start, end, _number(part))
        for part in parts
    ]


def _number(word: str) -> Decimal | None:
    return Decimal(ENGLISH.numbers[word]) if word in ENGLISH.numbers else None


def distance_within(left: str, right: str, limit: int) -> int | None:
    """The edit distance (swapped neighbours count once), or None when it is above `limit`."""
    if abs(len(left) - len(right)) > limit:
        return None
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        earlier, before, row = before, row, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and left[i - 2] == b:
                cost = min(cost, earlier[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
