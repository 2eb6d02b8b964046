import ssl
from types import TracebackType
from typing import Any, Self

class AsyncOAuth2Client:
    def __init__(
        self,
        client_id: str,
        client_secret: str | None = None,
        *,
        token_endpoint_auth_method: str,
        revocation_endpoint_auth_method: str,
        scope: str,
        redirect_uri: str,
        code_challenge_method: str,
        timeout: float,
        verify: ssl.SSLContext,
        trust_env: bool,
    ) -> None: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
    def create_authorization_url(
        self, url: str, *, state: str, code_verifier: str, **more: str
    ) -> tuple[str, str]: ...
    async def fetch_token(self, url: str, *, grant_type: str, **more: str) -> dict[str, Any]: ...
    async def refresh_token(
        self, url: str, *, refresh_token: str, **more: str
    ) -> dict[str, Any]: ...
    async def revoke_token(self, url: str, *, token: str, token_type_hint: str) -> Any: ...
