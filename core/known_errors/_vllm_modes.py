"""What vLLM says of limits, of modes that it was started in, and of an engine that failed: a part of its table."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

_CHAT = "vllm/entrypoints/openai/chat_completion/protocol.py"
_MISTRAL = "vllm/tokenizers/mistral.py: validate_request_params"

OF_MODES: tuple[KnownError, ...] = (
    KnownError(
        "token_id(s) {ids} in {field:word} contain out-of-vocab token ids. Vocabulary size: {size:int}",
        Stage.REQUEST,
        "The request contains a token id beyond the vocabulary of the model that is served: ids belong to one "
        "tokenizer only.",
        "Take the ids from the tokenizer of exactly this model, or send text in `stop` in place of `stop_token_ids`.",
        "vllm/sampling_params.py: SamplingParams",
        example="token_id(s) [151645] in stop_token_ids contain out-of-vocab token ids. Vocabulary size: 600",
        field="{field}",
    ),
    KnownError(
        "logprobs of {asked:int}, which is greater than max allowed: {most:int}",
        Stage.REQUEST,
        "The request asks for more candidates per token than the server was started to return.",
        "Lower `top_logprobs` (`logprobs` in the Completions API), or start the server with a higher `--max-logprobs`.",
        "vllm/sampling_params.py: SamplingParams._validate_logprobs",
        example="Requested sample logprobs of 30, which is greater than max allowed: 20",
        field="top_logprobs",
    ),
    KnownError(
        "Please request fewer output tokens.",
        Stage.REQUEST,
        "The limit for the answer alone is longer than the server's context window.",
        "Lower `max_tokens`, or start the server with a longer `--max-model-len`.",
        "vllm/renderers/params.py: TokenizeParams",
        example="max_tokens=9000 cannot be greater than max_model_len=4096. Please request fewer output tokens.",
        field="max_tokens",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "thinking_token_budget is set but reasoning_config is not configured.",
        Stage.REQUEST,
        "The request limits its thinking, and the server does not know where this model's thinking begins and ends.",
        "Start the server with the `--reasoning-parser` of the model (or `--reasoning-config`), or leave "
        "`thinking_token_budget` out.",
        "vllm/v1/engine/input_processor.py: InputProcessor",
        field="thinking_token_budget",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Expected field `function` in `tool_choice`.",
        Stage.REQUEST,
        "`tool_choice` is an object without a function.",
        'Write it as `{"type": "function", "function": {"name": NAME}}`.',
        "vLLM 0.8, vllm/entrypoints/openai/protocol.py: check_tool_usage",
        field="tool_choice",
    ),
    KnownError(
        "Expected field `name` in `function` in `tool_choice`.",
        Stage.REQUEST,
        "`tool_choice` is an object without the name of a function.",
        'Write it as `{"type": "function", "function": {"name": NAME}}`.',
        "vLLM 0.8, vllm/entrypoints/openai/protocol.py: check_tool_usage",
        field="tool_choice",
    ),
    KnownError(
        "Invalid value for `function`: `{value}` in `tool_choice`!",
        Stage.REQUEST,
        "The `function` of `tool_choice` is not an object, such as a bare name.",
        'Write it as `{"type": "function", "function": {"name": NAME}}`.',
        f"{_CHAT}: check_tool_usage",
        example="Invalid value for `function`: `get_time` in `tool_choice`!",
        field="tool_choice.function",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Invalid `name` in `function`: `{value}` in `tool_choice`!",
        Stage.REQUEST,
        "The name of the forced tool is not a text.",
        "Send the tool's name as a string in `tool_choice.function.name`.",
        f"{_CHAT}: check_tool_usage",
        example="Invalid `name` in `function`: `7` in `tool_choice`!",
        field="tool_choice.function.name",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Named tool choice for Kimi K3 requires strict tool calling",
        Stage.REQUEST,
        "A tool is forced by name, and the server was started without the grammar that makes Kimi K3 call it.",
        "Start the server with `VLLM_ENFORCE_STRICT_TOOL_CALLING=1`, or send `auto` or `required`.",
        "vllm/tool_parsers/kimi_k3_tool_parser.py: KimiK3ToolParser",
        field="tool_choice",
        cause=Cause.SETTING,
    ),
    KnownError(
        "tool_choice requires a function call, but tools contains no function tool",
        Stage.REQUEST,
        "A call is required, and none of the tools is a function that the model can call.",
        "Declare at least one tool of type `function`, or send `tool_choice` as `auto`.",
        "vllm/tool_parsers/utils.py: get_json_schema_from_tools",
        field="tools",
    ),
    KnownError(
        "Only 'auto' tool_choice is supported in response API with Harmony",
        Stage.REQUEST,
        "For gpt-oss, this release of vLLM cannot force a call in the Responses API.",
        "Send `tool_choice` as `auto`, or update vLLM.",
        "vLLM 0.11, vllm/entrypoints/openai/serving_responses.py: OpenAIServingResponses",
        field="tool_choice",
    ),
    KnownError(
        "`store=True` (default) is not supported. Please set `store=False` in Responses API",
        Stage.REQUEST,
        "The server does not store responses unless it was started to.",
        "Send `store: false`, or start the server with `VLLM_ENABLE_RESPONSES_API_STORE=1`.",
        "vLLM 0.11, vllm/entrypoints/openai/serving_responses.py: OpenAIServingResponses",
        field="store",
    ),
    KnownError(
        "This vLLM engine does not support `store=True` and therefore does not support the background mode.",
        Stage.REQUEST,
        "Background mode needs stored responses, and the server does not store any.",
        "Leave `background` out, or start the server with `VLLM_ENABLE_RESPONSES_API_STORE=1`.",
        "vllm/entrypoints/openai/responses/serving.py: OpenAIServingResponses",
        field="background",
        cause=Cause.SETTING,
    ),
    KnownError(
        "chat_template is not supported for Mistral tokenizers.",
        Stage.RENDER,
        "The server runs with `--tokenizer-mode mistral`: prompts are written by mistral-common, without a chat "
        "template.",
        "Leave `chat_template` out of the request and of the command, or start the server with `--tokenizer-mode hf`.",
        _MISTRAL,
        field="chat_template",
        cause=Cause.SETTING,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "'chat_template' or 'chat_template_kwargs' cannot be overridden for mistral tokenizer.",
        Stage.RENDER,
        "The server runs with `--tokenizer-mode mistral`: prompts are written by mistral-common, without a chat "
        "template.",
        "Leave both fields out, or start the server with `--tokenizer-mode hf`.",
        "vLLM 0.11, vllm/entrypoints/chat_utils.py: apply_mistral_chat_template",
        field="chat_template_kwargs",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Cannot set `add_generation_prompt` to True when the last message is from the assistant.",
        Stage.RENDER,
        "The last message is the assistant's, and with `--tokenizer-mode mistral` no new answer can follow it.",
        "End with a message from the user or a tool; to have the last message continued, send `continue_final_message: "
        "true` and `add_generation_prompt: false`.",
        _MISTRAL,
        field="messages",
        cause=Cause.REQUEST,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Cannot set `continue_final_message` to True when the last message is not from the assistant.",
        Stage.RENDER,
        "The last message is to be continued, and it is not the assistant's.",
        "End with the assistant's beginning, or leave `continue_final_message` out.",
        _MISTRAL,
        field="continue_final_message",
        cause=Cause.REQUEST,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "async scheduling with spec decoding doesn't yet support penalties, bad words or structured outputs",
        Stage.REQUEST,
        "This release cannot combine these fields with the two modes of scheduling that the server runs in.",
        "Start the server with `--no-async-scheduling`, or update vLLM; otherwise send the request without penalties, "
        "`bad_words` and structured output.",
        "vLLM 0.11, vllm/v1/engine/processor.py: Processor",
        cause=Cause.SETTING,
    ),
    KnownError(
        "vLLM V1 does not yet support best_of.",
        Stage.REQUEST,
        "The V1 engine of vLLM does not know `best_of`.",
        "Leave `best_of` out; ask for several answers with `n` and choose in the client.",
        "vLLM 0.8, vllm/v1/engine/processor.py: Processor",
        field="best_of",
    ),
    KnownError(
        "No output received from the engine",
        Stage.COMPLETE,
        "The engine gave nothing back for the request: it was aborted, or the engine stopped in the middle.",
        "Look at the server's log at that time, for a traceback of EngineCore or a line about an abort.",
        "vllm/entrypoints/openai/chat_completion/serving.py: chat_completion_full_generator",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Timed out waiting for engine core processes to start.",
        Stage.COMPLETE,
        "The server did not start: its engine took longer to load than the server waits.",
        "Raise `VLLM_ENGINE_READY_TIMEOUT_S` where weights load slowly (a network disk, a first compilation); if the "
        "log shows no progress, look for the step at which it hangs.",
        "vllm/v1/engine/core_client.py: MPClient",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Chat template rendering timed out after",
        Stage.RENDER,
        "The chat template ran longer than the server allows: it loops over very long messages, or is written "
        "wastefully.",
        "Shorten the messages or simplify the template; with a template that you trust, raise "
        "`VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT`.",
        "vllm/renderers/hf.py: safe_apply_chat_template",
        example="Chat template rendering timed out after 10.0s.",
    ),
    KnownError(
        "grammar rejected tokens [{tokens}] for request {request:word}",
        Stage.COMPLETE,
        "A sampled token did not fit the grammar of a constrained call or document, so the request was ended: engine "
        "and grammar are out of step, often at the end token after a complete document.",
        "Run a current release; else ask without what constrains the output, or switch to another backend "
        "(`--structured-outputs-config.backend`).",
        "https://github.com/vllm-project/vllm/issues/51693",
        example="Unexpected: grammar rejected tokens [200028] for request chatcmpl-8da6. Terminating request.",
    ),
    KnownError(
        "Failed to advance FSM for request {request:word} for tokens {tokens}. Please file an issue",
        Stage.COMPLETE,
        "A sampled token did not fit the grammar of a constrained call or document: engine and grammar are out of step,"
        " as with speculative decoding or a stop token inside.",
        "Run a current release; else switch speculative decoding off, or ask without what constrains the output.",
        "https://github.com/syv-ai/qwen38-27b-rtx3090/issues/19",
        example="Failed to advance FSM for request chatcmpl-96 for tokens 271. Please file an issue",
    ),
    KnownError(
        "{count:int} validation errors for ValidatorIterator {place:int}.ChatCompletionContentPart{rest} Input should "
        "be",
        Stage.REQUEST,
        "A part of an assistant message has a `type` that chat completions do not know; vLLM lists the types that it "
        "tried, and `input_value` is the one that was sent.",
        "Send the text of that message as a string, or as parts of type `text`: `output_text` and `input_text` belong "
        "to the Responses API. A client that switches between the two APIs has to convert its history; update it, or "
        "use `/v1/responses` throughout.",
        "https://github.com/langchain-ai/langchain/issues/34751",
        example="3 validation errors for ValidatorIterator 0.ChatCompletionContentPartTextParam.type Input should be "
        "'text' [type=literal_error, input_value='output_text', input_type=str]",
        field="messages",
    ),
    KnownError(
        "Currently only named tools are supported",
        Stage.REQUEST,
        "This release of vLLM (before 0.6) accepts only the name of one tool as `tool_choice`, not `auto`.",
        "Update vLLM, and start it with `--enable-auto-tool-choice` and the `--tool-call-parser` of the model.",
        "https://github.com/run-llama/llama_index/issues/15941",
        field="tool_choice",
    ),
)
