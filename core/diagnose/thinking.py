"""How thinking is switched off: by which template kwarg, as far as template and parser tell."""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from core.diagnose.advice import Step
from core.diagnose.sight import prompt_of
from core.formats import TABLES
from core.types import JSON, Trace


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
    read = (switch for switch in TABLES.switches if re.search(rf"\b{switch.name}\b", template))
    switch = next(read, None) or TABLES.switch_by_parser.get(parser or "", TABLES.switches[0])
    return Switch(switch.name, switch.off)


def think_less(switch: Switch, more: str = "") -> Step:
    """Return the step that switches thinking off by a template kwarg; `more` ends its sentence."""
    text = f'Send `"chat_template_kwargs": {{{switch.written}}}`{more}.'
    return Step(text, request={f"chat_template_kwargs.{switch.name}": switch.off})
