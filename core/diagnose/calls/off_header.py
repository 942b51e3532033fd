"""Calls in content whose markup departs from its notation so far that the parsers of the family do not take them out.

<|tool_call_begin|>functions.shell!1<|tool_call_argument_begin|>{…}     a header without its index
<minimax:tool_call>invoke name="run">parameter name="a">1parameter>…    tags without their brackets
"""

from __future__ import annotations

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import CallStatus, Stage, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.fields import body_of, request_tools, texts_inside
from prompt_debugger.core.diagnose.markers import find_unquoted_markers
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.formats import FORMATS, pick_format

_BRACKETS = "of its tags are missing"
_AGAIN = (
    "Do not run this call as it is; ask again. Report the raw output to the authors of the model or of its weights: a "
    "conversion or a strong quantization often breaks markup. Until then the client can read the call from the text."
)


def report_off_header(trace: Trace, content: str) -> Report | None:
    """Report the first call of content with a header or tags that its family's parsers do not read."""
    if next(find_unquoted_markers(content), None) is None:
        return None
    context = ReadContext(tools=trace.request.tools)
    parsed = pick_format(content, context).read(content, context)
    offered = {tool.name for tool in request_tools(trace.request)}
    asked = "\n".join(texts_inside(body_of(trace)))
    for call in parsed.calls:
        problem = _problem(parsed.format, call, offered)
        if problem is None or content[slice(*call.char_span)] in asked:
            continue
        return Report(
            title=f"A tool call to `{call.name}` is in content, and it departs from the notation of `{parsed.format}`.",
            detail=f"{problem[0].upper()}{problem[1:]}. The model wrote it so, and parsers that keep to the notation "
            "leave it in the text or drop it.",
            evidence=(in_message("content", content[slice(*call.char_span)], call.char_span),),
            fix=_AGAIN,
            stage=Stage.COMPLETE,
        )
    return None


def _problem(family: str, call: ToolCallAttempt, offered: set[str]) -> str | None:
    """Return what is wrong with a complete call's header or tags, as a sentence without its end."""
    if call.status is not CallStatus.COMPLETE or not call.name:
        return None
    if _BRACKETS in (call.deviation or "") and call.name in offered:
        return call.deviation
    one = FORMATS.get(family)
    check = None if one is None else one.facts.id_problem
    known = next((name for name in offered if call.name.startswith(name) and call.name != name), None)
    if check is None or not call.id or known is None or call.name[len(known)].isalnum():
        return None
    return None if (found := check(call.id)) is None else f"in its header `{call.id}`, {found}"
