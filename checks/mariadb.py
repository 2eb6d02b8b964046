"""A MariaDB server of one's own, thrown away afterwards: for tests and benchmarks.

::

    with Server() as server:
        url = server.url("shop")   # of a database there, as its owner

Nothing of it is durable, which makes it quick. See `checks.thrown_away` for whom it runs as, and
for what ends it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pymysql

from checks.thrown_away import PATIENCE_SECONDS, OwnFolder, free_port

if TYPE_CHECKING:
    from typing import Self

_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
"""What makes the server's own tables: of what ``mariadb-install-db`` runs, all that is needed."""
_SHARED = ("/usr/share/mysql", "/usr/share/mariadb", "/usr/local/share/mysql")

_SETTINGS = {
    "aria-log-file-size": "8M",
    "aria-pagecache-buffer-size": "1M",
    "character-set-server": "utf8mb4",
    "innodb-buffer-pool-size": "128M",
    "innodb-doublewrite": "0",
    "innodb-flush-log-at-trx-commit": "0",
    "innodb-flush-method": "nosync",
    "innodb-log-file-size": "64M",
    "key-buffer-size": "1M",
    "performance-schema": "OFF",
    "skip-name-resolve": "ON",
}


def program() -> str | None:
    """MariaDB's server program on this machine, or None; without its tables it is of no use."""
    path = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"
    return shutil.which("mariadbd", path=path) if _shared() else None


def _shared() -> Path | None:
    return next((Path(each) for each in _SHARED if Path(each, _TABLES[0]).exists()), None)


class Server:
    """One server: everything in one folder, on one free port of 127.0.0.1 and a Unix socket.

    Its administrator is ``awhile``, with a password; over the socket also ``root``, without one.
    """

    user = "awhile"

    def __init__(self) -> None:
        """Make its own tables; it is not yet started.

        Raises `RuntimeError` where MariaDB is not installed or refuses.
        """
        found, shared = program(), _shared()
        if found is None or shared is None:
            raise RuntimeError(
                "MariaDB's server was not found; `scripts/set-up mariadb` installs it."
            )
        self.password = secrets.token_urlsafe(12)
        self.port = free_port()
        self._own = OwnFolder("awhile-maria-", signal.SIGKILL)
        self.folder = self._own.path
        self.socket = str(self.folder / "socket")
        self._process: subprocess.Popen[bytes] | None = None
        data = self.folder / "data"
        (data / "mysql").mkdir(parents=True)
        temporary = self.folder / "tmp"
        temporary.mkdir()
        for path in (data, data / "mysql", temporary):
            self._own.give(path)
        self._command = [
            found,
            "--no-defaults",
            f"--datadir={data}",
            f"--lc-messages-dir={shared}",
            # Its own: one that starts removes what it takes for another's leavings in a shared one.
            f"--tmpdir={temporary}",
            *(f"--{name}={value}" for name, value in _SETTINGS.items()),
        ]
        made = "".join((shared / name).read_text(encoding="utf-8") for name in _TABLES)
        # As mariadb-install-db does: no administrator for the name this machine has now.
        lines = [line for line in made.splitlines() if "@current_hostname" not in line]
        done = subprocess.run(
            [*self._command, "--bootstrap", "--skip-networking"],
            input="\n".join(("USE mysql;", *lines, "")).encode(),
            capture_output=True,
            check=False,
            cwd=self.folder,
            **self._own.account,
        )
        if done.returncode:
            self.close()
            raise RuntimeError(f"MariaDB could not make its tables:\n{done.stderr.decode()}")

    def start(self) -> Self:
        """Start it, and return when it takes connections."""
        log = self.folder / "log"
        with log.open("ab") as said:
            self._process = subprocess.Popen(
                [
                    *self._command,
                    f"--socket={self.socket}",
                    f"--pid-file={self.folder / 'server.pid'}",
                    f"--port={self.port}",
                    "--bind-address=127.0.0.1",
                ],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                cwd=self.folder,
                start_new_session=True,
                **self._own.account,
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                time.sleep(0.02)
                continue
            connection = pymysql.connect(unix_socket=self.socket, user="root")
            with connection, connection.cursor() as cursor:
                who = f"'{self.user}'@'127.0.0.1'"
                cursor.execute(f"CREATE USER {who} IDENTIFIED BY '{self.password}'")
                cursor.execute(f"GRANT ALL ON *.* TO {who} WITH GRANT OPTION")
                cursor.execute("DROP USER root@'127.0.0.1', root@'::1'")
            return self
        raise RuntimeError(f"MariaDB does not start:\n{log.read_text(errors='replace')}")

    def close(self) -> None:
        """End it and remove all of it."""
        process, self._process = self._process, None
        self._own.close()
        if process is not None:
            process.wait(PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def url(self, database: str = "mysql") -> str:
        """Of a database, as the administrator, over TCP."""
        return f"mariadb://{self.user}:{self.password}@127.0.0.1:{self.port}/{database}"


__all__ = ["Server", "program"]
