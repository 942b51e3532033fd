"""A message has a role that the chat template never names.

What it finds:
    A role other than `system`, `developer`, `user`, `assistant`, `tool` and `function` that
    the template in use does not contain as text, so that it can only print it unchanged, or
    skip the message. Silent without the template, and for a role that the template names,
    such as `ipython` of Llama 3.

Why it matters:
    Templates treat a message with an unknown role like any other turn, or leave it out; the
    model never learned what that turn means. Servers accept it with status 200.

Bad:
    `{"role": "usr", "content": "hi"}`

Good:
    `{"role": "user", "content": "hi"}`

Source:
    publisher: the roles of chat completions, and the templates that models come with.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import as_text
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.fields import numbered_messages
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, in_request

_KNOWN = ("system", "developer", "user", "assistant", "tool", "function")
_MAX_ROLES = 5


def find(trace: Trace) -> Iterator[Report]:
    """Report each role once, at the first message that has it."""
    prompts = (trace.prompt, trace.local_prompt)
    template = next((prompt.template for prompt in prompts if prompt is not None and prompt.template), None)
    if template is None:
        return
    reported: set[str] = set()
    for index, message in numbered_messages(trace.request):
        role = as_text(message.get("role"))
        if role is None or role in _KNOWN or role in reported or _names(template, role):
            continue
        reported.add(role)
        if len(reported) > _MAX_ROLES:
            return
        yield _report(index, role)


def _names(template: str, role: str) -> bool:
    return f"'{role}'" in template or f'"{role}"' in template


def _report(index: int, role: str) -> Report:
    close = difflib.get_close_matches(role.lower(), _KNOWN, n=1, cutoff=0.6)
    instead = f"`{close[0]}`" if close else "a role that the template names"
    return Report(
        title=f"The chat template does not name the role `{role[:60]}`.",
        detail=f"messages[{index}] has it; the template can only print it unchanged, or leave the message out.",
        evidence=(in_request(f"messages[{index}].role", role),),
        fix=f"Write {instead}.",
    )


RULE: Rule = TraceRule(
    code="PD109",
    name="unknown-role",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    needs=TracePart.PROMPT,
)
