"""Rapid-MLX: a server over MLX for Apple's processors; whole answers list their tokens, streams do not.

Source: Rapid-MLX 0.16.10 with the lab model, run 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="rapid-mlx", title="Rapid-MLX", marks=Marks(owners=("rapid-mlx",), believed_with=""))
