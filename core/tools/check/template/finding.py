"""How a finding about a template is written; its codes are PD8xx, which no run has."""

from __future__ import annotations

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.types import Certainty, Finding, FindingEvidence, Severity, Stage
from prompt_debugger.core.tools.check.template.catalogue import CODES


def found(name: str, severity: Severity, title: str, detail: str, *, quote: str = "", fix: str = "") -> Finding:
    """Return a finding of one of `TEMPLATE_RULES`; the title is one sentence that can be quoted alone."""
    evidence = (FindingEvidence("prompt", quote=quote[:400]),) if quote else ()
    return Finding(
        CODES[name], name, severity, Stage.RENDER, title, detail, evidence, fix, certainty=Certainty.OBSERVED
    )


def shown(text: str) -> str:
    """Return a text as a finding quotes it."""
    return shorten(text, 120)
