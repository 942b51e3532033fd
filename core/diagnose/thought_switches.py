"""How the servers and hosted APIs that do not read `chat_template_kwargs` are asked to think less, or not at all.

Sources: console.groq.com/docs/reasoning, inference-docs.cerebras.ai, openrouter.ai/docs (reasoning tokens),
docs.together.ai (reasoning), docs.fireworks.ai/guides/reasoning, api-docs.deepseek.com (thinking mode), docs.z.ai,
platform.moonshot.ai, help.aliyun.com/zh/model-studio, ai.google.dev (thinking, OpenAI compatibility),
docs.anthropic.com (extended thinking), platform.openai.com; Ollama's `openai/openai.go` (ollama#14820);
lmstudio-bug-tracker#632 and LM Studio's reference of `/api/v1/chat`; llama-cpp-python's `server/settings.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prompt_debugger.core.base.types import JSON, ChatResult, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.hosted import hosted_by

# Kinds of server that read the request's own template kwargs.
TAKE_KWARGS = frozenset({"vllm", "sglang", "llama.cpp", "mlx-lm", "lmdeploy", "tensorrt-llm", "transformers"})
FLAGS_OF_KWARGS: Mapping[str, str] = {
    "vllm": "--default-chat-template-kwargs",
    "llama.cpp": "--chat-template-kwargs",
    "mlx-lm": "--chat-template-args",
    "transformers": "--chat-template-kwargs",
}
_NO_EFFORT = '"reasoning_effort": "none"'
_LOW: Mapping[str, JSON] = {"reasoning_effort": "low"}
_NONE: Mapping[str, JSON] = {"reasoning_effort": "none"}
_DISABLED: Mapping[str, JSON] = {"thinking.type": "disabled"}
_LITTLE = Step('Send `"reasoning_effort": "low"`, which has the model think less.', _LOW)
_LESS = Step(
    'Send `"reasoning_effort": "low"`, or a lower value that this model takes (`minimal`, `none`).',
    _LOW,
)
_OF_ANTHROPIC = Step(
    'Leave `thinking` out or send `"thinking": {"type": "disabled"}`; with thinking on, `max_tokens` must leave room '
    "for both.",
    _DISABLED,
)
_OF_GEMINI = Step(
    "Lower the model's thinking: `thinkingBudget` (0 switches it off where the model allows that) or `thinkingLevel` "
    "in `generationConfig.thinkingConfig`; at the OpenAI route, `reasoning_effort`."
)
_AT_VENDOR: Mapping[str, Step] = {
    **{
        vendor: Step(f"Send `{_NO_EFFORT}`, which switches thinking off at {vendor} for models that allow it.", _NONE)
        for vendor in ("Groq", "Cerebras", "Fireworks")
    },
    **{
        vendor: Step(f'Send `"thinking": {{"type": "disabled"}}`: {vendor} reads no template kwargs.', _DISABLED)
        for vendor in ("DeepSeek", "Moonshot", "Z.ai")
    },
    **{
        vendor: Step(
            f'Send `"reasoning": {{"enabled": false}}`, which {vendor} takes for models whose thinking can be switched '
            "off.",
            {"reasoning.enabled": False},
        )
        for vendor in ("OpenRouter", "Together")
    },
    **dict.fromkeys(("OpenAI", "Azure OpenAI", "xAI", "Mistral"), _LESS),
    "DashScope": Step(
        'Send `"enable_thinking": false` at the top level of the body: DashScope reads no template kwargs.',
        {"enable_thinking": False},
    ),
    "Anthropic": _OF_ANTHROPIC,
    "Google": _OF_GEMINI,
    "Amazon Bedrock": Step(
        "Leave out the model's own fields for thinking in `additionalModelRequestFields`, or allow fewer tokens for it."
    ),
}
_AT_OPENROUTER = Step('Send `"reasoning": {"effort": "low"}`: this model always thinks.', {"reasoning.effort": "low"})
_AT_OLLAMAS_V1 = Step(f"Send `{_NO_EFFORT}`: at `/v1`, Ollama ignores `chat_template_kwargs` and `think`.", _NONE)
_AT_OLLAMA = Step('Send `"think": false`.', {"think": False})
_LESS_AT_OLLAMA = Step(
    'Send `"think": "low"`: this model always thinks, and this makes it think less.', {"think": "low"}
)
_AT_LM_STUDIO = Step(
    f'Send `{_NO_EFFORT}`, or post to `/api/v1/chat` with `"reasoning": "off"`, in a current release: LM Studio does '
    "not read `chat_template_kwargs`.",
    _NONE,
)
_AT_LLAMA_CPP_PYTHON = Step(
    "Start llama-cpp-python's server with `--chat_template_kwargs '{\"enable_thinking\": false}'` (or the name "
    "that the template reads): it does not read that field of a request."
)
_BY_EFFORT_OF_KWARGS = Step(
    'Send `"chat_template_kwargs": {"reasoning_effort": "low"}`: this model always thinks, and this makes it think '
    "less.",
    {"chat_template_kwargs.reasoning_effort": "low"},
)
_AT_KIND: Mapping[str, Step] = {
    "ollama": _AT_OLLAMAS_V1,
    "lm-studio": _AT_LM_STUDIO,
    "llama-cpp-python": _AT_LLAMA_CPP_PYTHON,
}
# Of models that their makers serve alone, by what they are called everywhere.
_OF_MODELS: tuple[tuple[re.Pattern[str], Step], ...] = (
    (re.compile(r"(?:^|/)(?:gpt-[5-9]|o[134](?:-|$))", re.IGNORECASE), _LESS),
    (re.compile(r"(?:^|[/.])claude-", re.IGNORECASE), _OF_ANTHROPIC),
    (re.compile(r"(?:^|/)gemini-", re.IGNORECASE), _OF_GEMINI),
)


def is_ollamas_own(chat: ChatResult | None) -> bool:
    """Return whether an answer is one of Ollama's own API, which alone writes this field."""
    return chat is not None and '"done_reason"' in chat.body


def own_switch(trace: Trace, *, by_effort: bool) -> Step | None:
    """Return how a hosted API, or a server without per-request template kwargs, is asked; `None` for the others.

    Args:
        trace: The run.
        by_effort: Whether the model always thinks, more or less.
    """
    if (vendor := hosted_by(trace)) is not None and vendor in _AT_VENDOR:
        if by_effort and vendor == "OpenRouter":
            return _AT_OPENROUTER
        return _LITTLE if by_effort else _AT_VENDOR[vendor]
    kind = trace.server_kind
    if is_ollamas_own(trace.chat):
        return _LESS_AT_OLLAMA if by_effort else _AT_OLLAMA
    if by_effort:
        return _BY_EFFORT_OF_KWARGS if kind in ("mlx-lm", "transformers") else None
    return _AT_KIND.get(kind) or _of_native_api(trace) or _of_model(trace, kind)


def has_known_switch(trace: Trace) -> bool:
    """Return whether it is known how the software of a run's server is asked."""
    return trace.server_kind in TAKE_KWARGS or trace.server_kind in _AT_KIND


def _of_native_api(trace: Trace) -> Step | None:
    """Return how an API is asked that shows itself by its answer: Gemini's, or Anthropic's with thoughts."""
    body = "" if trace.chat is None else trace.chat.body
    if '"candidates"' in body:
        return _OF_GEMINI
    return _OF_ANTHROPIC if '"stop_reason"' in body and '"thinking"' in body else None


def _of_model(trace: Trace, kind: str) -> Step | None:
    if kind in TAKE_KWARGS:
        return None
    names = model_names(trace)
    return next((step for pattern, step in _OF_MODELS if any(map(pattern.search, names))), None)
