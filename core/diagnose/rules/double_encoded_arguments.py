r"""Tool call arguments are JSON inside a JSON string.

What it finds:
    Returned arguments that decode to a string which is itself a JSON object,
    or that would if they were enclosed in quotation marks.

Why it matters:
    A client decodes once, as the protocol says, and gets a string where it
    expects an object; sent back in the history it becomes `{}`.

Bad:
    `"arguments": "\"{\\\"city\\\": \\\"Paris\\\"}\""`

Good:
    `"arguments": "{\"city\": \"Paris\"}"`

Source:
    tracker: vllm-project/vllm#25729, vllm-project/vllm#54964.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text, decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import Break, broken_calls
from prompt_debugger.core.diagnose.fields import returned_calls
from prompt_debugger.core.diagnose.fixes import ClientFix
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message


def find(trace: Trace) -> Iterator[Report]:
    """Report returned arguments that are encoded twice."""
    for call in returned_calls(trace):
        once = decode_json(as_text(call.arguments) or "")
        if not isinstance(once, str) or not isinstance(decode_json(once), dict):
            continue
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"The arguments of the call to `{call.name}` are encoded twice.",
            detail=f"{field} decodes to the string {once[:80]!r}, which is itself JSON.",
            evidence=(in_message(field, as_text(call.arguments)),),
            fix="Decode once more; the parser should pass on a string that is already JSON.",
        )
    for call, text, fault in broken_calls(trace, Break.ESCAPED):
        field = f"{call.field}.function.arguments"
        yield Report(
            title=f"The arguments of the call to `{call.name}` are escaped twice.",
            detail=f"`{field}` is {text[:120]!r}: {fault.words}.",
            evidence=(in_message(field, text),),
            fix="Put quotation marks around the text, then decode it twice; the server should encode arguments once.",
        )


_DECODE = '''\
import json


def fix(message):
    """Decode arguments once more that were encoded twice."""
    for call in message.get("tool_calls") or ():
        value = json.loads(call["function"]["arguments"])
        if isinstance(value, str):
            call["function"]["arguments"] = value
    return message
'''


RULE: Rule = TraceRule(
    code="PD415",
    name="double-encoded-arguments",
    severity=Severity.ERROR,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#25729", "vllm-project/vllm#54964"),
    explains=("PD502",),
    fixes=(ClientFix("arguments decoded once more", _DECODE),),
)
