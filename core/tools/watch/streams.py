"""Does an answer stream as it would have been whole? The server's own parsers are asked, on the ids of the very run.

Nothing is generated: vLLM reads the ids again (`…/derender`). Spaces around a text, ids, and how arguments are spelled
are not differences, nor is an output that was cut, whose beginning the two ways show differently by design.
"""

from __future__ import annotations

from prompt_debugger.core.base.json_values import as_object, decoded, objects_in
from prompt_debugger.core.base.types import JSON, Basis, JSONObject, ParserOutcome, Trace
from prompt_debugger.core.complete import ServerClient
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.trace_queries import why_cut
from prompt_debugger.core.pipeline import ask_server_parsers, output_of_trace, server_parsers_of


async def stream_differs(client: ServerClient, trace: Trace) -> tuple[str, ...]:
    """Return the fields in which a run's streamed answer differs from the same output read whole.

    There are none where it was not streamed, or cannot be read again.
    """
    names = () if trace.server is None else server_parsers_of(trace.server)
    output = output_of_trace(trace)
    is_streamed = trace.chat is not None and trace.request.body.get("stream") is True
    if not (is_streamed and names and output is not None and output.token_ids is not None):
        return ()
    if trace.evidence is not Basis.SAME_RUN or not trace.request.tools or why_cut(trace) is not None:
        return ()  # without tools no parser of calls reads it, and serving leaves out what this one keeps
    whole = (await ask_server_parsers(client, names[:1], output))[names[0]]
    if whole.error is not None or trace.chat is None:
        return ()
    reported, read = _select_fields(trace.chat.message), _read(whole)
    return tuple(name for name in reported if reported[name] != read[name])


def _select_fields(message: JSONObject) -> JSONObject:
    thought = reasoning_of(message)
    return _fields(content_of(message), None if thought is None else thought.text, message.get("tool_calls"))


def _read(outcome: ParserOutcome) -> JSONObject:
    return _fields(outcome.content, outcome.reasoning, list(outcome.tool_calls))


def _fields(content: str | None, reasoning: str | None, calls: JSON) -> JSONObject:
    functions = [as_object(call.get("function")) for call in objects_in(calls)]
    plain: list[JSON] = [[one.get("name"), decoded(one.get("arguments"))] for one in functions]
    return {"content": (content or "").strip(), "reasoning": (reasoning or "").strip(), "tool_calls": plain}
