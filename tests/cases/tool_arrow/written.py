"""The call as plain text with arrows, one argument a line."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, chatml, dumps


def render(reasoning, content, calls):
    parts = [
        f'[TOOL_CALL]\n{{tool => "{name}", args => {{\n'
        + "".join(f"  --{key} {dumps(value)}\n" for key, value in arguments.items())
        + "}}\n[/TOOL_CALL]"
        for name, arguments in calls
    ]
    return chatml(reasoning) + "\n".join([content, *parts] if content or not parts else parts)


RENDERER = Renderer(render)
