"""One file per API whose answers are read besides chat completions; each defines `DIALECT`."""

from __future__ import annotations

import sys

from prompt_debugger.core.base.discover import discover_typed
from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.complete.dialects._answer import Answer
from prompt_debugger.core.complete.dialects.base import Dialect

__all__ = ["DIALECTS", "Answer", "Dialect", "dialect_of_answer", "dialect_of_event"]


def dialect_of_answer(value: JSON) -> Dialect | None:
    """Return the dialect that a JSON value is an answer of; `None` if it is of none."""
    if not isinstance(value, dict):
        return None
    return next((dialect for dialect in DIALECTS.values() if dialect.is_answer(value)), None)


def dialect_of_event(value: JSON) -> Dialect | None:
    """Return the dialect that a JSON value is an event of; `None` if it is of none."""
    if not isinstance(value, dict):
        return None
    return next((dialect for dialect in DIALECTS.values() if dialect.is_event(value)), None)


DIALECTS = discover_typed(sys.modules[__name__], "DIALECT", Dialect, "core/complete/dialects/base.py")
