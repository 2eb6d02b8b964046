"""A real nginx between a client and a server, as it comes: buffering, and streams cut when idle."""

from __future__ import annotations

import shutil
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import anyio

IDLE_SECONDS = 5

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
"""Where nginx is, or None (Debian: `apt-get install nginx-light`)."""

CONFIGURATION = """\
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass {origin};
            proxy_http_version 1.1;
            proxy_set_header Host $proxy_host;
            proxy_read_timeout {idle}s;
        }}
    }}
}}
"""


@asynccontextmanager
async def proxied(url: str, folder: Path) -> AsyncGenerator[str]:
    """The same endpoint through nginx."""
    assert NGINX is not None, "There is no nginx; `scripts/set-up proxy` installs it."
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parts = urlsplit(url)
    configuration = folder / "nginx.conf"
    configuration.write_text(
        CONFIGURATION.format(
            folder=folder, port=port, origin=f"http://{parts.netloc}", idle=IDLE_SECONDS
        )
    )
    command = [NGINX, "-p", str(folder), "-c", str(configuration), "-e", str(folder / "error.log")]
    async with await anyio.open_process(command, stdout=None, stderr=None) as process:
        try:
            with anyio.fail_after(10):
                while not await _answers(port):
                    assert process.returncode is None, (folder / "error.log").read_text()
                    await anyio.sleep(0.02)
            yield f"http://127.0.0.1:{port}{parts.path}"
        finally:
            if process.returncode is None:
                process.terminate()
            with anyio.CancelScope(shield=True):
                await process.wait()


async def _answers(port: int) -> bool:
    try:
        await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
    except OSError:
        return False
    return True
