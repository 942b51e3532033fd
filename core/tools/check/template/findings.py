"""All that is asked of a template, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Finding, Severity
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.probes import ProbeAnswer, Support, probe_template
from prompt_debugger.core.tools.check.answers import TOOLS, USER_WORDS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.answers import answer_findings
from prompt_debugger.core.tools.check.template.behaviour import Behaviour, behaviour_of
from prompt_debugger.core.tools.check.template.files import file_findings
from prompt_debugger.core.tools.check.template.finding import found
from prompt_debugger.core.tools.check.template.inputs import input_findings
from prompt_debugger.core.tools.check.template.places import line_mark
from prompt_debugger.core.tools.check.template.prompts import forgery, prompt_findings

_WORST = list(Severity)


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What is known of a template.

    Attributes:
        probes: What it supports.
        findings: What is wrong with it, worst first.
        forgery: Whether a marker in somebody's text stays text, by whose.
        behaviour: What it makes of usual conversations and of tools, for a lock.
    """

    probes: tuple[ProbeAnswer, ...] = ()
    findings: tuple[Finding, ...] = ()
    forgery: Mapping[str, bool] = field(default_factory=dict)
    behaviour: Behaviour = field(default_factory=Behaviour)

    @property
    def supports(self) -> Mapping[str, bool]:
        """By name of the probe, whether it does; what could not be found out is left out."""
        known = [one for one in self.probes if one.support is not Support.UNKNOWN]
        return {**{one.name: one.support is Support.SUPPORTED for one in known}, **self.forgery}


def check_template(
    model: CheckedModel, ideals: Sequence[Ideal], *, has_plain_tools: bool = False, renderer: Renderer | None = None
) -> TemplateCheck:
    """Ask a template everything that takes no parser.

    Args:
        model: The template and its files.
        ideals: What it makes of each answer.
        has_plain_tools: Whether it failed for a parameter of two types.
        renderer: Runs the template; the shared worker process if not given.
    """
    probes = probe_template(model.template, special_tokens=model.special_tokens, renderer=renderer)
    findings = [
        *(_union_types(model, renderer) if has_plain_tools else ()),
        *answer_findings(ideals, model.template),
        *input_findings(model, ideals, probes, renderer),
        *prompt_findings(model, ideals, renderer),
        *file_findings(model, ideals, renderer),
    ]
    by_words = {(one.code, one.title): one for one in findings}
    worst_first = sorted(by_words.values(), key=lambda one: _WORST.index(one.severity))
    behaviour = behaviour_of(model, ideals, has_plain_tools=has_plain_tools, renderer=renderer)
    return TemplateCheck(probes, tuple(worst_first), forgery(model, ideals, renderer), behaviour)


def _union_types(model: CheckedModel, renderer: Renderer | None) -> tuple[Finding, ...]:
    reason = ""
    try:
        model.renderer(renderer)({"messages": [{"role": "user", "content": USER_WORDS}], "tools": list(TOOLS)})
    except RenderError as error:
        reason = f" {error.message[:1].upper()}{error.message[1:].rstrip('.')}{line_mark(error.template_line)}."
    return (
        found(
            "union-types-refused",
            Severity.WARNING,
            "The template fails for tools with a parameter of two types.",
            'A parameter with `"type": ["string", "null"]`, which many clients write for optional '
            f"values, gives no prompt at all; the check continues with tools that have none.{reason}",
            fix="Let the template accept a list of types, or write these parameters with one type.",
        ),
    )
