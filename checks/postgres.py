"""A PostgreSQL cluster of one's own, thrown away afterwards: for tests, benchmarks and soaks.

::

    with Cluster() as cluster:
        url = cluster.url()        # a store's URL, in a schema of its own
        cluster.kill()             # SIGKILL; every backend is gone when this returns
        cluster.start()            # on the same data and the same port

See `checks.thrown_away` for whom it runs as, and for what ends it.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

import psutil
import psycopg

from checks.thrown_away import PATIENCE_SECONDS, OwnFolder, free_port

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self


STANDBY = "standby"


def binaries() -> Path | None:
    """The folder of PostgreSQL's server programs on this machine, or None."""
    found: list[Path] = []
    if on_path := shutil.which("postgres"):
        found.append(Path(on_path).resolve().parent)
    if config := shutil.which("pg_config"):
        said = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        found.append(Path(said.stdout.strip()))
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    found += sorted(debian, key=lambda each: float(each.parent.name), reverse=True)
    return next(
        (each for each in found if (each / "initdb").exists() and (each / "postgres").exists()),
        None,
    )


class Cluster:
    """One cluster: everything in one folder, on one free port of 127.0.0.1 and a Unix socket.

    Durable as it comes (``fsync`` on). ``settings`` are PostgreSQL's own. Its superuser is
    ``awhile``, with a password over TCP and without one over the socket.
    """

    user = "awhile"

    def __init__(
        self, settings: Mapping[str, str] | None = None, *, standby_of: Cluster | None = None
    ) -> None:
        """Create it, not yet started: new (``initdb``), or as the standby of a running one
        (``pg_basebackup``), which then confirms no commit that its standby does not have.

        Raises `RuntimeError` where PostgreSQL is not installed or refuses.
        """
        found = binaries()
        if found is None:
            raise RuntimeError(
                "PostgreSQL's programs were not found: not on the PATH, not by pg_config, not in "
                "/usr/lib/postgresql. `scripts/set-up postgres` installs them."
            )
        self._binaries = found
        self.password = standby_of.password if standby_of else secrets.token_urlsafe(12)
        self.port = free_port()
        self._own = OwnFolder("awhile-pg-", signal.SIGQUIT)
        self.folder = self._own.path
        self._process: subprocess.Popen[bytes] | None = None
        if standby_of is None:
            self._init()
        else:
            self._copy(standby_of)
        given = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": str(self.folder),
            "max_connections": "200",
            "shared_buffers": "64MB",
            "jit": "off",
            **(settings or {}),
        }
        with (self.folder / "data" / "postgresql.conf").open("a") as config:
            config.writelines(f"{name} = '{value}'\n" for name, value in given.items())

    def _init(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password)
        self._own.give(secret)
        self._run(
            "initdb",
            f"--username={self.user}",
            f"--pwfile={secret}",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
            "--encoding=UTF8",
            "--locale=C",
            f"--pgdata={self.folder / 'data'}",
        )

    def _copy(self, primary: Cluster) -> None:
        self._run(
            "pg_basebackup",
            f"--dbname=host={primary.folder} port={primary.port} user={self.user} "
            f"application_name={STANDBY}",
            "--checkpoint=fast",
            "--write-recovery-conf",
            f"--pgdata={self.folder / 'data'}",
        )
        primary.run_sql(
            f"ALTER SYSTEM SET synchronous_standby_names = '{STANDBY}'", "SELECT pg_reload_conf()"
        )

    def promote(self) -> None:
        """Have a standby take the place of its primary, which is gone; returns when it has."""
        self.run_sql(f"SELECT pg_promote(true, {PATIENCE_SECONDS:.0f})")

    def run_sql(self, *statements: str) -> None:
        """Run statements as the superuser, each in a transaction of its own."""
        with psycopg.connect(self.dsn(), autocommit=True) as on:
            for one in statements:
                on.execute(one.encode())

    def start(self) -> Self:
        """Start it, or start it again, and return when it takes connections."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._started():
            # Right after a kill the last backends may still hold its shared memory.
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL does not start:\n{self.log()}")
            time.sleep(0.1)
        return self

    @property
    def pid(self) -> int | None:
        """The postmaster's process, while it is there."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def kill(self) -> None:
        """End it as a crash would: SIGKILL of the postmaster, whose backends then end."""
        if self._process is not None:
            backends = self._all()[1:]
            self._process.kill()
            self._process.wait(PATIENCE_SECONDS)
            self._process = None
            deadline = time.monotonic() + PATIENCE_SECONDS
            while any(_alive(each) for each in backends) and time.monotonic() < deadline:
                time.sleep(0.01)

    def pause(self) -> None:
        """Stop the postmaster and every backend (SIGSTOP): connections hang, none is closed."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Undo `pause`."""
        self._signal(signal.SIGCONT)

    def shut_down(self) -> None:
        """End it in order, closing every connection (``fast``); it can be started again."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(PATIENCE_SECONDS)
            self._process = None

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

    def dsn(self, database: str = "postgres", *, port: int | None = None) -> str:
        """What a PostgreSQL client connects with, over TCP; ``port`` of a pooler before it."""
        word = quote(self.password, safe="")
        return f"postgresql://{self.user}:{word}@127.0.0.1:{port or self.port}/{database}"

    def url(self, schema: str | None = None, *, port: int | None = None, **options: str) -> str:
        """A store's URL, in a schema of that name or of a new one."""
        return store_url(self.dsn(port=port), schema, **options)

    def popen(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        """Start a program as the user the cluster runs as."""
        return subprocess.Popen(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            **self._own.account,
        )

    def log(self) -> str:
        """What the server has said."""
        file = self.folder / "log"
        return file.read_text(errors="replace") if file.exists() else ""

    def _started(self) -> bool:
        pid_file = self.folder / "data" / "postmaster.pid"
        command = [str(self._binaries / "postgres"), "-D", str(self.folder / "data")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
                **self._own.account,
            )
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._process.poll() is None and time.monotonic() < deadline:
            try:
                lines = pid_file.read_text().splitlines()
            except OSError:
                lines = []
            ours = lines and lines[0] == str(self._process.pid)
            if ours and len(lines) > 7 and lines[7].strip() == "ready":
                return True
            time.sleep(0.02)
        return False

    def _signal(self, number: signal.Signals) -> None:
        for each in self._all():
            with suppress(psutil.NoSuchProcess):  # a backend that has ended meanwhile
                each.send_signal(number)

    def _all(self) -> list[psutil.Process]:
        """The postmaster and every process of it."""
        assert self._process is not None
        postmaster = psutil.Process(self._process.pid)
        return [postmaster, *postmaster.children(recursive=True)]

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [str(self._binaries / program), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=self.folder,
            **self._own.account,
        )
        if done.returncode:
            self.close()
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")


class Bouncer:
    """A PgBouncer in transaction mode before a cluster, which ends it with itself."""

    def __init__(self, cluster: Cluster, *, pool_size: int = 3) -> None:
        """Start it, and wait until it takes connections.

        Raises `RuntimeError` where PgBouncer is not installed.
        """
        program = bouncer_program()
        if program is None:
            raise RuntimeError("No pgbouncer was found; `scripts/set-up postgres` installs it.")
        self.port = free_port()
        config, users = cluster.folder / "bouncer.ini", cluster.folder / "bouncer.users"
        users.write_text(f'"{cluster.user}" "{cluster.password}"\n')
        config.write_text(
            f"[databases]\n* = host=127.0.0.1 port={cluster.port}\n"
            f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
            f"unix_socket_dir =\npidfile = {cluster.folder / 'bouncer.pid'}\n"
            f"auth_type = plain\nauth_file = {users}\npool_mode = transaction\n"
            f"default_pool_size = {pool_size}\n"
        )
        self._process = cluster.popen([program, "-q", str(config)])
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
            except OSError:
                time.sleep(0.02)
            else:
                return
        raise RuntimeError("PgBouncer does not start.")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE_SECONDS)


def bouncer_program() -> str | None:
    """PgBouncer's program on this machine, or None."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


def store_url(dsn: str, schema: str | None = None, **options: str) -> str:
    """A store's URL on a server, in a schema of that name or of a new one."""
    asked = {"schema": schema or f"test_{secrets.token_hex(6)}", **options}
    return f"{dsn}{'&' if '?' in dsn else '?'}{urlencode(asked)}"


def _alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


__all__ = ["Bouncer", "Cluster", "binaries", "bouncer_program", "store_url"]
