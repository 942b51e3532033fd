"""What SGLang says. Read in release 0.5.23."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "SGLang"

_CHAT = "sglang/srt/entrypoints/openai/serving_chat.py"
_PROTOCOL = "sglang/srt/entrypoints/openai/protocol.py"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "An exception occurred while loading multimodal data",
        Stage.REQUEST,
        "The request's media could not be read, or the prompt contains more placeholders than the request has media, "
        "as one is written in a text.",
        "The words after the colon say which. Where there are none, or a line above says `More 'IMAGE' tokens found`, "
        "look for a placeholder such as `<|image_pad|>` in the texts of messages and results of tools, and take it "
        "out or write it differently.",
        "sglang/srt/multimodal/processors/base_processor.py: load_mm_data",
        example="An exception occurred while loading multimodal data: Error while loading data",
        field="messages",
        look=Look.PLACEHOLDER_IN_TEXT,
    ),
    KnownError(
        "Messages cannot be empty.",
        Stage.REQUEST,
        "The request contains no message.",
        "Send at least one message.",
        f"{_CHAT}: _validate_request",
        field="messages",
    ),
    KnownError(
        "Assistant tool call function.arguments must be valid JSON.",
        Stage.REQUEST,
        "The arguments of a call in the history are not JSON.",
        "Send back the arguments as valid JSON text; a call without arguments has `{}`.",
        f"{_CHAT}: parse_tool_call_arguments",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "Assistant tool call function.arguments must be a JSON object.",
        Stage.REQUEST,
        "The arguments of a call in the history are JSON, but not an object.",
        "Put the arguments into an object, by their names.",
        f"{_CHAT}: parse_tool_call_arguments",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "Tools cannot be empty if tool choice is set to required.",
        Stage.REQUEST,
        "A call is required, but there are no tools.",
        "Send the tools, or leave `tool_choice` out.",
        f"{_CHAT}: _validate_request",
        field="tool_choice",
    ),
    KnownError(
        "Tools cannot be empty if tool choice is set to a specific tool.",
        Stage.REQUEST,
        "A tool is forced by name, but none is declared.",
        "Send the definition of the tool that is forced.",
        f"{_CHAT}: _validate_request",
        field="tool_choice",
    ),
    KnownError(
        "Tool '{name}' not found in tools list.",
        Stage.REQUEST,
        "The tool that is forced is not among the tools of the request.",
        "Force a tool that the request declares.",
        f"{_CHAT}: _validate_request",
        example="Tool 'book_flight' not found in tools list.",
        field="tool_choice.function.name",
    ),
    KnownError(
        "Tool names must be unique across request and message tools.",
        Stage.REQUEST,
        "One tool name is declared twice, in the request and in a message.",
        "Rename one of the two, or drop it.",
        f"{_CHAT}: _validate_request",
        field="tools",
    ),
    KnownError(
        "Tool {index:int} function has invalid 'parameters' schema: {why}",
        Stage.REQUEST,
        "The parameters of a tool are not a valid JSON schema.",
        "Correct the schema; the end of the message says what is wrong with it.",
        f"{_CHAT}: _validate_request",
        example="Tool 1 function has invalid 'parameters' schema: 'str' is not valid under any of the given schemas",
        field="tools[{index}].function.parameters",
    ),
    KnownError(
        "A tool message must follow an assistant message with tool_calls.",
        Stage.REQUEST,
        "A tool result has no call before it.",
        "Keep every call and its results next to each other.",
        f"{_CHAT}: _tool_call_pairing_error",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "tool_call_id {id:word} does not match an unanswered tool call.",
        Stage.REQUEST,
        "A tool result names a call that does not exist, or that already has its result.",
        "Give the result the id of the call that still lacks one.",
        f"{_CHAT}: _tool_call_pairing_error",
        example="tool_call_id call_7 does not match an unanswered tool call.",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "Tool calls {ids} have no tool message answering them.",
        Stage.REQUEST,
        "The conversation continues while calls have no result.",
        "Add one tool message for each of these calls, right after them.",
        f"{_CHAT}: _tool_call_pairing_error",
        example="Tool calls ['call_7', 'call_8'] have no tool message answering them.",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "tool_choice 'required' or a named tool cannot be combined with response_format, regex, or ebnf:",
        Stage.REQUEST,
        "A required call and a constraint on the output each need a grammar, but only one can apply.",
        "Keep either the required call or the constraint.",
        f"{_PROTOCOL}: ChatCompletionRequest.to_sampling_params",
        example="tool_choice 'required' or a named tool cannot be combined with response_format, regex, or ebnf: the "
        "tool-call constraint and the output constraint cannot both be honored.",
        field="tool_choice",
    ),
    KnownError(
        "schema_ is required for json_schema response format request.",
        Stage.REQUEST,
        "`response_format` announces a schema but contains none.",
        "Put the schema into `response_format.json_schema.schema`.",
        f"{_CHAT}: _validate_request",
        field="response_format.json_schema",
    ),
    KnownError(
        "Request-supplied chat_template is not allowed.",
        Stage.REQUEST,
        "The server does not run chat templates sent with a request.",
        "Give the template when the server is started, or start it with `--trust-request-chat-template`.",
        f"{_CHAT}: _validate_request",
        example="Request-supplied chat_template is not allowed. Start the server with --trust-request-chat-template "
        "to permit it.",
        field="chat_template",
        cause=Cause.SETTING,
    ),
    KnownError(
        "'role' must be one of {roles} (case-insensitive).",
        Stage.REQUEST,
        "A message has a role that the server does not support.",
        "Use one of the roles that the message lists.",
        f"{_PROTOCOL}: ChatCompletionMessageGenericParam._normalize_role",
        example="'role' must be one of 'system', 'user', 'assistant', 'tool' (case-insensitive).",
        field="messages",
    ),
    KnownError(
        "Harmony does not support reasoning effort {value}",
        Stage.REQUEST,
        "The format of gpt-oss does not have this level of reasoning.",
        "Send `low`, `medium` or `high`.",
        f"{_CHAT}: _convert_to_internal_request",
        example="Harmony does not support reasoning effort minimal",
        field="reasoning_effort",
    ),
    KnownError(
        "Reasoning parser '{name:word}' is always-on and cannot be disabled via Anthropic thinking",
        Stage.REQUEST,
        "This model always thinks, but the request switches thinking off.",
        "Leave `thinking` out, or serve a model that can be switched.",
        f"{_CHAT}: apply_reasoning_enabled",
        example="Reasoning parser 'deepseek-r1' is always-on and cannot be disabled via Anthropic thinking",
        field="thinking",
    ),
    KnownError(
        "Failed to parse reasoning content",
        Stage.PARSE,
        "The reasoning parser could not separate reasoning from the answer.",
        "Check that the reasoning parser is the one for this model; the server's log has the cause.",
        f"{_CHAT}: _build_chat_response",
    ),
    KnownError(
        "expected a JSON array of tool calls, got {kind:word}",
        Stage.PARSE,
        "A forced call is read as a JSON list, but the model wrote something else.",
        "Send `tool_choice` as `auto`, so that the model's own notation is read.",
        f"{_CHAT}: _process_tool_calls",
        example="expected a JSON array of tool calls, got dict",
    ),
    KnownError(
        "Unsupported tool_call_parser: {name:word}",
        Stage.PARSE,
        "This release does not have a tool parser with that name.",
        "Start the server with a `--tool-call-parser` that the release has.",
        "sglang/srt/function_call/function_call_parser.py: FunctionCallParser.__init__",
        example="Unsupported tool_call_parser: kimi_k9",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Requested token count exceeds the model's maximum context length of {limit:int} tokens.",
        Stage.REQUEST,
        "Prompt and answer together are longer than the model's window.",
        "Shorten the prompt or lower `max_tokens`.",
        "sglang/srt/managers/tokenizer_manager.py: TokenizerManager._validate_one_request",
        example="Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a "
        "total of 9000 tokens: 8000 tokens from the input messages and 1000 tokens for the completion.",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "Failed to compile {kind:word} grammar: {why}",
        Stage.COMPLETE,
        "The schema or grammar for the output could not be compiled.",
        "Make the schema simpler: drop `pattern`, deep nesting and unusual keywords one by one.",
        "sglang/srt/constrained/grammar_manager.py: GrammarManager.process_req_with_grammar",
        example="Failed to compile json grammar: unsupported keyword `patternProperties`",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Tool call parsing error: {why}",
        Stage.PARSE,
        "The tool parser failed on the output, so the server returns it as text, without calls. Under a forced "
        "`tool_choice` it expects a JSON list, even from models that write another notation.",
        "Send `tool_choice` as `auto`, and start the server with the parser of this model; a newer release reads "
        "forced calls in the notation of the model.",
        "https://github.com/sgl-project/sglang/issues/34604",
        example="Tool call parsing error: string indices must be integers",
    ),
    KnownError(
        "Error in parse_streaming_increment: {why}",
        Stage.PARSE,
        "The tool parser failed within a stream, so part of the call is missing from what the client received.",
        "Compare the stream with the same request without `stream`; a newer release may read it.",
        "https://github.com/sgl-project/sglang/pull/7479",
        example="Error in parse_streaming_increment: Expecting value: line 1 column 1 (char 0)",
    ),
    KnownError(
        "Error in detect_and_parse: {why}",
        Stage.PARSE,
        "The tool parser failed on the output, so the server returns it as text, without calls.",
        "Compare the raw output with the notation that the parser reads: a parser for another family, broken JSON, "
        "or a call that is cut.",
        "sglang/srt/function_call: detect_and_parse",
        example="Error in detect_and_parse: Expecting ',' delimiter: line 1 column 42 (char 41)",
    ),
    KnownError(
        "Anthropic thinking is not supported for models without a reasoning parser",
        Stage.REQUEST,
        "A request of the Messages API sets `thinking`, and the server was started without a reasoning parser.",
        "Start the server with the `--reasoning-parser` of the model, or leave `thinking` out.",
        "sglang/srt/entrypoints/openai/serving_chat.py",
        field="thinking",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Number of tokens in multimodal embedding does not match those in the input text. Got {text:int} tokens in the "
        "text but {media:int} tokens from multimodal embeddings.",
        Stage.REQUEST,
        "The prompt has placeholders for more media than came with the request, or than were read: an image that could "
        "not be fetched, one that a gateway dropped, or a message that has a placeholder written into its text.",
        "Compare the content parts of the request, as it reached the server, with its texts: each image, video and "
        "audio must come as a part, and no text may have the model's placeholders. Update the server as well: releases "
        "differ in what they do with a part of a long prompt.",
        "https://github.com/sgl-project/sglang/issues/38022",
        example="Number of tokens in multimodal embedding does not match those in the input text. Got 12 tokens in the "
        "text but 0 tokens from multimodal embeddings.",
        field="messages",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Tokens not accepted: {token}",
        Stage.COMPLETE,
        "The grammar for structured output, or for calls, did not accept a token that was written: another feature "
        "wrote it, such as a thinking block, an end of turn, or speculative decoding.",
        "Send the request once without `response_format` and `strict` to be sure, then with thinking off; update the "
        "server, or choose another backend (`--grammar-backend`).",
        "sglang/srt/constrained/xgrammar_backend.py: XGrammarGrammar.accept_token",
        example="Tokens not accepted: 151645 Accepted tokens: [90, 198] Key string: None",
    ),
    KnownError(
        "must encode to exactly one token for constrained reasoning.",
        Stage.COMPLETE,
        "The server does not start: its reasoning parser needs a token that this model's vocabulary does not have.",
        "Start the server without `--reasoning-parser`, or with the one for this model: a model that does not think "
        "needs none.",
        "https://github.com/sgl-project/sglang/issues/24843",
        cause=Cause.SETTING,
    ),
)
