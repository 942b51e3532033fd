"""The place in a template that a finding is about, as the finding says it and SARIF reads it."""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Finding, JSONObject, Prompt
from prompt_debugger.core.render.local import Renderer, render_local
from prompt_debugger.core.tools.check.model import CheckedModel


def first_mention(template: str, *names: str) -> str:
    """Return a sentence that says in which line a template first mentions something, or that it does nowhere.

    >>> first_mention("{{ m.content }}", "content")
    'The first mention of `content` is in template line 1.'
    >>> first_mention("{{ m.content }}", "tool_calls", "function_call")
    'The template does not mention `tool_calls`.'
    """
    for name in names:
        found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", template)
        if found is not None:
            line = template.count("\n", 0, found.start()) + 1
            return f"The first mention of `{name}` is in template line {line}."
    return f"The template does not mention `{names[0]}`."


def line_of_character(prompt: Prompt, at: int) -> int | None:
    """Return the template's line that wrote a character of a prompt, `None` where that is not known."""
    return next((one.template_line for one in prompt.spans if one.char_span.start <= at < one.char_span.stop), None)


def line_in_render(
    model: CheckedModel,
    body: JSONObject,
    at: int,
    renderer: Renderer | None,
    *,
    add_generation_prompt: bool | None = None,
) -> int | None:
    """Return the template's line that writes a character of the prompt of a request, `None` where that is not known."""
    try:
        prompt = render_local(
            body,
            template=model.template,
            special_tokens=model.special_tokens,
            add_generation_prompt=add_generation_prompt,
            renderer=renderer,
        )
    except RenderError:
        return None
    return line_of_character(prompt, at)


def add_line(finding: Finding, prompt: Prompt) -> Finding:
    """Return a finding that says which line of the template wrote the first place of the prompt that it points at."""
    for one in finding.evidence:
        if one.where == "prompt" and one.char_span is not None:
            line = line_of_character(prompt, one.char_span.start)
            detail, stop = finding.detail.removesuffix("."), "." * finding.detail.endswith(".")
            return finding if line is None else replace(finding, detail=f"{detail}{line_mark(line)}{stop}")
    return finding


def line_mark(line: int | None) -> str:
    """Return how a sentence names a line of the template, "" if it is not known."""
    return "" if line is None else f" (template line {line})"
