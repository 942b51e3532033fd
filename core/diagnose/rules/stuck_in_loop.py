"""The output ends in one piece of text, repeated up to the limit.

What it finds:
    A cut output whose end is a unit of up to 120 characters written eight times
    or more in a row (at least 80 characters), or 50 characters of whitespace. Where only the
    message is available: content that begins as JSON and ends with such whitespace; and, where
    a limit ended the answer, arguments that end in a unit written five times or more, or one
    call with the same arguments three times or more.

Why it matters:
    A grammar that allows unlimited whitespace, or no way to finish, traps the model; so
    does a prompt it cannot make sense of. Raising the limit only makes the loop longer.

Bad:
    `{"city":                                                        …`

Good:
    An output that the model ends.

Source:
    tracker: mlc-ai/xgrammar#695, mlc-ai/xgrammar#802, vllm-project/vllm#50399.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prompt_debugger.core.base.comparable import may_constrain
from prompt_debugger.core.base.json_values import as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.advice import Advice, Step
from prompt_debugger.core.diagnose.fields import body_of, content_of, request_tools, returned_calls
from prompt_debugger.core.diagnose.fixes import RequestFix, setting
from prompt_debugger.core.diagnose.loops import MIN_REPEATS_OF_CUT_ARGUMENTS, MIN_WHITE_SPACE, looping_length
from prompt_debugger.core.diagnose.own_settings import penalty
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_message, in_raw, why_cut

MIN_SAME_CALLS = 3
_PENALTY = 1.1
_ONE_CALL = "Set `parallel_tool_calls` to `false`, if the server takes it."


def find(trace: Trace) -> Iterator[Report]:
    """Report a cut output that ends in a loop."""
    if trace.raw is None:
        yield from [*_find_in_content(trace)] or _find_in_calls(trace)
    if trace.raw is None or (reason := why_cut(trace)) is None:
        return
    text = trace.raw.text
    length = looping_length(text)
    if not length:
        return
    yield Report(
        title=f"The output ends in a loop of {length} characters.",
        detail=f"It ends with {text[-60:]!r}, and {reason}.",
        evidence=(in_raw(trace, Span(len(text) - length, len(text))),),
        fix=_fix(trace),
    )


def _find_in_content(trace: Trace) -> Iterator[Report]:
    """Report JSON that ends in whitespace, which no answer does that the model ended."""
    chat = trace.chat if trace.chat is not None else trace.chat_stream
    content = "" if chat is None else content_of(chat.message) or ""
    length = len(content) - len(content.rstrip())
    if length < MIN_WHITE_SPACE or not content.lstrip().startswith(("{", "[")):
        return
    yield Report(
        title=f"Content ends with {length} characters of whitespace after JSON.",
        detail="A grammar for JSON allows whitespace without an end: a model that does not know what to write next, or "
        "that was not asked for JSON in words, continues with it until a limit.",
        evidence=(in_message("content", content.rstrip()[-60:] + content[-length:][:60]),),
        fix=(
            Step("Ask for JSON in a message as well, with the fields that it must have."),
            Step("Send a schema instead of only asking for JSON: it says where the document ends."),
        ),
    )


def _find_in_calls(trace: Trace) -> Iterator[Report]:
    """Report arguments that end in a loop, or a call that is written again and again, up to a limit."""
    calls = returned_calls(trace)
    if not calls or (reason := why_cut(trace)) is None:
        return
    last = as_text(calls[-1].arguments) or ""
    field = f"{calls[-1].field}.function.arguments"
    if decode_json(last) is None and (length := looping_length(last, MIN_REPEATS_OF_CUT_ARGUMENTS)):
        yield Report(
            title=f"The arguments of the call to `{calls[-1].name}` end in a loop of {length} characters.",
            detail=f"They end with {last[-60:]!r}, and {reason}. More tokens make the loop longer, not the call whole.",
            evidence=(in_message(field, last, Span(len(last) - length, len(last))),),
            fix=_fix(trace),
        )
        return
    counts = Counter((call.name, as_text(call.arguments)) for call in calls if call.name and call.arguments)
    (name, arguments), count = counts.most_common(1)[0] if counts else (("", ""), 0)
    if count >= MIN_SAME_CALLS:
        yield Report(
            title=f"The call to `{name}` is in the answer {count} times with the same arguments.",
            detail=f"`tool_calls` has {len(calls)} calls, and {reason}: the model did not end its answer after the "
            "first call.",
            evidence=(in_message("tool_calls", arguments),),
            fix=(Step(f"Run only one of the {count}. {_ONE_CALL}"), *_fix(trace)),
        )


def _fix(trace: Trace) -> Advice:
    body = body_of(trace)
    is_constrained = may_constrain(body) or any(key in body for key in ("response_format", "structured_outputs"))
    steps = [Step(f"Set {penalty(trace)}, or raise the temperature.")]
    if is_constrained:
        steps.insert(0, Step("Try without the schema or the forced tool choice that constrained the output."))
    if any(not as_object(as_object(tool.parameters).get("properties")) for tool in request_tools(trace.request)):
        steps.append(Step("Give tools without arguments a dummy property."))
    return steps


RULE: Rule = TraceRule(
    code="PD307",
    name="stuck-in-loop",
    severity=Severity.WARNING,
    stage=Stage.COMPLETE,
    find=find,
    threads=("mlc-ai/xgrammar#695", "mlc-ai/xgrammar#802", "vllm-project/vllm#50399"),
    explains=("PD301", "PD302", "PD320"),
    fixes=(RequestFix(f"repetition_penalty: {_PENALTY}", setting(repetition_penalty=_PENALTY)),),
)
