"""vllm-mlx: vLLM's flags over MLX, for Apple's processors; asked for a stream, its parser `kimi` reads no call.

Source: vllm-mlx 0.6.0 with the lab model, run 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="vllm-mlx", title="vllm-mlx", marks=Marks(owners=("vllm-mlx",), believed_with=""))
