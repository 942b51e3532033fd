"""What CloudWeGo's Eino itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "Eino"

_REMEDY = (
    "Report it to the server or gateway: each call needs its own `index`, and its id, type and name only in its first "
    "piece. Until then ask without streaming, or give the pieces their index where the model's component reads them; "
    "record the stream with `capture` and paste it to see which pieces have one index."
)

SENTENCES: tuple[KnownError, ...] = tuple(
    KnownError(
        f"cannot concat ToolCalls with different tool {part}: '{{first}}' '{{second}}'",
        Stage.PARSE,
        f"Pieces of calls in the stream have the same `index`, but not the same {part}: they are several calls, or the "
        f"server changes the {part} within one. Eino joins pieces by `index` alone, and stops.",
        _REMEDY,
        "https://github.com/cloudwego/eino/issues/361",
        example=f"cannot concat ToolCalls with different tool {part}: '{values[0]}' '{values[1]}'",
    )
    for part, values in (
        ("id", ("call_1", "call_2")),
        ("type", ("function", "builtin")),
        ("name", ("get_weather", "get_time")),
    )
)
