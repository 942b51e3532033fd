"""Run by itself: has vLLM raise the sentences that need no server, and prints them as a JSON list."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from vllm.entrypoints.anthropic.protocol import AnthropicMessagesRequest
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.reasoning.abs_reasoning_parsers import ReasoningParserManager
from vllm.renderers import chat_utils, hf
from vllm.sampling_params import SamplingParams, check_json_nesting
from vllm.tokenizers import mistral
from vllm.tool_parsers.abstract_tool_parser import ToolParserManager

USER: dict[str, Any] = {"role": "user", "content": "a"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}
NAMED = {"type": "function", "function": {"name": "f"}}


def chat(**fields: Any) -> None:
    """Check a chat request."""
    ChatCompletionRequest.model_validate({"model": "m", "messages": [USER], **fields})


def message(**fields: Any) -> None:
    """Check a request of the Messages API."""
    AnthropicMessagesRequest.model_validate({"model": "m", "max_tokens": 100, "messages": [USER], **fields})


def history(call: Any) -> None:
    """Check a call in the history."""
    chat_utils._postprocess_messages([{"role": "assistant", "tool_calls": [call]}])


def nested(depth: int) -> dict[str, Any]:
    """Return a schema of a depth."""
    schema: dict[str, Any] = {}
    for _ in range(depth):
        schema = {"properties": schema}
    return schema


ATTEMPTS: tuple[Callable[[], object], ...] = (
    lambda: chat(tool_choice="auto"),
    lambda: chat(tools=[]),
    lambda: chat(tools=[TOOL], tool_choice="any"),
    lambda: chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": "g"}}),
    lambda: chat(tools=[TOOL], tool_choice={"type": "function", "function": {}}),
    lambda: chat(tools=[TOOL], tool_choice={"type": "function", "function": "f"}),
    lambda: chat(tools=[TOOL], tool_choice={"type": "function", "function": {"name": 7}}),
    lambda: mistral.validate_request_params(
        ChatCompletionRequest.model_validate({"model": "m", "messages": [USER], "chat_template": "{{ a }}"})
    ),
    lambda: mistral._validate_apply_chat_template_args(
        [{"role": "assistant", "content": "a"}], add_generation_prompt=True
    ),
    lambda: mistral._validate_apply_chat_template_args([USER], continue_final_message=True),
    lambda: chat(continue_final_message=True, add_generation_prompt=True),
    lambda: chat(structured_outputs={"json": {}, "regex": "a"}),
    lambda: chat(structured_outputs={"regex": "a"}, tools=[TOOL], tool_choice=NAMED),
    lambda: chat(response_format={"type": "json_schema"}),
    lambda: chat(stream_options={"include_usage": True}),
    lambda: chat(prompt_logprobs=1, stream=True),
    lambda: chat(top_logprobs=2, logprobs=False),
    lambda: ToolParserManager.get_tool_parser("nope"),
    lambda: ReasoningParserManager.get_reasoning_parser("nope"),
    lambda: message(thinking={"type": "enabled", "budget_tokens": 2000}),
    lambda: message(tools=[{"name": "f", "input_schema": {}}], tool_choice={"type": "tool"}),
    lambda: history({"type": "x", "function": {"name": "f", "arguments": "{}"}}),
    lambda: history("x"),
    lambda: chat_utils.validate_chat_template("./no/such.jinja"),
    lambda: hf.resolve_chat_template_kwargs(None, "{{ a }}", {"tokenize": True}),
    lambda: SamplingParams(thinking_token_budget=-5),
    lambda: check_json_nesting(nested(500)),
)


def words(attempt: Callable[[], object]) -> str:
    """Return what is raised."""
    try:
        attempt()
    except Exception as error:  # noqa: BLE001  # whatever it is, its words are what is looked at
        return str(error)
    return ""


if __name__ == "__main__":
    print(json.dumps([words(attempt) for attempt in ATTEMPTS]))  # read by the test
