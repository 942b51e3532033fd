"""GigaChat writes no reasoning and one call."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, dumps


def render(reasoning, content, calls):
    text = "".join(f'<|function_call|>{{"name": {dumps(n)}, "arguments": {dumps(a)}}}' for n, a in calls)
    return content + text + "<|message_sep|>\n\n"


RENDERER = Renderer(render, has_reasoning=False, one_call=True)
