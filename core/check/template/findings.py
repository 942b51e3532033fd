"""All that is asked of a template, in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.check.ideal import Ideal
from prompt_debugger.core.check.model import CheckedModel
from prompt_debugger.core.check.template.answers import answer_findings
from prompt_debugger.core.render.probes import ProbeAnswer, Support, probe_template
from prompt_debugger.core.types import Finding, Severity

_WORST = list(Severity)


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What is known of a template.

    Attributes:
        probes: What it supports.
        findings: What is wrong with it, worst first.
    """

    probes: tuple[ProbeAnswer, ...] = ()
    findings: tuple[Finding, ...] = field(default=())

    @property
    def supports(self) -> Mapping[str, bool]:
        """By name of the probe, whether it does; what could not be found out is left out."""
        return {one.name: one.support is Support.SUPPORTED for one in self.probes if one.support is not Support.UNKNOWN}


def check_template(model: CheckedModel, ideals: Sequence[Ideal]) -> TemplateCheck:
    """Ask a template everything that takes no parser."""
    probes = probe_template(model.template, special_tokens=model.special_tokens)
    findings = [*answer_findings(ideals)]
    return TemplateCheck(probes, tuple(sorted(findings, key=lambda one: _WORST.index(one.severity))))
