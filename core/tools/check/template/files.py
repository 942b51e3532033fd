"""A template against the files beside it: end tokens that servers stop at, further named templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import Finding, JSONObject, Severity
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.check.answers import TOOLS, USER_WORDS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.finding import found, shown
from prompt_debugger.core.tools.check.template.places import first_mention, line_in_render, line_mark


def file_findings(model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None = None) -> Iterator[Finding]:
    """Report where template and files do not agree."""
    yield from _ends(model, ideals)
    yield from _variants(model, renderer)


def _ends(model: CheckedModel, ideals: Sequence[Ideal]) -> Iterator[Finding]:
    """Report an end of turn at which no server stops by itself."""
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
    """Report named templates that render the same request otherwise."""
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
