"""Each piece of a stream repeats all the text so far.

What it finds:
    Three or more pieces of content, of reasoning or of a call's arguments, each of which
    begins with the whole one before it.

Why it matters:
    A client puts pieces together, as the protocol asks. It shows the answer many times over,
    and reads arguments that are no JSON.

Bad:
    `{"content": "It"}`, `{"content": "It is"}`, `{"content": "It is warm."}`

Good:
    `{"content": "It"}`, `{"content": " is"}`, `{"content": " warm."}`

Source:
    tracker: QwenLM/qwen-code#3896, tashfeenahmed/freellmapi#1007. publisher: DashScope's
    reference of `incremental_output`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from prompt_debugger.core.base.json_values import as_list, as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, StreamDelta, Trace
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, quote

_TEXTS = ("content", "reasoning_content", "reasoning")
_MIN_PIECES = 3
_MIN_LENGTH = 10  # characters of the last piece
_MIN_DIFFERENT = 5  # of them: a line that grows by one sign says nothing
_SHOWN = 40
_FIX = (
    "Take the last piece for the whole text, or ask without streaming. DashScope's own API sends only what is new with "
    "`incremental_output` set to true. If the stream comes through a gateway, report it there: it forwards the text so "
    "far as if each event were new."
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the first field whose pieces accumulate."""
    stream = trace.chat_stream
    if stream is None:
        return
    found = ((field, pieces) for field, pieces in _fields(stream.deltas) if _accumulate(pieces))
    field, pieces = next(found, ("", []))
    if not field:
        return
    shown = [quote(piece, _SHOWN) for piece in pieces[-2:]]
    what = "arguments" if field.endswith("arguments") else "text"
    yield Report(
        title=f"The stream repeats itself: each of the {len(pieces):,} pieces of `{field}` contains all the {what} so "
        "far.",
        detail=f"Each begins with the one before it; the last two are {shown[0]!r} and {shown[1]!r}. A client that "
        f"joins them, as the protocol asks, gets the beginning of the {what} {len(pieces):,} times.",
        evidence=(in_message(field, pieces[-1]),),
        fix=_FIX,
    )


def _fields(deltas: Sequence[StreamDelta]) -> Iterator[tuple[str, list[str]]]:
    for name in _TEXTS:
        yield name, [text for one in deltas if (text := as_text(one.delta.get(name)))]
    arguments: dict[object, list[str]] = {}
    for one in deltas:
        for call in map(as_object, as_list(one.delta.get("tool_calls"))):
            text = as_text(as_object(call.get("function")).get("arguments"))
            if text:
                arguments.setdefault(str(call.get("index")), []).append(text)
    for index, pieces in arguments.items():
        yield f"tool_calls[{index}].function.arguments", pieces


def _accumulate(pieces: Sequence[str]) -> bool:
    """Return whether each piece begins with the whole one before it, and the text is more than one sign repeated."""
    last = pieces[-1] if pieces else ""
    if len({*pieces}) < _MIN_PIECES or len(last) < _MIN_LENGTH or len({*last}) < _MIN_DIFFERENT:
        return False
    return all(later.startswith(earlier) for earlier, later in pairwise(pieces))


RULE: Rule = TraceRule(
    code="PD486",
    name="accumulated-deltas",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.STREAM,
    threads=("QwenLM/qwen-code#3896", "tashfeenahmed/freellmapi#1007"),
    explains=("PD307", "PD308", "PD401", "PD402", "PD411", "PD413", "PD450", "PD451", "PD455"),
    fixes=(RequestFix("asked without streaming", setting(stream=False)),),
)
