"""What the README shows is what runs."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEN_LINES = ROOT / "examples" / "ten_lines"
START_SECONDS = 30


def free_port() -> int:
    """A port nobody listens on right now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """The example server, in a folder of its own, on a free port."""
    port = free_port()
    start = f"from server import mcp, serve; serve(mcp, port={port})"
    environment = {**os.environ, "PYTHONPATH": str(TEN_LINES)}
    server = subprocess.Popen(
        [sys.executable, "-c", start],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while True:
            assert server.poll() is None, "the example server ended by itself"
            assert time.monotonic() < deadline, "the example server does not listen"
            with socket.socket() as probe:
                probe.settimeout(0.2)
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(START_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def test_the_ten_line_client_watches_the_ten_line_server_to_its_result(
    url: str, tmp_path: Path
) -> None:
    """Ours."""
    told = subprocess.run(
        [sys.executable, TEN_LINES / "client.py", url],
        env={**os.environ, "XDG_DATA_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.splitlines()
    assert re.fullmatch(r"[0-9a-f]{32}", told[0])
    assert any(re.fullmatch(r"month \d+ \d+ %", line) for line in told)
    assert "2026 is added up." in told[-1]


def test_the_ten_line_server_ends_quietly_on_ctrl_c(tmp_path: Path) -> None:
    """Ours: it says where it serves, and leaves no traceback."""
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from server import mcp, serve; serve(mcp, port=0)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", start],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TEN_LINES)},
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr
        said = ""
        while "http://127.0.0.1:" not in said:
            line = server.stderr.readline()
            assert line, f"it ended by itself: {said}"
            said += line
        server.send_signal(signal.SIGINT)
        _, then = server.communicate(timeout=START_SECONDS)
    assert server.returncode == 0
    assert "Traceback" not in said + then


def test_awhile_serve_ends_the_ten_line_server_quietly_on_ctrl_c(tmp_path: Path) -> None:
    """Ours."""
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from awhile.cli.main import main; main()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", start, "serve", "server:mcp", "--port=0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TEN_LINES), "XDG_DATA_HOME": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdout
        assert server.stdout.readline().startswith("http://127.0.0.1:")
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=START_SECONDS)
    assert (server.returncode, said) == (0, "Stopped.\n")


@pytest.mark.parametrize("example", ["server.py", "client.py"])
def test_the_readme_shows_the_examples_as_they_are(example: str) -> None:
    """Ours."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert (TEN_LINES / example).read_text(encoding="utf-8") in shown
