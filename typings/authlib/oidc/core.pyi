from typing import Any

class CodeIDToken(dict[str, Any]):
    def __init__(
        self,
        claims: dict[str, Any],
        header: dict[str, Any],
        options: dict[str, dict[str, Any]],
        params: dict[str, Any],
    ) -> None: ...
    def validate(self, now: int | None = None, leeway: int = 0) -> None: ...
