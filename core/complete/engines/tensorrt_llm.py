"""TensorRT-LLM's `trtllm-serve`, by what its list of models says.

Source: `serve/openai_protocol.py` of NVIDIA/TensorRT-LLM, read 2026-12.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine, Marks

ENGINE = Engine(kind="tensorrt-llm", title="TensorRT-LLM", marks=Marks(owners=("tensorrt_llm",), believed_with=""))
