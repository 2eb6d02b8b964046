"""Forms that a body has put to a person, and whether an answer fits one.

"Servers SHOULD validate received data matches the requested schema" (2025-11-25 and 2026-07-28,
``client/elicitation``). An answer is refused only where the body could not read it either: a key
can be answered once, and the body of an answer that does not fit fails.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from jsonschema import Draft202012Validator, validators
from pydantic import TypeAdapter, ValidationError

from awhile.server.asking import ELICITATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

logger = logging.getLogger(__name__)

LONGEST_FAULT = 200
"""How many characters of one fault are repeated: it quotes the answer, which may be long."""


def is_form(request: Mapping[str, Any]) -> bool:
    """Whether a question is a form."""
    params = cast("Mapping[str, Any]", request.get("params") or {})
    return request.get("method") == ELICITATION and params.get("mode", "form") == "form"


def misfit(request: Mapping[str, Any], content: Mapping[str, Any]) -> str | None:
    """What of an answer its form does not allow: which field, and what is wanted. None: it fits.

    A form whose schema makes no sense allows everything: the body decides.
    """
    params = cast("Mapping[str, Any]", request.get("params") or {})
    check: Any = _Validator(cast("Mapping[str, Any]", params.get("requestedSchema") or {}))
    faults: list[str] = []
    try:
        for error in cast("Iterable[Any]", check.iter_errors(content)):
            field, words = str(error.json_path)[2:], str(error.message)
            cut = words if len(words) <= LONGEST_FAULT else f"{words[:LONGEST_FAULT]}…"
            faults.append(f"{field}: {cut}" if field else cut)
    except Exception:
        logger.debug("A form's schema cannot be checked against.", exc_info=True)
        return None
    return "; ".join(faults) or None


def _as_pydantic(kind: type) -> Callable[[object, object], bool]:
    """Whether pydantic, by which bodies read their answers, takes a value for one of ``kind``."""
    adapter = TypeAdapter[Any](kind)

    def takes(_checker: object, value: object) -> bool:
        try:
            adapter.validate_python(value)
        except ValidationError:
            return False
        return True

    return takes


_jsonschema: Any = validators  # its stubs are incomplete
_Validator: Any = _jsonschema.extend(
    Draft202012Validator,
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "boolean": _as_pydantic(bool),
            "integer": _as_pydantic(int),
            "number": _as_pydantic(float),
        }
    ),
)
