"""A forced tool choice was not honoured.

What it finds:
    `tool_choice: "required"` and an answer without a call, or a named tool and
    an answer without a call to it. Silent for an answer that was cut.

Why it matters:
    The caller has no branch for prose; code that takes the first call fails.

Bad:
    `"tool_choice": "required"`, message `{"content": "Sure!", "tool_calls": []}`

Good:
    At least one call.

Source:
    tracker: vllm-project/vllm#53363, vllm-project/vllm#53255, ollama/ollama#14958.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_object, as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import body_of, returned_calls
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_message, in_request, why_cut

_NAMED = (
    Step(
        'Offer only that tool, with `tool_choice: "required"`: not every server supports a named choice.',
        {"tool_choice": "required"},
    ),
    Step(
        "Ask for the call in the prompt. A tool's `strict` flag constrains the arguments to the schema; it "
        "does not make the model call."
    ),
)
_REQUIRED = (
    "Check that the server can force a call with its tool parser and this model. If it cannot, do not "
    "force a tool, and ask for the call in the prompt."
)
# An item of the Responses API for the call of a tool that is no function: `apply_patch_call`, `web_search_call`.
_OTHER_CALL = re.compile(r'(?<!\\)"type"\s{0,4}:\s{0,4}"(?!function_call"|custom_tool_call")[a-z_]{1,40}_call"')


def find(trace: Trace) -> Iterator[Report]:
    """Compare the calls of the answer with the forced choice."""
    choice = body_of(trace).get("tool_choice")
    named = as_text(as_object(as_object(choice).get("function")).get("name"))
    if trace.chat is None or trace.chat.error or (choice != "required" and named is None):
        return
    names = [call.name for call in returned_calls(trace)]
    if (names and named is None) or named in names:
        return
    if why_cut(trace) is not None or (named is None and _OTHER_CALL.search(trace.chat.body) is not None):
        return
    wanted = f"a call to `{named}`" if named else "a tool call"
    yield Report(
        title=f"The request requires {wanted}, and the answer contains {'another one' if names else 'none'}.",
        detail=f"`tool_choice` is {choice!r}; returned: {', '.join(str(name) for name in names) or 'no call'}.",
        evidence=(in_request("tool_choice", str(named or choice)), in_message("tool_calls")),
        fix=_NAMED if named else _REQUIRED,
    )


RULE: Rule = TraceRule(
    code="PD504",
    name="forced-choice-ignored",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#53363", "vllm-project/vllm#53255", "ollama/ollama#14958"),
)
