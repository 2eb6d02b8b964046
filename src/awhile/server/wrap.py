"""An author's function as MCPServer registers it: the same arguments, its body run by us."""

from __future__ import annotations

import functools
import inspect
import typing
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError

from awhile.errors import AwhileError, SettingsError
from awhile.runtime.bodies import CHILD_FUNCTION, ChildRaised, ChildRun, perform
from awhile.runtime.ending import NoAnswer, StopAsked
from awhile.runtime.run import Run, current_run
from awhile.server.elsewhere import hand_over
from awhile.server.endings import unanswered
from awhile.telemetry.logs import task_logger

if TYPE_CHECKING:
    from collections.abc import Callable

    from awhile.server.options import ToolOptions

logger = task_logger(__name__)


def run_parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters annotated `Run`: filled in by us, invisible to the caller."""
    return tuple(name for name, hint in _hints(function).items() if hint is Run)


def wrapped(function: Callable[..., Any], options: ToolOptions) -> Callable[..., Any]:
    """The function to register with MCPServer in place of ``function``.

    It has the same parameters but for those annotated `Run` (or `ChildRun`), and is always a
    coroutine function. An exception's own text reaches the caller, because a person has to be able
    to act on it; MCPServer would replace it.
    """

    @functools.wraps(function)
    async def body(**arguments: Any) -> Any:
        hand_over()
        run = current_run.get(None)
        if run is None:
            raise ToolError(
                f"{options.name!r} was called outside of a server that has Tasks installed: build "
                "it as MCPServer(name, **tasks.install())."
            )
        given = {**arguments, **dict.fromkeys(options.run_parameters, run)}
        try:
            return await perform(
                function,
                given,
                run=run,
                run_in=options.run_in,
                grace_seconds=options.grace_seconds,
            )
        except (MCPError, ToolError, ResourceError):
            raise
        except NoAnswer as late:
            raise unanswered(late) from late
        except StopAsked as stopped:  # the run knows; this only keeps it from looking like a crash
            raise ToolError(str(stopped)) from stopped
        except ChildRaised as raised:
            logger.warning("Tool %r raised in its process:\n%s", options.name, raised.traceback)
            raise ToolError(f"{raised.type_name}: {raised.message}") from raised
        except anyio.get_cancelled_exc_class():
            raise
        except BaseException as error:  # sys.exit() and the like in a tool must not end the server
            if options.run_in == "async" and isinstance(error, KeyboardInterrupt | GeneratorExit):
                raise  # in the event loop's own thread: a Ctrl-C, or the end of the loop
            logger.warning("Tool %r raised.", options.name, exc_info=True)
            ours = isinstance(error, AwhileError)  # its words are meant to be read as they are
            raise ToolError(str(error) if ours else f"{type(error).__name__}: {error}") from error

    hints = _hints(function)
    hidden = {name for name, hint in hints.items() if hint is Run or hint is ChildRun}
    signature = inspect.signature(function)
    shown = [
        parameter.replace(annotation=hints.get(name, parameter.annotation))
        for name, parameter in signature.parameters.items()
        if name not in hidden
    ]
    returns = hints.get("return", signature.return_annotation)
    # MCPServer reads these to build the tool's schema; `__wrapped__` would show it `Run` again.
    body.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=shown, return_annotation=returns
    )
    body.__annotations__ = {name: hint for name, hint in hints.items() if name not in hidden}
    del body.__wrapped__  # type: ignore[attr-defined]
    setattr(body, CHILD_FUNCTION, function)
    return body


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as missing:
        raise SettingsError(
            f"The annotations of {function.__qualname__!r} cannot be read: {missing}. Import what "
            "they name at the top of its module, outside of 'if TYPE_CHECKING'."
        ) from missing
