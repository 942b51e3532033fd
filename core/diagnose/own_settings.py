"""What the server of a run calls a setting that others have under another name."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.taken import reads

_CONTEXT: Mapping[str, str] = {
    "vllm": "--max-model-len",
    "sglang": "--context-length",
    "llama.cpp": "--ctx-size",
    "llama-cpp-python": "--n_ctx",
    "ollama": "num_ctx",
    "lmdeploy": "--session-len",
    "tensorrt-llm": "--max_seq_len",
}
_ANY_CONTEXT = "`--max-model-len` of vLLM, `--ctx-size` of llama.cpp, `num_ctx` of Ollama"
_PENALTY: Mapping[str, str] = {
    "llama.cpp": "`repeat_penalty`",
    "llama-cpp-python": "`repeat_penalty`",
    "lm-studio": "`repeat_penalty`",
    "ollama": "`repeat_penalty` (of the model; `frequency_penalty` of a request to `/v1`)",
}
_ANY_PENALTY = "`repetition_penalty` (`repeat_penalty` of llama.cpp)"


def longer_context(trace: Trace) -> str:
    """Return how the context is made longer, without a verb's end: by what this server calls its length."""
    if hosted_by(trace) is not None:
        return "choose a model with a longer context"
    name = _CONTEXT.get(trace.server_kind)
    return f"raise the server's context length ({_ANY_CONTEXT if name is None else f'`{name}`'})"


def penalty(trace: Trace) -> str:
    """Return what a penalty on repeated tokens is called, and what it is set to."""
    if hosted_by(trace) is not None:
        return "`frequency_penalty` a little above 0"
    kind = trace.server_kind
    if kind in _PENALTY:
        return f"{_PENALTY[kind]} a little above 1"
    return f"{_ANY_PENALTY if kind in ('', 'openai-compatible') else '`repetition_penalty`'} a little above 1"


def stop_at(trace: Trace, token: str = "") -> str:
    """Return how a request has a server stop at an end token, a clause that begins with "send"."""
    text = f"`{token}`" if token else "its text"
    if trace.server is None or trace.server.kind in ("", "openai-compatible"):
        return f"send its id in `stop_token_ids` (vLLM, SGLang) or {text} in `stop`"
    return "send its id in `stop_token_ids`" if reads(trace, ("stop_token_ids",)) else f"send {text} in `stop`"
