"""The call as plain text, its arguments as JSON."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, chatml, dumps


def render(reasoning, content, calls):
    parts = [f"[Calling tool: {n}({dumps(a)})]" for n, a in calls]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts)


RENDERER = Renderer(render)
