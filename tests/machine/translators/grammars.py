"""Which texts a grammar of llama.cpp's takes, by another parser: llguidance's.

That one cuts a text into longest words first, as a compiler does, and llama.cpp does not; so every
character is made a word of its own.
"""

from __future__ import annotations

import re
from typing import Any

from llguidance import LLMatcher, LLTokenizer, gbnf_to_lark

_CODE = re.compile(r"\\u[0-9A-F]{4}|\\U[0-9A-F]{8}")
_ONE = re.compile(r"\\x..|\\u....|\\.|.", re.DOTALL)


class Grammar:
    """A grammar in GBNF, whose first rule is `root`."""

    def __init__(self, gbnf: str, start: str = "root") -> None:
        self._rules: dict[str, Any] = {
            name: rule.alternatives
            for name, rule in gbnf_to_lark.GrammarParser().parse(_CODE.sub(_letter, gbnf)).items()
        }
        lines = [f"{_name(name)}: {_lark(node)}" for name, node in self._rules.items()]
        lines.append(f"start: {_name(start)}")
        self._matcher = LLMatcher(LLTokenizer("byte"), "\n".join(lines))
        assert not self._matcher.is_error(), self._matcher.get_error()

    def stops_at(self, text: str) -> int | None:
        """The place of the first byte that it does not take; None for a text that it takes."""
        content = text.encode()
        self._matcher.reset()
        taken = self._matcher.try_consume_tokens(list(content))
        return None if taken == len(content) and self._matcher.is_accepting() else taken


def _letter(code: re.Match[str]) -> str:
    letter = chr(int(code[0][2:], 16))
    return letter if letter.isprintable() else repr(letter)[1:-1]


def _name(name: str) -> str:
    return f"r_{name.replace('-', '_')}"


def _lark(node: Any) -> str:
    match node:
        case gbnf_to_lark.LiteralNode():
            return " ".join(f'"{one}"' for one in _ONE.findall(node.value)) or '""'
        case gbnf_to_lark.RegexNode():
            return f"/{node.rx}/"
        case gbnf_to_lark.RuleRefNode():
            return _name(node.name)
        case gbnf_to_lark.SequenceNode():
            return " ".join(map(_lark, node.nodes)) or '""'
        case gbnf_to_lark.AlternativeNode():
            return f"({' | '.join(map(_lark, node.alternatives))})"
        case gbnf_to_lark.RepetitionNode():
            most = "" if node.max_times is None else node.max_times
            return f"({_lark(node.node)}){{{node.min_times},{most}}}"
        case _:
            raise TypeError(node)
