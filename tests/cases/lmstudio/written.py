"""LM Studio's notation: a JSON object between two bracketed markers."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, chatml, dumps


def render(reasoning, content, calls):
    parts = [f'[TOOL_REQUEST]{{"name": {dumps(n)}, "arguments": {dumps(a)}}}[END_TOOL_REQUEST]' for n, a in calls]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts)


RENDERER = Renderer(render)
