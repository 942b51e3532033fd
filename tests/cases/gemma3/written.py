"""Gemma 3 writes Python calls in a block, one a line."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer


def render(reasoning, content, calls):
    lines = [f"{name}({', '.join(f'{key}={value!r}' for key, value in given.items())})" for name, given in calls]
    block = "```tool_code\n" + "\n".join(lines) + "\n```" if lines else ""
    return "\n".join(filter(None, (content, block))) + "<end_of_turn>"


RENDERER = Renderer(render, has_reasoning=False)
