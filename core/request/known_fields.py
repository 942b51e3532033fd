"""The fields of a chat request that servers read: of the body, of messages and of their parts, and what others mean."""

from __future__ import annotations

from typing import Final

# What vLLM reads; what is not listed is accepted and ignored there. Source: vLLM 0.32.0, `ChatCompletionRequest` and
# the message handling of `renderers/chat_utils.py`.
ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")

# Kind by field: what a value must be, `null` aside. "number" and "integer" also take numeric text, with a notice.
BODY_KINDS: Final = {
    "model": "string",
    "messages": "list",
    "tools": "list",
    "frequency_penalty": "number",
    "presence_penalty": "number",
    "repetition_penalty": "number",
    "length_penalty": "number",
    "temperature": "number",
    "top_p": "number",
    "min_p": "number",
    "top_k": "integer",
    "n": "integer",
    "seed": "integer",
    "max_tokens": "integer",
    "max_completion_tokens": "integer",
    "min_tokens": "integer",
    "top_logprobs": "integer",
    "prompt_logprobs": "integer",
    "thinking_token_budget": "integer",
    "truncate_prompt_tokens": "integer",
    "logit_bias": "object",
    "response_format": "object",
    "stream_options": "object",
    "chat_template_kwargs": "object",
    "mm_processor_kwargs": "object",
    "media_io_kwargs": "object",
    "structured_outputs": "object",
    "kv_transfer_params": "object",
    "vllm_xargs": "object",
    "stop": "string or list",
    "tool_choice": "string or object",
    "stop_token_ids": "list",
    "allowed_token_ids": "list",
    "logprob_token_ids": "list",
    "documents": "list",
    "bad_words": "list",
    "chat_template": "string",
    "reasoning_effort": "string",
    "user": "string",
}

BODY_FIELDS: Final = frozenset(BODY_KINDS) | frozenset(
    {
        "logprobs", "stream", "parallel_tool_calls", "include_reasoning", "use_beam_search", "watermarking",
        "include_stop_str_in_output", "ignore_eos", "skip_special_tokens", "spaces_between_special_tokens",
        "truncation_side", "echo", "add_generation_prompt", "continue_final_message", "add_special_tokens", "priority",
        "request_id", "session_id", "return_tokens_as_token_ids", "return_token_ids", "routed_experts_prompt_start",
        "return_token_offsets", "return_prompt_text", "mm_payload", "return_mm_kwargs", "cache_salt",
        "ec_transfer_params", "repetition_detection", "stream_interval",
    }
)  # fmt: skip

# Fields of Ollama's own API, which its `/v1/chat/completions` does not read. Source: `ChatCompletionRequest` in
# `openai/openai.go` of ollama/ollama, as of 2026-11.
OF_OLLAMA: Final = {
    "think": "It is a field of Ollama's own API; on `/v1/chat/completions` Ollama reads `reasoning_effort`, of which "
    "`none` switches thinking off.",
    "format": "It is a field of Ollama's own API; write `response_format`.",
    "options": "It is a field of Ollama's own API; write its members at the top level, except for `num_ctx`, which is "
    "set for the model or the server (`OLLAMA_CONTEXT_LENGTH`).",
    "keep_alive": "It is a field of Ollama's own API; for `/v1`, set `OLLAMA_KEEP_ALIVE` on the server.",
}

# Fields that vLLM ignores, with what was probably meant.
BODY_ADVICE: Final = {
    "extra_body": "The openai client would merge it into the body; in JSON, write its members at the top level.",
    "enable_thinking": "Templates see it only inside `chat_template_kwargs`.",
    "thinking": "Templates see it only inside `chat_template_kwargs`.",
    "functions": "This is the older form; write `tools`.",
    "function_call": "This is the older form; write `tool_choice`.",
    "guided_json": "vLLM removed the `guided_…` fields; write `structured_outputs` or `response_format`.",
    "guided_regex": "vLLM removed the `guided_…` fields; write `structured_outputs`.",
    "guided_choice": "vLLM removed the `guided_…` fields; write `structured_outputs`.",
    "guided_grammar": "vLLM removed the `guided_…` fields; write `structured_outputs`.",
    "prompt": "That is a field of `/v1/completions`.",
    "max_new_tokens": "The field is `max_tokens`.",
    "system": "Write it as a message with the role `system`.",
    **OF_OLLAMA,
}

# Message keys that reach the template, by role; "" holds for every role.
MESSAGE_FIELDS: Final = {
    "": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"tool_calls", "reasoning", "reasoning_content", "task"}),
    "tool": frozenset({"tool_call_id", "task"}),
    "developer": frozenset({"tools", "task"}),
    "system": frozenset({"task"}),
    "user": frozenset({"task"}),
}

PART_TYPES: Final = (
    "text", "thinking", "refusal", "input_text", "output_text", "image_url", "image_pil", "image_embeds", "input_image",
    "audio_url", "input_audio", "audio_embeds", "video_url", "file",
)  # fmt: skip
