"""The request ends with an assistant message, and does not say whether it is to be continued.

What it finds:
    A last message with the role `assistant`, without `continue_final_message`; or
    both `continue_final_message` and `add_generation_prompt` set to true, which
    exclude each other. A conversation without `model` and with a column of data sets
    next to it is named as a row of training data.

Why it matters:
    By default vLLM and transformers close that message and open another turn: the model
    starts over instead of continuing the text that it was given. Other servers continue
    it, or refuse the request. With both set, vLLM and
    transformers refuse the request.

Bad:
    `{"messages": [… {"role": "assistant", "content": "{"}]}`

Good:
    The same with `"continue_final_message": true, "add_generation_prompt": false`

Source:
    publisher: transformers' and vLLM's documentation of `continue_final_message`.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.comparable import REQUEST_GAP
from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import columns_of_row
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request, is_kept_conversation

_CLOSED = "messages[{}] is closed by the template and a new assistant turn is opened: the text is not continued."
_MAY_CONTINUE = (
    "vLLM and transformers close messages[{}] and open a new assistant turn; llama.cpp, Ollama and some APIs continue "
    "its text; others refuse the request."
)


def find(trace: Trace) -> Iterator[Report]:
    """Look at the last message and at the two fields."""
    body = trace.request.body
    goes_on, opens = body.get("continue_final_message"), body.get("add_generation_prompt")
    if goes_on is True and opens is True:
        yield Report(
            title="`continue_final_message` and `add_generation_prompt` are both true, and exclude each other.",
            detail=(
                "The first continues the last message, the second opens a new turn after it; vLLM and "
                "transformers refuse a request with both."
            ),
            evidence=(in_request("continue_final_message", "true"), in_request("add_generation_prompt", "true")),
            fix="Set `add_generation_prompt` to false to have the last message continued.",
            severity=Severity.WARNING,
        )
    last = trace.request.messages[-1] if trace.request.messages else {}
    if last.get("role") != "assistant" or last.get("tool_calls") or goes_on is True or opens is False:
        return
    if is_kept_conversation(trace) or REQUEST_GAP in trace.notes:
        return
    if not (as_text(last.get("content")) or "").strip():
        return
    index = len(trace.request.messages) - 1
    if columns := columns_of_row(trace.request):
        yield Report(
            title="The messages are a finished conversation, as in a row of training data, and not a request.",
            detail=f"The last of them is the assistant's turn, there is no `model`, and `{columns[0]}` is a column of "
            "data sets. Read as a request, it would ask for one turn more.",
            evidence=(in_request(f"messages[{index}].role", "assistant"),),
            fix=f"To ask a model for this turn, send the messages without messages[{index}] and the other columns.",
        )
        return
    server = trace.server
    yield Report(
        title="The request ends with an assistant message, and does not say whether it is to be continued.",
        detail=(
            (_CLOSED if server is not None and server.kind == "vllm" else _MAY_CONTINUE).format(index)
            + " If the messages are a finished conversation, nothing is wrong."
        ),
        evidence=(in_request(f"messages[{index}].role", "assistant"),),
        fix=(
            Step(
                "To have it continued by vLLM or SGLang, send `continue_final_message: true` with "
                "`add_generation_prompt: false`; if not, end with a user message or a tool result.",
                {"continue_final_message": True, "add_generation_prompt": False},
            ),
        ),
    )


RULE: Rule = TraceRule(
    code="PD124",
    name="prefilled-turn",
    severity=Severity.NOTE,
    stage=Stage.REQUEST,
    find=find,
)
