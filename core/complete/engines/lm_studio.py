"""LM Studio: its list of models has a word for the owner that others copied, so its own list is asked, too.

    GET /api/v0/models   data: [{id, type, publisher, arch, compatibility_type, quantization, state, …}]

Source: LM Studio's documentation of both lists, read 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(
    kind="lm-studio",
    title="LM Studio",
    marks=Marks(owners=("organization_owner",), believed_with="/api/v0/models"),
)
