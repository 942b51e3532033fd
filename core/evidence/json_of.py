"""JSON in pasted texts: a whole text, or one value a line."""

from __future__ import annotations

import json
from contextlib import suppress

from prompt_debugger.core.base.types import JSON


def json_of(text: str) -> JSON:
    """Return the value of a JSON text; `None` if it is not one."""
    with suppress(ValueError, RecursionError):
        value: JSON = json.loads(text.strip().removeprefix("\ufeff"))
        return value
    return None


def json_lines(text: str) -> list[str]:
    """Return the lines of a text that is one JSON object a line; none if it is anything else."""
    lines = [line for line in text.splitlines() if line.strip()]
    looked_at = (json_of(line) for line in lines[:3])
    return lines if len(lines) > 1 and all(isinstance(value, dict) for value in looked_at) else []
