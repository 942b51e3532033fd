"""What a template does to what clients send: dropped silently, or refused in a form that some engines hand over.

All of it is seen by the probes already; here is what of it is a defect, and for whom.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.types import Finding, Severity
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.probes import Change, ProbeAnswer, Support
from prompt_debugger.core.render.server import template_facts
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.finding import found
from prompt_debugger.core.tools.check.template.places import first_mention, line_mark


def input_findings(
    model: CheckedModel, ideals: Sequence[Ideal], probes: Sequence[ProbeAnswer], renderer: Renderer | None = None
) -> Iterator[Finding]:
    """Report what of a request is lost or refused."""
    by_name = {one.name: one for one in probes}
    has_calls = any(one.answer.name == SIMPLEST_CALL and one.is_whole for one in ideals)
    yield from _dropped(model, by_name, has_calls=has_calls, renderer=renderer)
    if has_calls:
        yield from _arguments(model, by_name)
    yield from _bos(model, by_name)


def _dropped(
    model: CheckedModel, probes: Mapping[str, ProbeAnswer], *, has_calls: bool, renderer: Renderer | None
) -> Iterator[Finding]:
    """Report messages that leave no trace in the prompt."""
    parts = probes.get("content-parts")
    if _is_lost(parts):
        assert parts is not None
        goes_through = template_facts(model.template, renderer).content_format == "openai"
        whom = (
            "vLLM passes it lists, because it iterates over them"
            if goes_through
            else "vLLM joins them into one string first"
        )
        severity = Severity.WARNING if goes_through else Severity.NOTE
        place = first_mention(model.template, "content")
        detail = f"{parts.detail} {whom}. {place}"
        yield _lost("Part of content given as a list of texts is not printed.", detail, severity)
    system = probes.get("system-role")
    if _is_lost(system):
        assert system is not None
        place = first_mention(model.template, '"system"', "'system'")
        yield _lost("A system message is not printed.", f"{system.detail} {place}", Severity.WARNING)
    results = probes.get("tool-results")
    if has_calls and _is_lost(results):
        assert results is not None
        place = first_mention(model.template, '"tool"', "'tool'")
        yield _lost("What a tool returned is not printed.", f"{results.detail} {place}", Severity.ERROR)


def _is_lost(probe: ProbeAnswer | None) -> bool:
    if probe is None:
        return False
    return probe.support is Support.IGNORED or probe.change is Change.PART_LOST


def _lost(title: str, detail: str, severity: Severity) -> Finding:
    return found(
        "input-not-printed", severity, title, detail, fix="Let the template print it, or refuse it with a reason."
    )


def _arguments(model: CheckedModel, probes: Mapping[str, ProbeAnswer]) -> Iterator[Finding]:
    """Report a form of the arguments of earlier calls for which a template fails."""
    for name, form, severity, authors in (
        ("object-arguments", "an object", Severity.ERROR, "vLLM always passes them this way."),
        (
            "text-arguments",
            "text",
            Severity.NOTE,
            "vLLM decodes this text before the template sees it; transformers does not.",
        ),
    ):
        probe = probes.get(name)
        if probe is not None and probe.change is Change.AS_PYTHON:
            yield found(
                "arguments-as-python",
                Severity.ERROR,
                "The template prints the arguments of earlier calls as a Python repr.",
                f"{probe.detail.rstrip('.')}. The model learns to write what no JSON parser reads. "
                f"{first_mention(model.template, 'arguments')}",
                quote=probe.quote,
                fix="Print them with `| tojson`.",
            )
        if probe is not None and probe.support is Support.REFUSED:
            yield found(
                "arguments-refused",
                severity,
                f"The template fails for the arguments of an earlier call as {form}.",
                f"{probe.fault.rstrip('.')}{line_mark(probe.template_line)}. {authors}",
                fix="Let the template accept both: test the arguments with `is string`.",
            )


def _bos(model: CheckedModel, probes: Mapping[str, ProbeAnswer]) -> Iterator[Finding]:
    """Report a BOS that is in the text and is added once more by anyone who tokenizes with special tokens."""
    vocabulary = None if model.tokenizer is None else model.tokenizer.vocabulary
    printed = probes.get("prints-bos")
    if vocabulary is None or not vocabulary.adds_bos or printed is None or printed.support is not Support.SUPPORTED:
        return
    yield found(
        "bos-added-to-text",
        Severity.NOTE,
        "The template writes BOS, and the tokenizer adds another to the text.",
        "vLLM's chat endpoint does not add it. Its `/v1/completions` adds it to the rendered text unless "
        "`add_special_tokens` is false, and so do scripts that render to text and tokenize it. "
        f"{first_mention(model.template, 'bos_token')}",
        fix="Send token ids, or tokenize the rendered text without special tokens.",
    )
