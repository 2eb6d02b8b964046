"""A warehouse, outside of everything of ours: ``python -m examples.external_job.warehouse PORT``.

It keeps its jobs by idempotency key, as warehouses and CI services do: the same key is the same
job. ``--seconds`` is how long a job takes; ``--hold FILE``: submissions are taken at once, but
answered only once that file is there (a slow network, for the tests).
"""

import argparse
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

given = argparse.ArgumentParser()
given.add_argument("port", type=int)
given.add_argument("--seconds", type=float, default=20)
given.add_argument("--hold", type=Path)
options = given.parse_args() if __name__ == "__main__" else argparse.Namespace()

lock = threading.Lock()
jobs: dict[str, dict[str, Any]] = {}
"""By idempotency key."""


def submit(key: str, year: int) -> dict[str, Any]:
    """The job of this key, begun if it is new."""
    with lock:
        number = len(jobs) + 1
        job = jobs.setdefault(
            key, {"id": f"job-{number}", "key": key, "year": year, "began": time.time(), "asked": 0}
        )
        job["asked"] += 1
        return job


def shown(job: dict[str, Any]) -> dict[str, Any]:
    """A job with its state."""
    done = time.time() - job["began"] >= options.seconds
    state = "cancelled" if job.get("cancelled") else "done" if done else "running"
    return {**job, "state": state}


def found(name: str) -> dict[str, Any] | None:
    """A job by its id or its key."""
    return next((job for job in jobs.values() if name in {job["id"], job["key"]}), None)


class Warehouse(BaseHTTPRequestHandler):
    """``GET /jobs``, ``GET /jobs/ID``, ``POST /jobs``, ``POST /jobs/ID-OR-KEY/cancel``."""

    def do_GET(self) -> None:
        name = self.path.removeprefix("/jobs").strip("/")
        job = found(name)
        self.reply([shown(one) for one in jobs.values()] if not name else job and shown(job))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])) or "{}")
        if self.path == "/jobs":
            job: dict[str, Any] | None = submit(body["key"], body["year"])
            while options.hold and not options.hold.exists():
                time.sleep(0.02)
        else:
            job = found(self.path.split("/")[2])
            if job and shown(job)["state"] == "running":
                job["cancelled"] = True
        self.reply(job and shown(job))

    def reply(self, answer: object) -> None:
        """One JSON value; nothing found is a 404."""
        data = json.dumps(answer).encode()
        self.send_response(404 if answer is None else 200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Quiet."""


if __name__ == "__main__":
    serving = ThreadingHTTPServer(("127.0.0.1", options.port), Warehouse)
    print(f"http://127.0.0.1:{serving.server_port}", flush=True)
    serving.serve_forever()
