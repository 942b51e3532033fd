"""All that is asked of a template, in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.text import capitalized, first_divergence
from prompt_debugger.core.base.types import Finding, JSONObject, Severity
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.render.probes import ProbeAnswer, Support, probe_template
from prompt_debugger.core.tools.check.answers import TOOLS, USER_WORDS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.answers import answer_findings
from prompt_debugger.core.tools.check.template.behaviour import Behaviour, behaviour_of
from prompt_debugger.core.tools.check.template.finding import found, shown
from prompt_debugger.core.tools.check.template.inputs import input_findings
from prompt_debugger.core.tools.check.template.places import first_mention, line_in_render, line_mark
from prompt_debugger.core.tools.check.template.prompts import forgery, prompt_findings

_WORST = list(Severity)


@dataclass(frozen=True, slots=True)
class TemplateCheck:
    """What is known of a template; `forgery` says whether a marker in someone's text stays text, by whose."""

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
    """Ask a template everything that takes no parser."""
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
        reason = f" {capitalized(error.message).rstrip('.')}{line_mark(error.template_line)}."
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


def file_findings(model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None = None) -> Iterator[Finding]:
    """Report where template and files do not agree."""
    yield from _ends(model, ideals)
    yield from _variants(model, renderer)


def _ends(model: CheckedModel, ideals: Sequence[Ideal]) -> Iterator[Finding]:
    """Report an end of turn at which no server stops unless asked to."""
    if model.tokenizer is None or not (known := model.end_texts):
        return
    text = next((one for one in ideals if one.answer.name == "text" and one.refusal is None), None)
    if text is None or not text.end or text.end in known:
        return
    yield found(
        "end-token-unknown",
        Severity.ERROR,
        f"The template ends the model's turn with {shown(text.end)}, but no file makes generation stop there.",
        "`tokenizer_config.json` and `generation_config.json` end it at "
        f"{', '.join(map(shown, sorted(known)))}: the model keeps generating into the next turn. "
        f"{first_mention(model.template, text.end, 'eos_token')}",
        quote=text.raw[-60:],
        fix=f"Add the id of {text.end!r} to `eos_token_id` of `generation_config.json`, or send it in `stop`.",
    )


def _variants(model: CheckedModel, renderer: Renderer | None) -> Iterator[Finding]:
    """Report named templates that render the same request differently."""
    if model.template_file is not None or len(model.settings.templates) < 2:
        return
    body: JSONObject = {"messages": [{"role": "user", "content": USER_WORDS}], "tools": list(TOOLS)}
    texts: dict[str, str] = {}
    for name, template in model.settings.templates.items():
        try:
            texts[name] = model.renderer(renderer, template)(body)
        except RenderError as error:
            texts[name] = f"({error.message})"
    names = list(texts)
    first = texts[names[0]]
    for name in names[1:]:
        if (at := first_divergence(first, texts[name])) is not None:
            pair = (names[0], name)
            written = model.template in map(model.settings.templates.get, pair)  # else it is about other files
            line = line_in_render(model, body, at, renderer) if written else None
            yield found(
                "variants-differ",
                Severity.NOTE,
                f"The templates `{names[0]}` and `{name}` give different prompts for one request with tools.",
                f"From character {at}{line_mark(line)}: {shown(first[at : at + 60])} and "
                f"{shown(texts[name][at : at + 60])}. Servers use `tool_use` for requests with tools if it exists, and "
                "`default` if not.",
                fix="Choose the right one with `--chat-template`.",
            )
            return
