r"""A call of the history has no arguments, and its result says that one is missing.

What it finds:
    A call whose arguments are empty or `{}`, with the result of the same id, or
    the one after it, that says in words that a parameter is required or missing.
    Not a call whose arguments hold anything.

Why it matters:
    The model seldom calls a tool with nothing that it needs. Parsers give back
    `{}` where they find the name of a call and cannot read what follows, and the
    agent asks again and again.

Bad:
    `"arguments": "{}"`, answered by `command is required`

Good:
    `"arguments": "{\\"command\\": \\"ls\\"}"`

Source:
    tracker: vllm-project/vllm-ascend#14731, jjang-ai/vmlx#192.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_list, as_object, as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, JSONObject, Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import body_of, history_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request, quote

_MISSING = re.compile(
    r"\b(?P<a>[A-Za-z_]\w{0,40})[`'\"]? (?:is|are) (?:a )?required\b"
    r"|\b[Mm]issing (?:required |mandatory )?"
    r"(?:parameters?|arguments?|fields?|propert(?:y|ies))?:? ?[`'\"](?P<b>\w{1,40})"
    r"|\brequired (?:property|parameter|argument|field):? [`'\"]?(?P<c>[A-Za-z_]\w{0,40})"
    r"|\b[Mm]issing \d{1,3} required positional arguments?: '(?P<d>\w{1,40})'"
    r"|\bField required\b|\bmust have required property '(?P<e>\w{1,40})'"
)


def find(trace: Trace) -> Iterator[Report]:
    """Report the first such call."""
    messages = [as_object(message) for message in as_list(body_of(trace).get("messages"))]
    for call in history_calls(trace.request):
        if decode_json(as_text(call.arguments) or "{}") != {}:
            continue
        found = next(((at, result) for at, result in _results(messages, call.id) if _MISSING.search(result)), None)
        if found is None:
            continue
        at, result = found
        match = _MISSING.search(result)
        name = "" if match is None else next((group for group in match.groups() if group), "")
        complaint = f"`{name}` is missing" if name else "something is missing"
        yield Report(
            title=f"The call to `{call.name}` went out without arguments, and its tool answers that {complaint}.",
            detail=f"`{call.field}.function.arguments` is {str(call.arguments)[:40]!r}; messages[{at}].content is "
            f"{quote(result, 160)!r}. Parsers return `{{}}` if they read the name of a call but not what follows it; "
            "models rarely write no arguments.",
            evidence=(
                in_request(f"{call.field}.function.arguments", str(call.arguments)),
                in_request(f"messages[{at}].content", result),
            ),
            fix="Get the raw output of that turn (without a tool parser, or from the server's debug log). If it "
            "contains the arguments, the server's parser lost them: use the parser of the model's notation, or a newer "
            "release of it. If not, the model left them out: ask again, and name the parameter in the tool's "
            "description.",
            certainty=Certainty.INFERRED,
        )
        return


def _results(messages: list[JSONObject], call_id: str | None) -> Iterator[tuple[int, str]]:
    """Yield the index and the text of each result of a call; for a call without an id, of every result."""
    for at, message in enumerate(messages):
        is_own = call_id is None or message.get("tool_call_id") in (call_id, None)
        if message.get("role") == "tool" and is_own and isinstance(message.get("content"), str):
            yield at, str(message["content"])[:4_000]


RULE: Rule = TraceRule(
    code="PD137",
    name="arguments-missed-by-tool",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    threads=("vllm-project/vllm-ascend#14731", "jjang-ai/vmlx#192"),
    asks_request_alone=True,
)
