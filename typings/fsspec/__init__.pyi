# What Awhile uses of fsspec, which ships no types of its own.
from typing import Any

class AbstractFileSystem:
    protocol: str | tuple[str, ...]
    cachable: bool
    def __init__(self) -> None: ...

def __getattr__(name: str) -> Any: ...
