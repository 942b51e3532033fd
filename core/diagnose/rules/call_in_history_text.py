r"""An earlier answer contains a tool call as text, in place of its calls.

What it finds:
    An assistant's message of the request without `tool_calls` whose content has a complete call
    in the markup of a family, or is nothing but a call in bare JSON, or a copy of a call as
    clients print it. Not what is in code or quotation marks, and not JSON where the request
    wants JSON. Of tools that the request offers, where it offers any.

Why it matters:
    When it came, no one parsed it, so the tool never ran. The model now takes it as the way in
    which calls are written here, and repeats it, even on a server that would parse its calls.

Bad:
    `{"role": "assistant", "content": "{\"name\": \"get_weather\", \"arguments\": {}}"}`

Good:
    `{"role": "assistant", "content": null, "tool_calls": [{…}]}`, and its result after it

Source:
    tracker: ollama/ollama#11662, huggingface/smolagents#938, RooCodeInc/Roo-Code#11106.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object
from prompt_debugger.core.base.protocols import ReadContext, Rule
from prompt_debugger.core.base.types import CallStatus, Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.diagnose.calls.unparsed_calls import is_plain_words, parser_steps
from prompt_debugger.core.diagnose.fields import body_of, content_of, request_tools
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request
from prompt_debugger.core.formats import pick_format

_MAX_MESSAGES = 400
_MAX_CHARS = 20_000
_SIGNS = ("{", "<", "[", "(")
_KEEP = "Send the call in `tool_calls` with its result after it, or leave the turn out of the history."
_COPIES = (Notation.PRINTED, Notation.LISTED)


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such message, and how many there are."""
    messages = as_list(body_of(trace).get("messages"))[:_MAX_MESSAGES]
    found: list[tuple[int, str, str, Span]] = []
    for index, value in enumerate(messages):
        message = as_object(value)
        content = content_of(message) or ""
        is_text = message.get("role") == "assistant" and not message.get("tool_calls")
        if not is_text or len(content) > _MAX_CHARS or not any(sign in content for sign in _SIGNS):
            continue
        call = _call_in(trace, content)
        if call is not None:
            found.append((index, *call))
    if not found:
        return
    index, name, family, span = found[0]
    more = f" {len(found) - 1} more messages are similar." if len(found) > 1 else ""
    content = content_of(as_object(messages[index])) or ""
    yield Report(
        title=f"messages[{index}] of the history contains a call to `{name}` as text.",
        detail="It has the call in `content` and no `tool_calls`: the answer was not parsed, and the client kept it "
        f"as it was. The model takes it as an example of how to write calls.{more}",
        evidence=(in_request(f"messages[{index}].content", content[slice(*span)]),),
        fix=(Step(_KEEP), *(parser_steps(trace, family) if family and not is_plain_words(family) else ())),
        certainty=Certainty.INFERRED,
    )


def _call_in(trace: Trace, content: str) -> tuple[str, str, Span] | None:
    """Return name, family and place of the call that a text holds; "" for the family of a copy."""
    offered = {tool.name for tool in request_tools(trace.request)}
    context = ReadContext(tools=trace.request.tools, finish_reason="stop")
    picked = pick_format(content, context)
    parsed = picked.read(content, context)
    whole = [call for call in parsed.calls if call.status is CallStatus.COMPLETE and call.arguments_json is not None]
    is_marked = any(True for _ in find_unquoted_markers(content))
    is_bare = not (parsed.content or "").strip() and not body_of(trace).get("response_format")
    for call in whole if is_marked or is_bare else ():
        if call.name and (not offered or call.name in offered):
            return call.name, picked.name, call.char_span
    copy = find_client_call(content)
    is_copy = copy is not None and copy.notation in _COPIES and (not offered or copy.name in offered)
    return (copy.name, "", copy.span) if copy is not None and is_copy else None


RULE: Rule = TraceRule(
    code="PD138",
    name="call-in-history-text",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("ollama/ollama#11662", "huggingface/smolagents#938", "RooCodeInc/Roo-Code#11106"),
    asks_request_alone=True,
)
