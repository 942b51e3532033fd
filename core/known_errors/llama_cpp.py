"""What llama.cpp's server says, with its template engines (minja before, its own now)."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "llama.cpp"

_SERVER = "ggml-org/llama.cpp, tools/server/server-common.cpp: oaicompat_chat_params_parse"
_RESPONSES = "ggml-org/llama.cpp, tools/server/server-common.cpp: convert_responses_to_chatcmpl"
_ISSUES = "https://github.com/ggml-org/llama.cpp/issues"
_BAD_BATCH = (
    "The server's engine did not take the tokens that the server gave it: their places do not follow what its "
    "memory holds, or a token is not of this model. All requests that ran together fail with it.",
    "The request needs no change: restart the server and send it again. If it comes back, start the server with "
    "one slot (`-np 1`) and without a draft model, `--cache-reuse` or saved slots to see which of them causes it, "
    "and update llama.cpp.",
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "[json.exception.type_error.316] invalid UTF-8 byte at index {index:int}",
        Stage.COMPLETE,
        "The server wrote a text with bytes that are not UTF-8 into JSON, and its process ended: usually an unfinished "
        "character of the output.",
        "Update llama.cpp; the request needs no change.",
        "https://github.com/ggml-org/llama.cpp/issues/11738",
        example="[json.exception.type_error.316] invalid UTF-8 byte at index 145",
    ),
    KnownError(
        "Invalid chat handler: {name:word} (valid formats:",
        Stage.RENDER,
        "The installed llama-cpp-python has no chat format of that name; `None` means that none was given, and the "
        "GGUF has no template that it can take.",
        "Set `chat_format` (of the server: `--chat_format`) to one of those that the message lists, the one that the "
        "model was trained with; or update llama-cpp-python and use a GGUF that contains `tokenizer.chat_template`.",
        "https://github.com/containers/ai-lab-recipes/issues/547",
        example="Invalid chat handler: None (valid formats: ['llama-2', 'chatml'])",
        cause=Cause.SETTING,
    ),
    KnownError(
        '"prompt" must be provided',
        Stage.REQUEST,
        "What took the request completes a `prompt`, and the request has none; a chat request has `messages` instead.",
        "Send `messages` to `/v1/chat/completions`, and only a `prompt` to `/completion` and `/v1/completions`.",
        "ggml-org/llama.cpp, examples/server/server.cpp: launch_slot_with_task",
        field="prompt",
    ),
    KnownError(
        "tools param requires --jinja flag",
        Stage.REQUEST,
        "The server does not run the model's own template, so it cannot print tools.",
        "Start the server with `--jinja`; the request itself needs no change.",
        "https://github.com/defilantech/LLMKube/issues/126",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        "tool_choice param requires --jinja flag",
        Stage.REQUEST,
        "The server does not run the model's own template, so it cannot force a call.",
        "Start the server with `--jinja`; the request itself needs no change.",
        _SERVER,
        field="tool_choice",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Cannot use custom grammar constraints with tools.",
        Stage.REQUEST,
        "The server builds a grammar from the tools, and the request contains its own.",
        "Drop `grammar` or `tools`.",
        _SERVER,
        field="grammar",
    ),
    KnownError(
        "Cannot use both json_schema and grammar",
        Stage.REQUEST,
        "Two constraints on the output were sent together.",
        "Keep `json_schema` or `grammar`.",
        _SERVER,
        field="json_schema",
    ),
    KnownError(
        'response_format type must be one of "text" or "json_object", but got: {kind:word}',
        Stage.REQUEST,
        "`response_format` has a type that the server does not support; `json_schema` is also accepted.",
        "Send `text`, `json_object` or `json_schema`.",
        _SERVER,
        example='response_format type must be one of "text" or "json_object", but got: grammar',
        field="response_format.type",
    ),
    KnownError(
        "All non-assistant messages must contain 'content'",
        Stage.REQUEST,
        "A user, system or tool message has no `content`.",
        "Add `content` to every message, even an empty one.",
        _SERVER,
        field="messages",
        look=Look.CONTENT_ABSENT,
    ),
    KnownError(
        "Assistant message must contain either 'content' or 'tool_calls'!",
        Stage.REQUEST,
        "An assistant message has neither text nor calls.",
        "Remove the message, or give it `content`.",
        _SERVER,
        field="messages",
        look=Look.CONTENT_ABSENT,
    ),
    KnownError(
        'Unsupported content part type: "image_url"',
        Stage.REQUEST,
        "The message contains an image, and this llama-server reads only text: it is a release from before May 2025, "
        "or was started without the model's projector.",
        "Update llama.cpp and start it with the projector of the same model (`--mmproj FILE`, or `-hf` with a "
        "repository that has one); with a model that sees nothing, send text alone.",
        "https://github.com/ggml-org/llama.cpp/issues/12947",
        field="messages",
        cause=Cause.SETTING,
    ),
    KnownError(
        "unsupported content[].type",
        Stage.REQUEST,
        "A part of a message's content has a type that the server does not read.",
        "Send the part as text.",
        _SERVER,
        field="messages",
    ),
    KnownError(
        "Cannot have 2 or more assistant messages at the end of the list.",
        Stage.REQUEST,
        "The conversation ends with several assistant messages, but only one can be continued.",
        "Join them into one.",
        _SERVER,
        field="messages",
    ),
    KnownError(
        "Assistant response prefill is incompatible with enable_thinking.",
        Stage.REQUEST,
        "The last message is the assistant's and is continued, which is not possible with thinking.",
        "End with a user message, or set `enable_thinking` to false.",
        f"{_ISSUES}/20861",
        field="messages",
    ),
    KnownError(
        'invalid type for "enable_thinking" (expected boolean, got string)',
        Stage.REQUEST,
        "`enable_thinking` was sent as text.",
        "Send `true` or `false` without quotation marks.",
        _SERVER,
        field="chat_template_kwargs.enable_thinking",
    ),
    KnownError(
        "logprobs is not supported with tools + stream",
        Stage.REQUEST,
        "Log-probabilities are not available for a streamed answer with tools.",
        "Drop `logprobs`, or do not stream.",
        _SERVER,
        field="logprobs",
    ),
    KnownError(
        "Only one completion choice is allowed",
        Stage.REQUEST,
        "The request asks for several answers, but this server gives only one.",
        "Send `n` as 1.",
        _SERVER,
        field="n",
    ),
    KnownError(
        "image input is not supported - hint:",
        Stage.REQUEST,
        "The server was started without the part of the model that reads images.",
        "Start the server with `--mmproj FILE`, or send no image.",
        _SERVER,
        example="image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
        field="messages",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Unable to generate parser for this template. Automatic parser generation failed: {why}",
        Stage.RENDER,
        "The server tries the template to learn how the model writes calls, and the template failed, or "
        "the result was not understood.",
        "Read the end of the message: often it is a check in the template, or a schema that the template "
        "cannot print. A newer build or another template (`--chat-template-file`) may help.",
        "ggml-org/llama.cpp, common/chat.cpp",
        example="Unable to generate parser for this template. Automatic parser generation failed: No user query found",
        is_general=True,
    ),
    KnownError(
        "Not enough arguments provided to macro '{name:word}'",
        Stage.RENDER,
        "The chat template calls one of its macros with fewer arguments than it declares; the template engine of "
        "llama.cpp refuses that where Python's Jinja goes on.",
        "The request needs no change. Use a template in which the call is complete: a newer one of the model, or a "
        "copy that passes the argument (`--chat-template-file`).",
        "https://github.com/mistralai/mistral-common/pull/269",
        example="Not enough arguments provided to macro 'render_content'",
    ),
    KnownError(
        "Failed to parse input at pos {at:int}:",
        Stage.PARSE,
        "The model's output does not match the call notation that the server expects for this template.",
        "Check the character that the message names: the server's parser does not accept what is there. A "
        "newer build, the model's current template or a lower temperature may help.",
        f"{_ISSUES}/24644",
        example="Failed to parse input at pos 12: <tool_call>{",
    ),
    KnownError(
        "The model produced output that does not match the expected {parser:word} format",
        Stage.PARSE,
        "The model wrote something that the server's parser for this template does not recognize.",
        "Compare the raw output (`unparsed …` in the server's log) with the notation of the template; a "
        "newer build or the model's current template may help.",
        f"{_ISSUES}/27025",
        example="The model produced output that does not match the expected peg-native format",
    ),
    KnownError(
        "unparsed {parser:word} output:",
        Stage.PARSE,
        "The server's parser stopped in this output and treated the rest of it as text.",
        "Compare the output with the notation of the template: generator and parser expect different headers or "
        "markers. A newer build or the model's current template may help.",
        f"{_ISSUES}/24658",
        example="common_chat_peg_parse: unparsed peg-native output: <|tool_call_begin|>f_0",
    ),
    KnownError(
        "Failed to initialize samplers: failed to parse grammar",
        Stage.COMPLETE,
        "The server built a grammar from a schema, of a tool or of the answer's format, that it cannot use itself.",
        "Look for a `pattern` with escapes such as `\\d` (write `[0-9]`, `[A-Za-z0-9_]` for `\\w`), above all in the "
        "items of an array, and for large `maxLength`, `maxItems` and `{m,n}`: simplify them or take them out, and "
        "check the value in the program.",
        "https://github.com/flagdizero/jenny-android-ai-agent/issues/2",
        field="tools",
        cause=Cause.REQUEST,
        look=Look.REGEX_ESCAPES,
    ),
    KnownError(
        "Invalid diff: now finding less tool calls!",
        Stage.PARSE,
        "During streaming, the server found fewer calls in a longer output than before.",
        "Ask without `stream`, or use a newer build.",
        "https://github.com/openclaw/openclaw/issues/38569",
    ),
    KnownError(
        "Invalid diff: '{old}' not found at start of '{new}'",
        Stage.PARSE,
        "During streaming, the server read the output again after each piece, and what it had sent of a call was no "
        "longer the beginning of what it read now: its reader of half a call is at fault, not the model.",
        "Use a newer build, or ask without `stream`.",
        "https://github.com/ggml-org/llama.cpp/pull/12379",
        example='Invalid diff: \'{"to":"pa\' not found at start of \'{"to":\'',
    ),
    KnownError(
        "Value is not callable: null at row {row:int}, column {column:int}",
        Stage.RENDER,
        "The template calls a method or a function that this server's template engine does not have.",
        "Use a newer build, or give a template without that call (`--chat-template-file`): the template is "
        "correct for transformers.",
        "https://github.com/janhq/jan/issues/6123",
        example="Value is not callable: null at row 49, column 79:",
        cause=Cause.SETTING,
    ),
    KnownError(
        "number of media markers in text ({markers:int}) does not match number of bitmaps ({images:int})",
        Stage.RENDER,
        "The request contains images that have no place in the prompt: the template printed no marker for them.",
        "Use a template that prints images, or let the server run the model's own (`--jinja`).",
        "https://github.com/mudler/LocalAI/issues/10945",
        example="mtmd_tokenize: error: number of media markers in text (0) does not match number of bitmaps (1)",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Loading model",
        Stage.COMPLETE,
        "The server is up and is still loading the model.",
        "Wait until `/health` answers 200, then send the request again.",
        "ggml-org/llama.cpp, tools/server/server.cpp",
        cause=Cause.LOADING,
        is_distinctive=False,
    ),
    KnownError(
        "JSON schema error: {why}",
        Stage.REQUEST,
        "A schema of the request cannot be converted to a grammar.",
        "Correct the schema: the end of the message says what is wrong with it.",
        "ggml-org/llama.cpp, common/json-schema-to-grammar.cpp",
        example='JSON schema error: unrecognized type "dict"',
        field="tools",
        is_distinctive=False,
    ),
    KnownError(
        "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101]",
        Stage.REQUEST,
        "The arguments of a call in the history are not JSON, and the server cannot render them.",
        "Send back valid JSON as the arguments of every call; a call without arguments has `{}`.",
        f"{_ISSUES}/25510",
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "the request exceeds the available context size",
        Stage.REQUEST,
        "Prompt and answer do not fit into the context that the server was started with.",
        "Shorten the messages or the tools, or start the server with a larger `-c`.",
        "ggml-org/llama.cpp, tools/server/server.cpp",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "Cannot determine type of 'item'",
        Stage.REQUEST,
        "The Responses API of llama.cpp does not know one item of `input`. It takes a user's message, an assistant's "
        'message with `"type": "message"` if its content is a list, `function_call`, `function_call_output`, and '
        "`reasoning` with a list as `summary`.",
        "Give every item its `type`, and remove types that only OpenAI's server knows; or send the conversation to "
        "`/v1/chat/completions`.",
        "https://github.com/agent0ai/agent-zero/issues/1757",
        cause=Cause.REQUEST,
        field="input",
    ),
    KnownError(
        "'type' must be one of 'input_text', 'input_image', or 'input_file'",
        Stage.REQUEST,
        "A part of a user's or system message in `input` has another type.",
        "Send these parts as `input_text` and `input_image`; `text` and `image_url` are those of chat completions.",
        _RESPONSES,
        field="input",
    ),
    KnownError(
        "'type' must be 'output_text'",
        Stage.REQUEST,
        "A part of an assistant's message in `input` has another type than `output_text`, such as a refusal.",
        "Send what the assistant said as `output_text`, and leave other parts out.",
        _RESPONSES,
        field="input",
    ),
    KnownError(
        "Output of tool call should be 'Input text'",
        Stage.REQUEST,
        "The result of a call, a `function_call_output` in `input`, has a part that is not text.",
        "Send `output` as one string, or as parts of the type `input_text`; an image cannot be a result here.",
        _RESPONSES,
        field="input",
    ),
    KnownError(
        "'input_file' is not supported by llamacpp",
        Stage.REQUEST,
        "A message in `input` has a file, which this server does not accept.",
        "Send the file's text as `input_text`, or an image as `input_image`.",
        _RESPONSES,
        field="input",
    ),
    KnownError(
        "item['content'] is {fault}",
        Stage.REQUEST,
        "A `reasoning` item of `input` has no `content` with a text; OpenAI's own items have it only encrypted.",
        "Leave reasoning items without a text out of `input`.",
        _RESPONSES,
        example="item['content'] is not an array",
        field="input",
    ),
    KnownError(
        "llama_grammar_init_impl: failed to parse grammar",
        Stage.COMPLETE,
        "The grammar that the server made from a schema cannot be used; builds that only log this continue, and "
        "the answer is not constrained.",
        "Simplify the schema: a `pattern` with escapes, lookaheads or large numbers is the usual reason.",
        "https://github.com/ggml-org/llama.cpp/issues/19051",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Pattern must start with '^' and end with '$'",
        Stage.COMPLETE,
        "A `pattern` in a schema is not anchored at both ends, but this server converts only anchored patterns to "
        "grammars.",
        "Anchor the pattern with `^` and `$`, or take it out.",
        "https://github.com/ggml-org/llama.cpp/issues/26930",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "Failed to parse arguments: [json.exception.parse_error.101]",
        Stage.REQUEST,
        "The arguments of a call in the history are not JSON; the template gets them as text.",
        "Send back valid JSON as the arguments of every call, encoded once; a call without arguments has `{}`.",
        "minja/chat-template.hpp: chat_template.apply",
        example="Failed to parse arguments: [json.exception.parse_error.101] parse error at line 1, column 6",
        cause=Cause.UNCLEAR,
        field="messages",
        look=Look.BROKEN_ARGUMENTS,
    ),
    KnownError(
        "Invalid input batch. i = {i:int}, n_batch = {size:int}, ret = -1",
        Stage.COMPLETE,
        *_BAD_BATCH,
        f"{_ISSUES}/17316",
        example="srv  update_slots: Invalid input batch. i = 0, n_batch = 2048, ret = -1",
        cause=Cause.SERVER,
    ),
    KnownError(
        "send_error: task id = {id:int}, error: Invalid input batch.",
        Stage.COMPLETE,
        *_BAD_BATCH,
        f"{_ISSUES}/17316",
        example="srv    send_error: task id = 327, error: Invalid input batch.",
        cause=Cause.SERVER,
    ),
)
