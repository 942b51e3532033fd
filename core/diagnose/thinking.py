"""How thinking is switched off: by which template kwarg, as far as template and parser tell."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.core.diagnose.advice import Step
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
    prompt = prompt_of(trace)
    template = "" if prompt is None or prompt.template is None else prompt.template
    parser = None if trace.server is None else trace.server.reasoning_parser
    family = None if trace.parse is None else FORMATS.get(trace.parse.parsed.format)
    told = TABLES.switch_by_parser.get(parser or "")
    usual = TABLES.switches[:2]  # the others are words that templates use in other senses, too
    likely = [*([told] if told else ()), *(family.facts.switches if family else ()), *usual]
    switch = next((one for one in likely if re.search(rf"\b{one.name}\b", template)), likely[0])
    return Switch(switch.name, switch.off)


def think_less(switch: Switch, more: str = "") -> Step:
    """Return the step that switches thinking off by a template kwarg; `more` ends its sentence."""
    text = f'Send `"chat_template_kwargs": {{{switch.written}}}`{more}.'
    return Step(text, request={f"chat_template_kwargs.{switch.name}": switch.off})
