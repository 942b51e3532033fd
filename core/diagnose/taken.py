"""Which fields of a request a server is known not to read: what would change nothing there is not advised.

Sources: `ChatCompletionRequest` of Ollama's `openai/openai.go`; `server-common.cpp` of llama.cpp (b10434);
`llama_cpp/server/types.py` of llama-cpp-python 0.3.36; `mlx_lm/server.py` 0.32; `cli/serving` of transformers 5.19;
LM Studio's reference of `/v1/chat/completions` and lmstudio-bug-tracker#632; the vendors' references. A field that is
not listed may be read: most servers take fields that no reference has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.hosted import hosted_by

_OF_VLLM = frozenset(
    {"skip_special_tokens", "stop_token_ids", "add_generation_prompt", "continue_final_message", "include_reasoning"}
)
_KWARGS = frozenset({"chat_template_kwargs"})
_STRICT = frozenset({"strict"})
_PENALTY = frozenset({"repetition_penalty"})
_OF_CHAT_ALONE = frozenset({"reasoning_effort"})  # Responses, Messages, Gemini and Ollama's own API have another field
_NOT_READ: Mapping[str, frozenset[str]] = {
    "ollama": _OF_VLLM | _KWARGS | _STRICT | _PENALTY,
    "lm-studio": _OF_VLLM | _KWARGS | _STRICT | _PENALTY,
    "llama-cpp-python": _OF_VLLM | _KWARGS | _STRICT | _PENALTY,
    "llama.cpp": (_OF_VLLM - {"add_generation_prompt", "continue_final_message"}) | _STRICT | _PENALTY,
    "mlx-lm": _OF_VLLM | _STRICT,
    "transformers": _OF_VLLM | _STRICT,
}
# Together, Fireworks, DeepInfra and Hugging Face's router run such servers themselves: what they pass on is not known.
_NOT_READ_AT: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(
        ("Groq", "Cerebras", "OpenAI", "Azure OpenAI", "Amazon Bedrock", "DeepSeek", "Moonshot", "Z.ai", "Mistral",
         "xAI", "Google", "Anthropic"),
        _OF_VLLM | _KWARGS | _PENALTY,
    ),
    "DashScope": _OF_VLLM | _KWARGS,
    "OpenRouter": _OF_VLLM | _KWARGS,
}  # fmt: skip


def reads(trace: Trace, paths: Iterable[str]) -> bool:
    """Return whether a run's server may read all of some fields: `False` if it is known not to read one.

    Args:
        trace: The run.
        paths: Of fields, as a `Step` names them.
    """
    vendor = hosted_by(trace)
    kind = trace.server_kind
    ignored = _NOT_READ.get(kind, frozenset()) if vendor is None else _NOT_READ_AT.get(vendor, frozenset())
    if trace.request.native is not None:
        ignored |= _OF_CHAT_ALONE
    names = {name for path in paths for name in (path.split(".")[0].removesuffix("[]"), path.rpartition(".")[2])}
    return ignored.isdisjoint(names)
