"""Another SDK than this was built on is said to be one when the server's module is loaded."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata

import pytest
from mcp.server.session import ServerSession

from awhile.errors import SettingsError
from awhile.server import sdk


def install(monkeypatch: pytest.MonkeyPatch, found: str) -> None:
    """Have it look as if that version of the SDK were installed."""

    def version(_name: str) -> str:
        return found

    monkeypatch.setattr(sdk, "version", version)


def test_this_sdk_is_what_we_lean_on() -> None:
    """Ours."""
    assert sdk.differences() == []


@pytest.mark.parametrize("found", ["1.30.0", "2.2.9", "3.0.0", "3.1.0a1"])
def test_another_version_is_refused_with_the_one_to_install(
    monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    """Ours."""
    install(monkeypatch, found)
    with pytest.raises(SettingsError, match=rf"mcp {found}, .* pip install 'mcp>=2.3,<3'"):
        sdk.check_sdk()


def test_a_missing_sdk_is_said_to_be_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours."""

    def missing(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(sdk, "version", missing)
    with pytest.raises(SettingsError, match="is not installed"):
        sdk.check_sdk()


def test_a_part_that_changed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours: a later 2.x, with a part gone and another with other parameters."""

    async def renamed(self: object, message: object) -> None: ...

    monkeypatch.setattr(ServerSession, "send_notification", renamed)
    monkeypatch.delattr(ServerSession, "send_request")
    install(monkeypatch, "2.9.0")
    with pytest.raises(SettingsError) as refused:
        sdk.check_sdk()
    words = str(refused.value)
    assert "mcp 2.9.0, is not what Awhile was built on" in words
    assert "'mcp.server.session:ServerSession.send_notification' takes no 'notification'" in words
    assert "'mcp.server.session:ServerSession.send_request' is gone" in words


def test_it_is_said_before_anything_else_of_ours_can_go_wrong() -> None:
    """Ours: by the import itself, in the words of the check."""
    code = (
        "import mcp.server.session as session\n"
        "del session.ServerSession\n"
        "from awhile import Tasks\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "SettingsError: The MCP SDK, mcp 2" in ran.stderr
    assert "'mcp.server.session:ServerSession' is gone" in ran.stderr
