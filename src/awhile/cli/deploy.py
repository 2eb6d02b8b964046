"""From an operator's settings to a module's deployment."""

from __future__ import annotations

import secrets
import signal
from typing import TYPE_CHECKING, Any

from awhile.cli.kept import kept_secret, make_folder
from awhile.cli.seals import codec_of
from awhile.errors import SettingsError
from awhile.runtime.webhook import Webhook
from awhile.server.operating import Operating
from awhile.server.request_state import share_request_states

if TYPE_CHECKING:
    from pathlib import Path

    from mcp.server.mcpserver import MCPServer

    from awhile.cli.settings import Effective, Settings
    from awhile.server.tasks import Tasks

DECIDED = ("slots", "lease_seconds", "drain_seconds", "gone_tool_seconds")
"""Settings that a module may have a value of its own for; one that is given wins."""


BOUNDS = ("max_queued", "max_queued_per_owner", "max_running_per_owner")
"""More of them, where 0 means: no bound."""


def deploy(tasks: Tasks, effective: Effective) -> None:
    """Have the module's tasks kept and run as the settings say.

    Raises:
        SettingsError: a value cannot work, or its store is not installed.
    """
    settings = effective.settings
    decided = {name: getattr(settings, name) for name in DECIDED if effective.given(name)}
    decided |= {name: getattr(settings, name) or None for name in BOUNDS if effective.given(name)}
    if effective.given("store") or tasks.deployment.store is None:
        decided["store"] = settings.store
        if not effective.given("store"):
            make_folder(settings.data_folder)
    tasks.deploy(**decided, operating=operating_of(settings))


def operating_of(settings: Settings) -> Operating:
    """What operators see and do of this process, as the settings say.

    Raises:
        SettingsError: the webhook's URL or secret cannot be used.
    """
    webhook = None
    if settings.webhook_url is not None:
        said = settings.webhook_secret or ""
        secrets_of_it = tuple(one.strip() for one in said.split(",") if one.strip())
        webhook = Webhook(url=settings.webhook_url, secrets=secrets_of_it)
    codec = codec_of(settings)
    return Operating(on_drain=_end_as_on_sigterm, webhook=webhook, codec=codec)


def _end_as_on_sigterm() -> None:
    signal.raise_signal(signal.SIGTERM)


def share_keys(server: MCPServer[Any], tasks: Tasks, effective: Effective) -> None:
    """Have every server on the store understand the answers to what any of them has asked.

    Raises:
        SettingsError: they may be on several machines, and no key is set.
    """
    settings = effective.settings
    store = tasks.deployment.store
    if settings.request_state_key is not None:
        share_request_states(server, settings.request_state_key.split(","))
    elif settings.single_replica:
        return
    elif isinstance(store, str) and store.startswith("sqlite:"):
        share_request_states(server, [_kept_key(settings.data_folder)])
    else:
        raise SettingsError(
            "Servers on this store may be several, and a question that one has asked may be "
            "answered at another: they have to share a secret. Make one by `python3 -c 'import "
            "secrets; print(secrets.token_hex(32))'` and set it as AWHILE_REQUEST_STATE_KEY for "
            "each of them; or say --single-replica, if this is the only server."
        )


def _kept_key(folder: Path) -> str:
    """The key of all servers of this user on this machine."""
    make_folder(folder)
    return kept_secret(folder, "request-state-key", lambda: secrets.token_hex(32))


__all__ = ["deploy", "share_keys"]
