"""A text that is nothing but the markup of a call around something that names no tool."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import CallStatus, ToolCallAttempt
from prompt_debugger.core.diagnose.calls.shortened_arguments import is_shortened

_TAGS = re.compile(r"(?:\s*+(?:\[/?[A-Z_]{2,40}\]|</?[^<>\s]{1,60}>))*+\s*+")


def nameless_call(text: str, calls: Sequence[ToolCallAttempt]) -> ToolCallAttempt | None:
    """Return the only call of a text that is all of it, malformed and without a name; `None` of any other text.

    What a person left out, or a text that breaks off, may have had the name.
    """
    if len(calls) != 1 or calls[0].name or calls[0].status is not CallStatus.MALFORMED:
        return None
    span = calls[0].char_span
    shown, around = text[slice(*span)], (text[: span.start], text[span.stop :])
    is_all = all(_TAGS.fullmatch(one) is not None for one in around) and shown.rstrip().endswith((">", "]", "}"))
    return calls[0] if is_all and "{" in shown and not is_shortened(shown) else None
