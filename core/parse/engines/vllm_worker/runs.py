# ruff: noqa: ANN401 - the objects of vLLM and transformers are untyped
"""What every layer needs: the request, and a parser made ready for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from prompt_debugger.core.parse.engines.vllm_worker import release

# Request fields that reach a parser or decide what text it gets.
_FIELDS = (
    "tools", "tool_choice", "parallel_tool_calls", "include_reasoning", "skip_special_tokens", "chat_template_kwargs",
    "reasoning_effort", "stop", "stop_token_ids", "include_stop_str_in_output", "add_generation_prompt",
    "continue_final_message", "response_format", "structured_outputs",
)  # fmt: skip
_PROTOCOL: Any = release.chat_protocol()
_ANY_TOOL = {"type": "function", "function": {"name": "any_tool", "parameters": {"type": "object"}}}


@dataclass(frozen=True)
class Setting:
    """A parser made ready for one request.

    Attributes:
        parser_class: What the server would instantiate once per request.
        tokenizer: The vocabulary it gets.
        request: The request as the parser adjusted it.
        template_kwargs: The effective ones.
        prompt_ids: The prompt's ids, if known.
        sampled: The sampler's finish reason, if known.
    """

    parser_class: Any
    tokenizer: Any
    request: Any
    template_kwargs: dict[str, Any]
    prompt_ids: tuple[int, ...] | None
    sampled: str | None = None


def build_request(body: dict[str, Any]) -> Any:
    """Return the part of a request that a parser sees; without the field `tools`, one tool is assumed.

    Messages are left out: no parser looks at them.
    """
    fields = {name: body[name] for name in _FIELDS if body.get(name) is not None}
    if "tools" not in body:
        fields["tools"] = [_ANY_TOOL]
    elif not body["tools"]:
        fields = {name: value for name, value in fields.items() if name not in ("tools", "tool_choice")}
    return _PROTOCOL.ChatCompletionRequest(messages=[{"role": "user", "content": ""}], **fields)


def is_forced(request: Any) -> bool:
    """Return whether the request asks for a call, any or a named one."""
    return request.tool_choice == "required" or isinstance(
        request.tool_choice, _PROTOCOL.ChatCompletionNamedToolChoiceParam
    )
