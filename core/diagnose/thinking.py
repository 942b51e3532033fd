"""How thinking is switched off: by which template kwarg, as far as template and parser show."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.fields import body_of
from prompt_debugger.core.diagnose.thought_switches import FLAGS_OF_KWARGS, TAKE_KWARGS, is_ollamas_own, own_switch
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.formats import FORMATS, TABLES


class Switch(NamedTuple):
    """A template kwarg, and the value that turns thinking off."""

    name: str
    off: JSON

    @property
    def written(self) -> str:
        """Both as JSON, without braces."""
        return f"{json.dumps(self.name)}: {json.dumps(self.off)}"


def thinking_switch(trace: Trace) -> Switch:
    """Return what turns thinking off for this model: what its template reads, or the parser's family, or a guess."""
    if thinks_by_effort(trace):
        return Switch(_EFFORT, "low")
    if is_ollamas_v1(trace):
        return Switch(_EFFORT, "none")
    prompt = prompt_of(trace)
    template = "" if prompt is None or prompt.template is None else prompt.template
    parser = trace.reasoning_parser
    family = None if trace.parse is None else FORMATS.get(trace.parse.parsed.format)
    reported = TABLES.switch_by_parser.get(parser or "")
    usual = TABLES.switches[:2]  # the others are words that templates use in other senses, too
    likely = [*([reported] if reported else ()), *(family.facts.switches if family else ()), *usual]
    switch = next((one for one in likely if re.search(rf"\b{one.name}\b", template)), likely[0])
    return Switch(switch.name, switch.off)


_EFFORT = "reasoning_effort"


def thinks_by_effort(trace: Trace) -> bool:
    """Return whether a model is a gpt-oss, which always thinks: more or less, by the request's `reasoning_effort`."""
    is_read = trace.parse is not None and trace.parse.parsed.format == "harmony"
    return is_read or any("gpt-oss" in name.lower() for name in model_names(trace))


def is_ollamas_v1(trace: Trace) -> bool:
    """Return whether Ollama answered at `/v1`: there it reads neither template kwargs nor `think` (ollama#14820)."""
    return trace.server_kind == "ollama" and not is_ollamas_own(trace.chat)


_SWITCHES = frozenset(switch.name for switch in TABLES.switches)
_OFF = ("none", "off", "disabled")


def switched_off(trace: Trace) -> str | None:
    """Return the path of the request's field that switches thinking off; `None` if none does."""
    body = body_of(trace)
    kwargs = as_object(body.get("chat_template_kwargs"))
    named = next((name for name, value in kwargs.items() if name in _SWITCHES and value is False), None)
    if named is not None:
        return f"chat_template_kwargs.{named}"
    if body.get("think") is False or body.get("enable_thinking") is False:
        return "think" if body.get("think") is False else "enable_thinking"
    if as_object(body.get("thinking")).get("type") in _OFF:
        return "thinking.type"
    if as_object(body.get("reasoning")).get("enabled") is False:
        return "reasoning.enabled"
    return "reasoning_effort" if body.get("reasoning_effort") in _OFF else None


def think_less(trace: Trace, more: str = "") -> Step:
    """Return the step that has the model think less, or not at all, by what this server or API reads.

    Args:
        trace: The run.
        more: How the sentence ends that has the template's switch sent.
    """
    own = own_switch(trace, by_effort=thinks_by_effort(trace))
    if own is not None:
        return own
    switch = thinking_switch(trace)
    if switch.name == _EFFORT:
        text = f"Send `{switch.written}`: this model always thinks, and this makes it think less."
        return Step(text, request={_EFFORT: switch.off})
    known = "" if trace.server_kind in TAKE_KWARGS else ": vLLM, SGLang and llama.cpp read it"
    text = f'Send `"chat_template_kwargs": {{{switch.written}}}`{more}{known}.'
    return Step(text, request={f"chat_template_kwargs.{switch.name}": switch.off})


def at_start(trace: Trace, switch: Switch) -> str:
    """Return how a server is started so that its template has the switch, a clause; "" where no flag is known."""
    flag = FLAGS_OF_KWARGS.get(trace.server_kind)
    if flag is None and trace.server_kind not in TAKE_KWARGS:
        return f", or start vLLM with `{FLAGS_OF_KWARGS['vllm']} '{{{switch.written}}}'`"
    return "" if flag is None else f", or start the server with `{flag} '{{{switch.written}}}'`"
