"""The arguments of a returned call are not the text of a JSON object, or the calls are no list.

What it finds:
    `tool_calls` that is a string or an object instead of a list, or a list of strings.
    In the message, no matter what is known of the raw output: arguments that are an object
    or a list instead of a string. If the raw output is not known: text that is not a JSON
    object in a way that no other rule covers. Arguments that are cut, empty, printed as
    Python, joined, wrapped, escaped twice or contain markup have separate rules.

Why it matters:
    Clients decode `arguments` with a JSON parser: an object breaks typed clients, truncated
    text raises far from the cause.

Bad:
    `"arguments": {"city": "Paris"}`, or the text `city=Paris`

Good:
    `"arguments": '{"city": "Paris"}'`, a text

Source:
    publisher: `function.arguments` of chat completions is a string of JSON; tracker:
    ollama/ollama#17914.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.comparable import is_partial
from prompt_debugger.core.base.json_values import text_or_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import JSON, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.fields import CallField, form_of_odd_calls, returned_calls
from prompt_debugger.core.diagnose.fixes import ClientFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, comparison, in_message, is_kept_conversation

# Words, and no part of JSON.
_PROSE = re.compile(
    r"\s{0,20}(?!(?:null|true|false)\b)[^\W\d_](?=.{0,200}(?:\s\w|[^\x00-\x7f]))[^{}\[\]<>\"=:]{0,4000}"
)
_NAME = re.compile(r"[a-zA-Z_][\w.-]{0,63}")


def find(trace: Trace) -> Iterator[Report]:
    """Look at the arguments of every call of the answer."""
    is_part = is_partial(trace)  # only what is there counts: an object where a text belongs
    for call in returned_calls(trace):
        if not call.has_function and not is_part:
            yield _no_function(call)
        elif call.has_function and isinstance(call.arguments, dict | list) and not _is_for_template(trace, call):
            yield _no_text(call)
    for result in (trace.chat, trace.chat_stream):
        form = None if result is None or result.error else form_of_odd_calls(result.message)
        if result is not None and form is not None and _names_a_call(result.message["tool_calls"]):
            yield _no_list(form, result.message["tool_calls"])
            break
    if comparison(trace) is None and not is_part:
        for call, text, fault in broken_calls(trace, Break.NO_OBJECT, Break.OTHER, Break.BEHEADED):
            if fault.kind is Break.BEHEADED:
                yield _no_beginning(trace, call, text)
            else:
                yield _no_json(call, text, fault.words)


def _is_for_template(trace: Trace, call: CallField) -> bool:
    """Return whether a call is of a conversation as transformers' templates take it: an object, without an id."""
    chat = trace.chat
    is_kept = is_kept_conversation(trace) and chat is not None and not chat.body and bool(trace.request.messages)
    return is_kept and call.id is None


def _names_a_call(calls: JSON) -> bool:
    """Return whether calls are there, not dots or words in place of what someone left out."""
    if isinstance(calls, list):
        return all(isinstance(call, str) and _NAME.fullmatch(call) for call in calls)
    return isinstance(calls, dict) or (isinstance(calls, str) and '"name"' in calls)


def _no_list(form: str, calls: JSON) -> Report:
    return Report(
        title=f"`tool_calls` of the message is {form}, where a list of calls belongs.",
        detail="Clients read a list of objects there: they find no call, or fail.",
        evidence=(in_message("tool_calls", text_or_json(calls)),),
        fix="Find out what wrote the message: a server, a gateway or one's own code that saved it encoded once too "
        'often. It must be a list such as `[{"id": …, "type": "function", "function": {…}}]`.',
    )


def _no_function(call: CallField) -> Report:
    named = f"The call to `{call.name}`" if call.name else "A call"
    return Report(
        title=f"{named} has no `function`, which contains name and arguments.",
        detail=f"`{call.field}` is in the form of another API: clients look for `{call.field}.function.name`.",
        evidence=(in_message(call.field),),
        fix="Use the server's OpenAI-compatible route, or move name and arguments into `function`, the arguments as a "
        "string of JSON.",
    )


def _no_text(call: CallField) -> Report:
    kind = "an object" if isinstance(call.arguments, dict) else "a list"
    return Report(
        title=f"The arguments of the call to `{call.name}` are {kind}, not a string.",
        detail=f"`{call.field}.function.arguments` must be a string that contains JSON.",
        evidence=(in_message(f"{call.field}.function.arguments", json.dumps(call.arguments, ensure_ascii=False)),),
        fix="Encode them before a typed client reads the answer, or have the server send a string.",
    )


def _no_json(call: CallField, arguments: str, words: str) -> Report:
    if _PROSE.fullmatch(arguments):
        return Report(
            title=f"The arguments of the call to `{call.name}` are prose, not JSON.",
            detail=f"They are {arguments[:120]!r}. Where `tool_choice` names a tool or is `required`, a server may "
            "hand on whatever the model writes as the arguments of that call; nothing constrained it to JSON here.",
            evidence=(in_message(f"{call.field}.function.arguments", arguments),),
            fix="Do not execute this call. Ask with `tool_choice` as `auto`, so that the model's own notation is read; "
            "for a forced call use a release of the server that constrains it to the tool's schema.",
        )
    return Report(
        title=f"The arguments of the call to `{call.name}` are not a JSON object.",
        detail=f"They are {arguments[:120]!r}: {words}. What the model wrote is unknown.",
        evidence=(in_message(f"{call.field}.function.arguments", arguments),),
        fix="Do not execute this call. Check the raw output, which shows whether the model or the parser broke them.",
    )


def _no_beginning(trace: Trace, call: CallField, arguments: str) -> Report:
    where = " of the stream" if trace.chat_stream is not None else ""
    return Report(
        title=f"The beginning of the arguments of the call to `{call.name}` is missing.",
        detail=f"They are {arguments[:120]!r}, the rest of a JSON object: the first piece{where} with arguments was "
        "lost, most likely the one in which the call's name came, or a gateway left it out.",
        evidence=(in_message(f"{call.field}.function.arguments", arguments),),
        fix="Do not execute this call. Ask without streaming: if the arguments are complete then, what wrote the "
        "stream lost their beginning; run a current release of it, and until then do not stream calls.",
        stage=Stage.PARSE if trace.chat_stream is not None else None,
    )


_ENCODE = '''\
import json


def fix(message):
    """Encode arguments that came as an object."""
    for call in message.get("tool_calls") or ():
        if not isinstance(call["function"]["arguments"], str):
            call["function"]["arguments"] = json.dumps(call["function"]["arguments"], ensure_ascii=False)
    return message
'''


RULE: Rule = TraceRule(
    code="PD506",
    name="returned-arguments",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    stands_in_part=True,
    threads=("ollama/ollama#17914",),
    fixes=(ClientFix("arguments encoded as text", _ENCODE),),
)
