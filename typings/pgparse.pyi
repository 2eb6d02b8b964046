# What Awhile uses of pgparse, whose types are incomplete.
from typing import Any

class PGQueryError(Exception):
    message: str
    position: int

def parse(sql: str) -> list[dict[str, Any]]: ...
