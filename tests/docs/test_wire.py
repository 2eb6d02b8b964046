"""The page of transcripts is what goes over the wire."""

from __future__ import annotations

from pathlib import Path

import pytest

from examples.wire.page import record

PAGE = Path(__file__).parents[2] / "docs" / "wire.md"


@pytest.mark.anyio
async def test_the_wire_page_is_what_is_recorded_now() -> None:
    """Ours. `make wire` records it anew; look at what has changed before you keep it.

    A machine that stands still for a third of a second changes which step is seen, hence twice.
    """
    page = PAGE.read_text(encoding="utf-8")
    recorded = await record()
    if recorded != page:
        recorded = await record()
    assert recorded.splitlines() == page.splitlines()


def test_the_wire_page_says_what_anonymous_callers_and_limits_mean() -> None:
    """Spec: 2025-11-25, Task Isolation and Resource Management: limits have to be documented."""
    page = PAGE.read_text(encoding="utf-8")
    for words in ("`anonymous`", "loopback", "365 days", "`slots` (32)", "limit by caller"):
        assert words in page
