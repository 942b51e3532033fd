"""What a server of vLLM before 0.24 knows while it calls a parser and does not tell it: whether a delta is the last.

Those servers hand over texts and ids alone. Whether the output ends here is in a local name of the function that
calls: `output.finish_reason` in the chat server's generator up to 0.20, `finished` in `parse_delta` after that. So the
frames above are looked at; nothing in them is changed. A server that has neither is not known, and says nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import FrameType
from typing import Any

_GENERATOR, _PARSE_DELTA = "chat_completion_stream_generator", "parse_delta"
_CONTENT_WITH_CALLS = frozenset({"_parse_tool_calls_from_content", "_extract_tool_calls"})
_FRAMES = 12  # from a parser up to the server, wrappers included


@dataclass(frozen=True, slots=True)
class ServerCall:
    """The server's side of a call.

    Attributes:
        is_last: Whether no delta follows.
        hands_on: Whether what reasoning leaves is handed to the tool parser in the same step, with the reasoning kept.
        request: The request; `None` where it cannot be determined.
        tool_parser: The parser that reads calls of this output, if any.
        reasoning_parser: The one that splits its reasoning, if any.
        prompt_ids: Tokens of the prompt, where the server does not name them to the parser itself.
    """

    is_last: bool
    hands_on: bool
    request: Any = None
    tool_parser: Any = None
    reasoning_parser: Any = None
    prompt_ids: Sequence[int] = ()


def server_call() -> ServerCall | None:
    """Return the server's side of the call that is going on; `None` if no server that is known is calling."""
    joined: object = None
    for frame in _callers():
        name = frame.f_code.co_name
        if name == _GENERATOR and (call := _call_of_generator(frame.f_locals, joined)) is not None:
            return call
        if name == _PARSE_DELTA:
            joined = frame.f_locals.get("self")
            if isinstance(is_last := frame.f_locals.get("finished"), bool):
                return ServerCall(is_last, hands_on=True, request=frame.f_locals.get("request"))
    return None


def takes_content_of_calls_alone() -> bool:
    """Return whether the server that reads a whole output takes the parser's content only if the parser found calls.

    It goes by the calls themselves for the finish reason, so saying so with none of them gives the content alone.
    """
    return any(frame.f_code.co_name in _CONTENT_WITH_CALLS for frame in _callers())


def _callers() -> Iterator[FrameType]:
    frame = sys._getframe(1)
    for _ in range(_FRAMES):
        if frame.f_back is None:
            return
        yield frame
        frame = frame.f_back


def _call_of_generator(names: Mapping[str, Any], joined: object) -> ServerCall | None:
    """Read the generator's names; the parsers are in the object that joins them, where there is one in between."""
    output = names.get("output")
    if output is None or not hasattr(output, "finish_reason"):
        return None
    return ServerCall(
        output.finish_reason is not None,
        hands_on=False,
        request=names.get("request"),
        tool_parser=getattr(joined, "_tool_parser", None) or names.get("tool_parser"),
        reasoning_parser=getattr(joined, "_reasoning_parser", None) or names.get("reasoning_parser"),
        prompt_ids=getattr(names.get("res"), "prompt_token_ids", None) or (),
    )
