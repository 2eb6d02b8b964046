class AuthlibBaseError(Exception):
    error: str | None
