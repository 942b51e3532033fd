"""A server that shows nothing but the OpenAI endpoints: what every server is until it shows more."""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="openai-compatible", title="An OpenAI-compatible server", marks=Marks(order=90))
