"""How a failure becomes a message of the page, and what the log says: on a public page nothing of another visitor."""

from __future__ import annotations

import functools
import inspect
import logging
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, cast

from prompt_debugger.core.base.errors import DebuggerError, LabError
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import add_key_field

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
_FRAMES = 6  # of a fault's places that are logged

_log = logging.getLogger(__name__)


def as_visitors_see(error: DebuggerError, settings: PageSettings) -> DebuggerError:
    """Return an error as a visitor may see it: the log of a lab can hold words of other visitors."""
    if settings.public and isinstance(error, LabError):
        _log.warning("the lab failed: %s", error.message)
        return LabError("The lab of this page failed.", "It is restarted with the next run: run again.")
    return add_key_field(error, is_public=settings.public)


def as_debugger_error(error: Exception, *, logs_words: bool = False) -> DebuggerError:
    """Return any error as one that can be shown; a bug of ours is logged.

    `logs_words` lets the log have the error's own words, which may be a visitor's, and not its places alone.
    """
    if isinstance(error, DebuggerError):
        return error
    if logs_words:
        _log.error("the work failed unexpectedly", exc_info=error)
    else:
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        places = " ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in frames)
        _log.error("the work failed unexpectedly: %s at %s", type(error).__name__, places)
    return DebuggerError(f"This program failed: {type(error).__name__}: {error}", "See the log for details.")


def shown_as(failed: Callable[[DebuggerError], object]) -> Callable[[F], F]:
    """Return a decorator of what answers an event: where that fails, the answer is what `failed` makes of the error."""

    def decorate(work: F) -> F:
        if inspect.isasyncgenfunction(work):
            return cast("F", _wrap_generator(work, failed))
        if inspect.iscoroutinefunction(work):
            return cast("F", _wrap_coroutine(work, failed))
        return cast("F", _wrap_function(work, failed))

    return decorate


def _wrap_generator(
    work: Callable[P, AsyncGenerator[object, None]], failed: Callable[[DebuggerError], object]
) -> Callable[P, AsyncGenerator[object, None]]:
    @functools.wraps(work)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> AsyncGenerator[object, None]:
        try:
            async with aclosing(work(*args, **kwargs)) as steps:
                async for step in steps:
                    yield step
        except Exception as error:  # noqa: BLE001  # a bug of ours must reach the page as a message, too
            yield failed(as_debugger_error(error))

    return guarded


def _wrap_coroutine(
    work: Callable[P, Awaitable[object]], failed: Callable[[DebuggerError], object]
) -> Callable[P, Awaitable[object]]:
    @functools.wraps(work)
    async def guarded(*args: P.args, **kwargs: P.kwargs) -> object:
        try:
            return await work(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # as above
            return failed(as_debugger_error(error))

    return guarded


def _wrap_function(work: Callable[P, object], failed: Callable[[DebuggerError], object]) -> Callable[P, object]:
    @functools.wraps(work)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> object:
        try:
            return work(*args, **kwargs)
        except Exception as error:  # noqa: BLE001  # as above
            return failed(as_debugger_error(error))

    return guarded
