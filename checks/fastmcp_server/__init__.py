"""A real 2026-07-28 task server that is not ours: fastmcp 4.1.4 with fastmcp-tasks 4.1.4."""

PINS = ("fastmcp==4.1.4", "fastmcp-tasks==4.1.4")
"""What it is made of; its client is of the same packages."""
