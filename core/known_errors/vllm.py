"""What vLLM says. Read in release 0.32.0."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors._vllm_modes import OF_MODES
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "vLLM"

_CHAT = "vllm/entrypoints/openai/chat_completion/protocol.py"
_RENDERER = "vllm/renderers/online_renderer.py"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "When using `tool_choice`, `tools` must be set.",
        Stage.REQUEST,
        "The request says which tool to use but offers no tools.",
        "Send the tools as well, or leave `tool_choice` out.",
        f"{_CHAT}: check_tool_usage",
        field="tool_choice",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "`tools` must not be an empty array. Either provide at least one tool or omit the field entirely.",
        Stage.REQUEST,
        "An empty list of tools is refused; it does not count as no tools.",
        "Leave `tools` out of requests without tools.",
        f"{_CHAT}: check_tool_usage",
        field="tools",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        '`tool_choice` must either be a named tool, "auto", or "none".',
        Stage.REQUEST,
        "`tool_choice` is `required`, or a word of another API, and this release of vLLM knows neither.",
        "Update vLLM: releases since 0.8.3 take `required`. Until then name the tool in `tool_choice`, or leave the "
        "choice to the model with `auto`; a framework that sends `required` by itself has a setting for that.",
        "https://github.com/pydantic/pydantic-ai/issues/728",
        field="tool_choice",
    ),
    KnownError(
        "Invalid value for `tool_choice`: {value}! Only named tools,",
        Stage.REQUEST,
        "`tool_choice` has a value of another API, such as Anthropic's `any`.",
        "Send `none`, `auto`, `required`, or an object that names a function.",
        f"{_CHAT}: check_tool_usage",
        example='Invalid value for `tool_choice`: any! Only named tools, "none", "auto" or "required" are supported.',
        field="tool_choice",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "The tool specified in `tool_choice` does not match any of the specified `tools`",
        Stage.REQUEST,
        "The tool that is forced is not among the tools of the request.",
        "Force a tool that the request declares, spelled the same way.",
        f"{_CHAT}: check_tool_usage",
        field="tool_choice.function.name",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Expected field `name` in `function` in `tool_choice`!",
        Stage.REQUEST,
        "`tool_choice` is an object without the name of a function.",
        'Write it as `{"type": "function", "function": {"name": NAME}}`.',
        f"{_CHAT}: check_tool_usage",
        field="tool_choice",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        Stage.REQUEST,
        "The server was started without a tool parser, so it refuses requests that let the model choose to call.",
        "Start the server with `--enable-auto-tool-choice` and `--tool-call-parser NAME`; the request itself needs no "
        "change.",
        f"{_RENDERER}: render_chat",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        "tool_choice={choice} requires --tool-call-parser to be set",
        Stage.REQUEST,
        "A call is required, but the server has no parser to read it.",
        "Start the server with `--tool-call-parser NAME`; the request itself needs no change.",
        f"{_RENDERER}: render_chat",
        example="tool_choice='required' requires --tool-call-parser to be set",
        field="tool_choice",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Error: --enable-auto-tool-choice requires --tool-call-parser",
        Stage.REQUEST,
        "The server did not start: one of two flags that belong together is missing.",
        "Add `--tool-call-parser NAME` to the command.",
        "vllm/entrypoints/launchers/cli_args.py: validate_parsed_serve_args",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Tool parser '{name:word}' not found.",
        Stage.REQUEST,
        "The server did not start: this release does not have a tool parser with that name.",
        "Choose a parser that the release has, or load your own with `--tool-parser-plugin FILE`.",
        "vllm/tool_parsers/abstract_tool_parser.py: ToolParserManager.get_tool_parser",
        example="Tool parser 'kimi_k9' not found.",
        cause=Cause.SETTING,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Reasoning parser '{name:word}' not found.",
        Stage.REQUEST,
        "The server did not start: this release does not have a reasoning parser with that name.",
        "Choose one of the names that the message lists.",
        "vllm/reasoning/abs_reasoning_parsers.py: ReasoningParserManager.get_reasoning_parser",
        example="Reasoning parser 'qwen9' not found. Available parsers: deepseek_r1, qwen3.",
        cause=Cause.SETTING,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "reasoning parser could not locate think start/end tokens in the tokenizer!",
        Stage.REQUEST,
        "The reasoning parser needs tokens that this model's vocabulary does not have.",
        "Start the server with the reasoning parser for this model, or with none.",
        "vllm/reasoning/basic_parsers.py: BaseThinkingReasoningParser.__init__",
        example="DeepSeekR1ReasoningParser reasoning parser could not locate think start/end tokens in the tokenizer!",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Cannot set both `continue_final_message` and `add_generation_prompt` to True.",
        Stage.REQUEST,
        "The request both continues the last message and opens a new one.",
        "Set `add_generation_prompt` to false when a message is continued.",
        f"{_CHAT}: check_generation_prompt",
        field="continue_final_message",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "You can only use one kind of constraints for structured outputs",
        Stage.REQUEST,
        "Two constraints on the output were sent together.",
        "Keep one of `json`, `regex`, `choice` and the others.",
        f"{_CHAT}: check_structured_outputs_count",
        example="You can only use one kind of constraints for structured outputs ('json', 'regex' or 'choice').",
        field="structured_outputs",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "You can only either use constraints for structured outputs or tools, not both.",
        Stage.REQUEST,
        "A constraint on the output cannot be combined with a tool that is forced by name.",
        "Drop the constraint or the forced tool.",
        f"{_CHAT}: check_structured_outputs_count",
        field="tool_choice",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "When response_format type is 'json_schema', the 'json_schema' field must be provided.",
        Stage.REQUEST,
        "`response_format` announces a schema but contains none.",
        "Add the `json_schema` object with its `name` and `schema`.",
        f"{_CHAT}: validate_response_format",
        field="response_format",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Stream options can only be defined when `stream=True`.",
        Stage.REQUEST,
        "`stream_options` was sent with a request that does not stream.",
        "Leave `stream_options` out, or set `stream` to true.",
        f"{_CHAT}: validate_stream_options",
        field="stream_options",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "`prompt_logprobs` are not available when `stream=True`.",
        Stage.REQUEST,
        "Log-probabilities of the prompt are not available in a stream.",
        "Ask for them in a request that does not stream.",
        f"{_CHAT}: check_logprobs",
        field="prompt_logprobs",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "when using `top_logprobs`, `logprobs` must be set to true.",
        Stage.REQUEST,
        "The request says how many candidates to list but does not ask for log-probabilities.",
        "Set `logprobs` to true.",
        f"{_CHAT}: check_logprobs",
        field="top_logprobs",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Chat template is passed with request, but --trust-request-chat-template is not set.",
        Stage.REQUEST,
        "The server does not run chat templates sent with a request unless it is started to trust them.",
        "Give the template at the start with `--chat-template FILE`, or start the server with "
        "`--trust-request-chat-template` if every caller can be trusted.",
        f"{_RENDERER}: validate_chat_template",
        field="chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "default chat template is no longer allowed, so you must provide a chat template",
        Stage.RENDER,
        "Neither the tokenizer nor the command has a chat template.",
        "Start the server with `--chat-template FILE`; a base model does not come with a template.",
        "vllm/renderers/hf.py: safe_apply_chat_template",
        example="As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat "
        "template if the tokenizer does not define one.",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Found unexpected chat template kwargs from request: {names}",
        Stage.RENDER,
        "`chat_template_kwargs` contains names that the server sets itself.",
        "Remove these names from `chat_template_kwargs`.",
        "vllm/renderers/hf.py: resolve_chat_template_kwargs",
        example="Found unexpected chat template kwargs from request: {'tokenize'}",
        field="chat_template_kwargs",
        cause=Cause.REQUEST,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "The supplied chat template string ({value})",
        Stage.RENDER,
        "The chat template looks like a path, but the file cannot be opened.",
        "Correct the path, or give the template's text itself.",
        "vllm/renderers/chat_utils.py: validate_chat_template",
        example="The supplied chat template string (./template.jinja) appears path-like, but doesn't exist!",
        field="chat_template",
        cause=Cause.SETTING,
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "chat completions only support assistant tool_calls of type 'function'.",
        Stage.REQUEST,
        "A call in the history has a `type` other than `function`.",
        "Write every call of the history as a function call.",
        "vllm/renderers/chat_utils.py: _postprocess_messages",
        field="messages",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "assistant tool_calls entries must be objects.",
        Stage.REQUEST,
        "An entry of `tool_calls` in the history is not an object.",
        "Send every call as an object with `id`, `type` and `function`.",
        "vllm/renderers/chat_utils.py: _postprocess_messages",
        field="messages",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "maximum context length is {limit:int} tokens. However, your request has {asked:int} input tokens",
        Stage.RENDER,
        "The prompt and the answer share the server's context: the tokens of the prompt plus those that the request "
        "reserves for the answer are more than it has. In some releases the first number is not the context length "
        "but what the `max_tokens` of the request leaves of it.",
        "Send a smaller `max_tokens`, or leave it out; if the input alone is longer than the context length of the "
        "server, shorten the messages or the tools, or start it with a longer `--max-model-len`.",
        "https://github.com/vllm-project/vllm/pull/33425",
        example="This model's maximum context length is 4096 tokens. However, your request has 5120 input tokens. "
        "Please reduce the length of the input messages.",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "maximum context length is {limit:int} tokens. However, your prompt contains",
        Stage.RENDER,
        "Even the rendered prompt alone is longer than the server's context window.",
        "Shorten the messages or the tools, or start the server with a longer `--max-model-len`.",
        "vllm/renderers/params.py: TokenizeParams._token_len_check",
        example="This model's maximum context length is 4096 tokens. However, your prompt contains 5120 input tokens, "
        "which exceeds this limit even without any output tokens.",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "'max_tokens' or 'max_completion_tokens' is too large: {asked:int}.",
        Stage.REQUEST,
        "The prompt and the answer share the server's context: the tokens of the prompt plus those that the request "
        "reserves for the answer are more than it has.",
        "Leave the field out, so that the answer may use what the prompt leaves; or send at most the context length "
        "minus the input tokens, both of which the message names; or start the server with a longer `--max-model-len`.",
        "https://github.com/vllm-project/vllm/issues/19861",
        example="'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is "
        "4096 tokens and your request has 21 input tokens (4096 > 4096 - 21).",
        field="max_tokens",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "`thinking_token_budget` must be a non-negative integer or -1 for unlimited.",
        Stage.REQUEST,
        "The budget for reasoning is not an integer of -1 or more.",
        "Send a whole number, or -1 for no limit.",
        "vllm/sampling_params.py: validate_thinking_token_budget",
        field="thinking_token_budget",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "The JSON schema is nested too deeply: objects and arrays may nest at most {most:int} levels",
        Stage.REQUEST,
        "A schema is nested deeper than the server allows.",
        "Flatten the schema.",
        "vllm/sampling_params.py: check_json_nesting",
        example="The JSON schema is nested too deeply: objects and arrays may nest at most 64 levels",
        field="response_format",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "Invalid grammar specification.",
        Stage.REQUEST,
        "The backend for constrained output could not compile the grammar.",
        "Try the grammar alone (`grammar` of this program shows where it fails), or use a JSON schema.",
        "vllm/v1/structured_output/backend_xgrammar.py: validate_xgrammar_grammar",
        field="structured_outputs",
    ),
    KnownError(
        "The model `{name}` does not exist.",
        Stage.REQUEST,
        "The server does not serve a model with that name.",
        "Set `model` to a name that `/v1/models` lists.",
        "vllm/entrypoints/openai/models/serving.py: OpenAIModelRegistry.check_model",
        example="The model `kimi-k9` does not exist.",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "thinking.budget_tokens must be less than max_tokens",
        Stage.REQUEST,
        "The budget for thinking would use up the whole output limit.",
        "Raise `max_tokens` or lower `thinking.budget_tokens`.",
        "vllm/entrypoints/anthropic/protocol.py: AnthropicMessagesRequest.validate_thinking_budget",
        field="thinking.budget_tokens",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "tool_choice.name is required when type is 'tool'",
        Stage.REQUEST,
        "A forced tool of the Messages API has no name.",
        "Add the tool's name to `tool_choice`.",
        "vllm/entrypoints/anthropic/protocol.py: AnthropicToolChoice.validate_name_required_for_tool",
        field="tool_choice",
        tried="vLLM 0.32.0",
    ),
    KnownError(
        "validation error for list[function-wrap[{name}]] Invalid JSON: {why} [type=json_invalid, input_value=",
        Stage.PARSE,
        "With a forced or required call, the server parses the whole output as JSON before any tool parser "
        "runs, and the output is not JSON.",
        "Send `tool_choice` as `auto`, so that the tool parser reads the output; or find out why the output was not "
        "constrained to JSON.",
        "https://github.com/speakleash/bielik-tools/issues/9",
        example="1 validation error for list[function-wrap[__log_extra_fields__()]] Invalid JSON: expected value at "
        "line 1 column 1 [type=json_invalid, input_value='<tool_call>', input_type=str]",
    ),
    KnownError(
        "validation error for list[FunctionDefinition] Invalid JSON: {why} [type=json_invalid, input_value=",
        Stage.PARSE,
        "With a forced or required call, the server parses the whole output as JSON before any tool parser "
        "runs, and the output is not JSON.",
        "Send `tool_choice` as `auto`, so that the tool parser reads the output; or find out why the output was not "
        "constrained to JSON.",
        "https://github.com/speakleash/bielik-tools/issues/9",
        example="1 validation error for list[FunctionDefinition] Invalid JSON: EOF while parsing a value at line 1 "
        "column 0 [type=json_invalid, input_value='', input_type=str]",
    ),
    KnownError(
        "Error in extracting tool call from response",
        Stage.PARSE,
        "The tool parser failed on a call that the model wrote. The server still answers 200, with the "
        "markup in `content` and without calls.",
        "Compare the raw output with the notation that the parser reads: a parser for another family, broken JSON, "
        "or a call that is cut.",
        "https://github.com/vllm-project/vllm/issues/17790",
    ),
    KnownError(
        "Error in extracting tool call from response{where}JSONDecodeError: Extra data",
        Stage.PARSE,
        "The tool parser failed: more text follows the first JSON value of a call, such as a second call in one "
        "block, or text. The server still answers 200, with the markup in `content` and without calls.",
        "Check the raw output: each call needs a separate block. Ask the model for one call at a time, or "
        "report it to the parser's authors.",
        "https://github.com/vllm-project/vllm/issues/17790",
        example="Error in extracting tool call from response: json.decoder.JSONDecodeError: Extra data: line 3 column "
        "1 (char 527)",
    ),
    KnownError(
        "Error in extracting tool call from response{where}JSONDecodeError: Expecting value: line 1 column 1",
        Stage.PARSE,
        "The tool parser failed: where it expects JSON, none begins. The model writes its calls in another notation "
        "than this parser reads, or the block is empty. The server still answers 200, without calls.",
        "Start the server with the parser of this model (`--tool-call-parser`).",
        "https://github.com/vllm-project/vllm/issues/30651",
        example="Error in extracting tool call from response: json.decoder.JSONDecodeError: Expecting value: line 1 "
        "column 1 (char 0)",
    ),
    KnownError(
        "cannot determine if tools should be extracted. Returning a standard chat completion.",
        Stage.PARSE,
        "The request has a `tool_choice` for which the server has no way to read calls: it sends no `tools`, or the "
        "server runs without `--enable-auto-tool-choice` and a parser. The output is returned as text.",
        "Leave `tool_choice` out of requests without tools, and start the server with a tool parser for those with "
        "tools.",
        "https://github.com/vllm-project/vllm/issues/17514",
        field="tool_choice",
    ),
    KnownError(
        "The provided JSON schema contains features not supported by xgrammar.",
        Stage.COMPLETE,
        "A schema of the request uses keywords that the grammar backend cannot use.",
        "Simplify the schema: take out `format`, `pattern`, `propertyNames` and the like, or choose another backend.",
        "https://github.com/z-lab/paroquant/issues/31",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Error trying to handle streaming tool call",
        Stage.PARSE,
        "The tool parser failed within a stream, so part of the call is missing from what the client received.",
        "Compare the stream with the same request without `stream`; a newer release, or the parser of this model, "
        "may read it.",
        "vllm/tool_parsers: extract_tool_calls_streaming",
    ),
    KnownError(
        "Input prompt ({size:int} tokens) is too long and exceeds limit of {limit:int}",
        Stage.REQUEST,
        "The prompt has more tokens than the server can take at once, so it was left out and the answer is empty.",
        "Shorten the prompt, or start the server with a larger `--max-num-batched-tokens` or `--max-model-len`: the "
        "smaller of the two is the limit.",
        "https://github.com/vllm-project/vllm/issues/447",
        example="Input prompt (3622 tokens) is too long and exceeds limit of 2560",
        cause=Cause.CONTEXT,
    ),
    *OF_MODES,
)
