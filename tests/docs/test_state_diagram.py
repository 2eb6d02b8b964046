"""The state diagram in ARCHITECTURE.md is the one drawn from the transition table."""

from __future__ import annotations

import re
from pathlib import Path

from awhile.tasks.state import mermaid

ARCHITECTURE = Path(__file__).parents[2] / "ARCHITECTURE.md"


def test_the_documented_state_diagram_is_drawn_from_the_transition_table() -> None:
    """Ours. A failure prints the block to paste."""
    blocks = re.findall(r"^```mermaid\n(.*?)^```$", ARCHITECTURE.read_text(), re.M | re.S)
    assert [block for block in blocks if block.startswith("stateDiagram")] == [mermaid()], (
        "Put this between ```mermaid fences into ARCHITECTURE.md:\n" + mermaid()
    )
