"""`python -m checks.oidc_provider JSON`: provide until stdin closes; the issuer is the first line.

The JSON has ``port``, ``page_url``, ``resource``, ``client_secret`` and ``access_seconds``.
"""

from __future__ import annotations

import sys
from pathlib import Path

from checks.node import run

if __name__ == "__main__":
    sys.exit(run(Path(__file__).parent / "provider.mjs", sys.argv[1:]))
