"""Name and arguments in elements, the arguments as JSON."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, chatml, dumps


def render(reasoning, content, calls):
    parts = [f"<function><name>{n}</name><arguments>{dumps(a)}</arguments></function>" for n, a in calls]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts) + "<|im_end|>"


RENDERER = Renderer(render)
