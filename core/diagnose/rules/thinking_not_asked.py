"""A reasoning parser runs, and nothing switches on the thinking that its models do only when asked.

What it finds:
    A server with a reasoning parser for models whose template thinks only on request
    (Gemma 4, DeepSeek-V3.1 and V3.2), where neither its flags nor the request set the switch. A
    note: whoever wants no thoughts needs none. Nothing is reported where the prompt is known,
    or where the answer contains reasoning.

Why it matters:
    `reasoning` stays empty in every answer, which looks like a parser that does not work.

Bad:
    `--reasoning-parser gemma4` and a request without `chat_template_kwargs`

Good:
    `"chat_template_kwargs": {"enable_thinking": true}`

Source:
    tracker: open-webui/open-webui#24697. derived: the templates of these models.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import body_of, content_of, reasoning_of
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, opens_with_thought, prompt_of

# Of vLLM and SGLang: reasoning parser → the template kwarg without which its models do not think.
_SWITCHES: Mapping[str, str] = {"gemma4": "enable_thinking", "deepseek_v3": "thinking", "deepseek-v3": "thinking"}
_OF_REQUEST = frozenset({"enable_thinking", "thinking", "reasoning", "reasoning_effort", "think"})


def find(trace: Trace) -> Iterator[Report]:
    """Report the switch that is missing."""
    server = trace.server
    switch = None if server is None else _SWITCHES.get(server.reasoning_parser or "")
    if server is None or switch is None or prompt_of(trace) is not None or trace.raw is not None:
        return
    if trace.refusal is not None:  # the parser may be another model's, and what failed comes first
        return
    body = body_of(trace)
    given = {*body, *as_object(body.get("chat_template_kwargs")), *server.default_template_kwargs}
    if not given.isdisjoint(_OF_REQUEST) or _has_thought(trace):
        return
    written = f'{{"{switch}": true}}'
    step = Step(
        f'Where thoughts are wanted, send `"chat_template_kwargs": {written}`; vLLM sets it for all requests with '
        f"`--default-chat-template-kwargs '{written}'`.",
        request={f"chat_template_kwargs.{switch}": True},
    )
    asked = "neither the request nor the server's flags set it" if body else "the server's flags do not set it"
    yield Report(
        title=f"The model thinks only where `{switch}` asks for it.",
        detail=f"The reasoning parser is `{server.reasoning_parser}`; the templates of its models leave thinking off "
        f"unless `{switch}` is true, and {asked}.",
        evidence=(FindingEvidence("server", quote=f"--reasoning-parser {server.reasoning_parser}"),),
        fix=(step,),
        certainty=Certainty.INFERRED,
    )


def _has_thought(trace: Trace) -> bool:
    answers = [one.message for one in (trace.chat, trace.chat_stream) if one is not None]
    return any(
        ((found := reasoning_of(message)) is not None and found.text.strip())
        or opens_with_thought(content_of(message) or "") is not None
        for message in answers
    )


RULE: Rule = TraceRule(
    code="PD236",
    name="thinking-not-asked",
    severity=Severity.NOTE,
    stage=Stage.RENDER,
    find=find,
    needs=TracePart.SERVER,
    threads=("open-webui/open-webui#24697",),
)
