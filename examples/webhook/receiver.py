"""Receives the webhook, with nothing but the standard library.

    export AWHILE_WEBHOOK_SECRET="$(python3 -m examples.webhook.receiver --new-secret)"
    python3 -m examples.webhook.receiver &
    awhile serve reports:mcp --webhook-url http://127.0.0.1:8799/

Signed as Standard Webhooks has it (https://www.standardwebhooks.com).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import secrets
import sys
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any, ClassVar

PORT = 8799
OLDEST_SECONDS = 300
"""A message that was signed longer ago may be one that somebody has recorded, sent again."""


def verified(secret: str, headers: Mapping[str, str], body: bytes, now_seconds: float) -> bool:
    """Whether this came from who has the secret, lately, as it was sent."""
    headers = {name.lower(): value for name, value in headers.items()}
    message_id, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not at.isdigit() or abs(now_seconds - int(at)) > OLDEST_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message_id}.{at}.".encode() + body, hashlib.sha256).digest()
    expected = f"v1,{base64.b64encode(digest).decode()}"
    signatures = headers.get("webhook-signature", "").split(" ")  # several, while it is changed
    return any(hmac.compare_digest(expected, one) for one in signatures)


class Receiver(BaseHTTPRequestHandler):
    """Prints each message once."""

    secret = ""
    seen: ClassVar[set[str]] = set()  # in a database, for a real one: it outlives this process

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if not verified(self.secret, dict(self.headers), body, time.time()):
            self._answer(401)
            return
        message_id = self.headers["webhook-id"]
        if message_id not in self.seen:  # it comes at least once
            told: dict[str, Any] = json.loads(body)
            print(f"{told['data']['tool']} {told['data']['taskId']}: {told['type']}", flush=True)
            self.seen.add(message_id)
        self._answer(204)

    def _answer(self, code: int) -> None:
        self.send_response(code)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing of each request."""


def main() -> None:
    """Receive until Ctrl-C."""
    if "--new-secret" in sys.argv:
        print(f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}")
        return
    Receiver.secret = os.environ["AWHILE_WEBHOOK_SECRET"]
    HTTPServer(("127.0.0.1", PORT), Receiver).serve_forever()


if __name__ == "__main__":
    main()
