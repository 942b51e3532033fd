"""UI-TARS writes Python calls behind `Action:`, an empty line between two."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, python_call


def render(reasoning, content, calls):
    actions = "\n\n".join(python_call(*call) for call in calls)
    parts = [content, f"Action: {actions}" if calls else ""]
    return "\n".join(filter(None, parts)) + "<|im_end|>"


RENDERER = Renderer(render, has_reasoning=False)
