"""Functionary v2: each message names its recipient in special tokens."""

from __future__ import annotations

from tests.core.formats.renderers import Renderer, dumps


def render(reasoning, content, calls):
    messages = [("all", content)] if content or not calls else []
    messages += [(name, dumps(arguments)) for name, arguments in calls]
    parts = [f"<|recipient|>{name}\n<|content|>{text}" for name, text in messages]
    return "\n<|from|>assistant\n".join(parts) + "<|stop|>"


RENDERER = Renderer(render, has_reasoning=False)
