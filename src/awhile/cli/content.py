"""The result of any tool in a terminal: its texts, and what else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from awhile.cli.screen import as_json, visible, visible_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from mcp_types import Tool

    from awhile.cli.arguments import Arguments

LONGEST_DESCRIPTION = 160


def shown_result(result: Mapping[str, Any]) -> str:
    """A ``CallToolResult`` as text; ``--json`` has it as it came."""
    blocks = cast("list[Any]", result.get("content") or [])
    parts = [text for block in blocks if (text := _block(block))]
    structured = result.get("structuredContent")
    if not parts and structured is not None:
        return as_json(structured)
    return "\n".join(parts)


def _block(block: Any) -> str:
    one: Mapping[str, Any] = cast("dict[str, Any]", block) if isinstance(block, dict) else {}
    match one.get("type"):
        case "text":
            return visible_lines(str(one.get("text") or ""))
        case "resource_link":
            name = one.get("title") or one.get("name") or "resource"
            return f"[{visible(str(name))}: {visible(str(one.get('uri')))}]"
        case "resource":
            inner = cast("Mapping[str, Any]", one.get("resource") or {})
            if isinstance(text := inner.get("text"), str):
                return visible_lines(text)
            return _binary(str(inner.get("uri") or "resource"), inner, inner.get("blob"))
        case kind:
            return _binary(str(kind), one, one.get("data"))


def _binary(what: str, block: Mapping[str, Any], data: Any) -> str:
    mime = block.get("mimeType")
    size = f", {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
    of = f" of {visible(str(mime))}" if mime else ""
    return f"[{visible(what)}{of}{size}; --json has it]"


def tool_lines(tool: Tool, arguments: Arguments) -> Iterator[str]:
    """A tool as a list shows it: how it is called, and what it is for."""
    yield arguments.usage()
    first = " ".join((tool.description or tool.title or "").split())
    if first:
        text = visible(first)
        cut = text if len(text) <= LONGEST_DESCRIPTION else f"{text[:LONGEST_DESCRIPTION]}…"
        yield f"    {cut}"


__all__ = ["shown_result", "tool_lines"]
