"""What reports say of an answer that they do not show: how a note begins that repeats a sentence of one."""

from __future__ import annotations

from enum import StrEnum


class Reported(StrEnum):
    """What a sentence says, as the beginning of the note that repeats it."""

    AS_TEXT = "Reported of a call that came as text: "
    JOINED = "Reported of calls that were joined: "
    REPEATED = "Reported of arguments that came twice: "
    LOST = "Reported of calls that a stream loses: "
    EMPTY = "Reported of a call without its arguments: "
    NOTHING = "Reported of an answer with neither a call nor text: "
    BROKEN = "Reported of arguments that are not valid JSON: "
    ANSWER_THERE = "Reported of an answer that came as reasoning: "
    THOUGHT_HERE = "Reported of thoughts that came in content: "
    SCHEMA_IGNORED = "Reported of a schema that was ignored: "
