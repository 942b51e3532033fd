"""What OpenAI's API says; compatible servers repeat much of it word for word."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "OpenAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Invalid content type. image_url is only supported by certain models.",
        Stage.REQUEST,
        "A message contains an image, and the model that received it reads none. At a router, that is the model of the "
        "provider that it chose.",
        "Name a model that reads images; at a router, choose a provider that serves the model with images. Otherwise "
        "leave the image out, also those of earlier messages.",
        "https://github.com/danny-avila/LibreChat/issues/6333",
        field="messages",
        cause=Cause.SETTING,
    ),
    KnownError(
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.",
        Stage.REQUEST,
        "Calls in the history have no result.",
        "Add a tool message for each id that the message lists, right after the message that makes the calls.",
        "https://github.com/aliasrobotics/cai/issues/111",
        example="An assistant message with 'tool_calls' must be followed by tool messages responding to each "
        "'tool_call_id'. The following tool_call_ids did not have response messages: call_7",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "The encrypted content {content:word} could not be verified.",
        Stage.REQUEST,
        "The API cannot read the encrypted reasoning that the history brings back: often it is of another model, key "
        "or organization, or was changed on the way; the API itself has failed at this, too.",
        "Send the history without its `reasoning` items (and without `encrypted_content`), or begin a new session; "
        "after a change of model, key or organization this is always needed.",
        "https://github.com/openai/codex/issues/25290",
        example="The encrypted content gAAA...kg== could not be verified.",
        field="input",
    ),
    KnownError(
        "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
        Stage.REQUEST,
        "A tool result has no call before it.",
        "Keep the message that made the call, or drop the result.",
        "https://github.com/smarter-sh/smarter/issues/264",
        example="Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
        "'tool_calls'.",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "Invalid 'messages[{message:int}].tool_calls[{call:int}].function.name': string does not match pattern",
        Stage.REQUEST,
        "A call in the history has a name with characters that the API does not accept: one that the model made up "
        "(`multi_tool_use.parallel`, `functions.NAME`), or that the client changed.",
        "Rename it in that message, and answer calls of unknown tools with an error as their result in place of "
        "keeping such names; each later request repeats it.",
        "https://github.com/microsoft/semantic-kernel/issues/8292",
        example="Invalid 'messages[5].tool_calls[0].function.name': string does not match pattern. Expected a string "
        "that matches the pattern '^[a-zA-Z0-9_-]+$'.",
        field="messages[{message}].tool_calls[{call}].function.name",
    ),
    KnownError(
        "Invalid 'tools[{index:int}].function.name': string does not match pattern.",
        Stage.REQUEST,
        "A tool's name contains a character that is not allowed, such as a dot, a slash or a space.",
        "Rename the tool to letters, digits, `_` and `-`, and map the name back when a call comes.",
        "https://github.com/brekkylab/ailoy/pull/109",
        example="Invalid 'tools[0].function.name': string does not match pattern. Expected a string that matches the "
        "pattern '^[a-zA-Z0-9_-]+$'.",
        field="tools[{index}].function.name",
        look=Look.TOOL_NAMES,
    ),
    KnownError(
        "Invalid schema for response_format '{name}': In context={path}, 'additionalProperties' is required to be",
        Stage.REQUEST,
        "A strict schema leaves an object open.",
        "Set `additionalProperties` to false in every object of the schema.",
        "https://github.com/moeru-ai/xsai/issues/202",
        example="Invalid schema for response_format 'answer': In context=('properties', 'a'), 'additionalProperties' "
        "is required to be supplied and to be false.",
        field="response_format.json_schema.schema",
    ),
    KnownError(
        "Invalid schema for response_format '{name}': In context={path}, 'required' is required to be supplied and to "
        "be an array including every key in properties.",
        Stage.REQUEST,
        "A strict schema leaves a property out of `required`, where all of them must be.",
        'List every property of each object in `required`; one that may be absent gets the type `[…, "null"]`.',
        "https://github.com/bingoYB/ham_home/issues/16",
        example="Invalid schema for response_format 'answer': In context=(), 'required' is required to be supplied and "
        "to be an array including every key in properties. Missing 'city'.",
        field="response_format.json_schema.schema",
    ),
    KnownError(
        "Invalid schema for function '{name}': In context={path}, 'required' is required to be supplied and to be an "
        "array including every key in properties.",
        Stage.REQUEST,
        "A strict tool leaves a property out of `required`, where all of them must be.",
        'List every property of each object in `required`; one that may be absent gets the type `["string", "null"]`. '
        "Or send the tool without `strict`; a client that sets it for all tools has to convert their schemas.",
        "https://github.com/openai/codex/issues/538",
        example="Invalid schema for function 'look': In context=(), 'required' is required to be supplied and to be an "
        "array including every key in properties. Missing 'city'.",
        field="tools",
    ),
    KnownError(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        Stage.REQUEST,
        "JSON mode is requested, but no message mentions JSON.",
        "Ask for JSON in a message, or send a schema.",
        "https://github.com/mem0ai/mem0/issues/3559",
        field="response_format.type",
        look=Look.NO_MENTION_OF_JSON,
    ),
    KnownError(
        "Unsupported parameter: '{name:word}' is not supported with this model.",
        Stage.REQUEST,
        ("This model does not accept the field; reasoning models use `max_completion_tokens` instead of `max_tokens`."),
        "Leave the field out, or use the name given in the message.",
        "https://github.com/fish2018/YPrompt/issues/26",
        example="Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' "
        "instead.",
        field="{name}",
    ),
    KnownError(
        "Item '{id:word}' of type 'reasoning' was provided without its required following item.",
        Stage.REQUEST,
        "The input contains a reasoning item without the message or call that followed it.",
        "Send both back, or neither.",
        "https://github.com/vercel/ai/issues/7099",
        example="Item 'rs_7' of type 'reasoning' was provided without its required following item.",
        field="input",
    ),
    KnownError(
        "Item '{id:word}' of type '{kind:word}' was provided without its required 'reasoning' item",
        Stage.REQUEST,
        "The input contains a call or a message of a reasoning model without the reasoning item that came before it.",
        "Send both back, the reasoning item first and unchanged, or let the server keep them (`previous_response_id`); "
        "without reasoning items, leave out the `id` of that item. Update the client.",
        "https://github.com/TanStack/ai/issues/1212",
        example="Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
        field="input",
    ),
    KnownError(
        "No tool output found for function call {id:word}",
        Stage.REQUEST,
        "The input contains a call without its output.",
        "Add the `function_call_output` with the same `call_id`.",
        "https://github.com/router-for-me/CLIProxyAPI/issues/2368",
        example="No tool output found for function call call_7.",
        field="input",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "No tool call found for function call output with call_id {id:word}",
        Stage.REQUEST,
        "The input contains the output of a call that is missing.",
        "Keep the `function_call` item with the same `call_id` before its output.",
        "https://github.com/microsoft/vscode/issues/320060",
        example="No tool call found for function call output with call_id call_7.",
        field="input",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "Item with id '{id:word}' not found. Items are not persisted when",
        Stage.REQUEST,
        "The input refers to a stored item, but nothing is stored.",
        "Set `store` to true, or send the item itself instead of its id.",
        "https://github.com/earendil-works/pi/issues/5059",
        example="Item with id 'rs_7' not found. Items are not persisted when `store` is set to false.",
        field="store",
    ),
    KnownError(
        "You exceeded your current quota",
        Stage.REQUEST,
        "The account has no credit left, or has reached its limit for the month.",
        "Check the plan and billing of the account that the key belongs to: waiting does not help.",
        "https://platform.openai.com/docs/guides/error-codes",
        example="You exceeded your current quota, please check your plan and billing details.",
        cause=Cause.QUOTA,
    ),
    KnownError(
        "maximum context length is {limit:int} tokens. However, you requested {asked:int} tokens",
        Stage.REQUEST,
        "Prompt and answer together are longer than the model's window.",
        "Shorten the messages or the tools, or lower `max_tokens`.",
        "https://platform.openai.com/docs/guides/error-codes",
        example="This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (4000 in the "
        "messages, 1000 in the completion).",
        field="messages",
        cause=Cause.CONTEXT,
    ),
    KnownError(
        "Invalid type for '{path:word}': expected {wanted}, but got {kind} instead.",
        Stage.REQUEST,
        "A field of the request has a different type than the API expects there.",
        'Send the field that the message names with the type that it names; leave an absent text out, or send `""`.',
        "https://github.com/ag2ai/ag2/issues/2297",
        example="Invalid type for 'input[2].content[0].text': expected a string, but got null instead.",
        field="{path}",
    ),
    KnownError(
        "Invalid schema for function '{name:word}': schema must be a JSON Schema of 'type: \"object\"', got 'type: "
        '"{kind:word}"\'.',
        Stage.REQUEST,
        "The parameters of that tool are not declared as an object.",
        'Give `parameters` as `{"type": "object", "properties": {…}}`, empty for a tool without parameters.',
        "https://github.com/n8n-io/n8n/issues/29353",
        example="Invalid schema for function 'search': schema must be a JSON Schema of 'type: \"object\"', got 'type: "
        '"None"\'.',
        field="tools",
    ),
    KnownError(
        "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
        Stage.REQUEST,
        "A tool result has no call before it.",
        "Keep the message that made the call, or drop the result.",
        "https://github.com/qwersyk/Newelle/issues/425",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "The model produced invalid content.",
        Stage.PARSE,
        "The API could not read what its model wrote, usually a broken call; histories with `name` in messages "
        "or with several speakers provoke it.",
        "Ask again; leave `name` out of assistant messages, and simplify the schemas of the tools.",
        "https://github.com/microsoft/autogen/issues/3437",
    ),
    KnownError(
        "Invalid 'input[{index:int}].id': '{id:word}'. Expected an ID that begins with '{prefix:word}'.",
        Stage.REQUEST,
        "An item of the history has an id that did not come from this API: an adapter turned the answer of "
        "another API or provider into items of Responses.",
        "Leave `id` out of items that this API did not make, or send each provider only its own history."
        " Update the agent framework: some fill in a placeholder such as `__fake_id__`.",
        "https://github.com/openai/openai-agents-python/issues/270",
        example="Invalid 'input[1].id': 'x_1'. Expected an ID that begins with 'msg'.",
        field="input[{index}].id",
    ),
    KnownError(
        "Incorrect API key provided: {key:word}. You can find your API key at https://platform.openai.com",
        Stage.COMPLETE,
        "OpenAI itself answered, and does not know this key.",
        "If a local server or another vendor was meant, the request went to the wrong address: set the base URL where "
        "this client reads it (`OPENAI_BASE_URL`, `base_url`, `api_base`); a key such as `lm-studio` or `EMPTY` shows "
        "it. Otherwise set a key of your account.",
        "https://github.com/OpenHands/OpenHands/issues/799",
        example="Incorrect API key provided: lm-studio. You can find your API key at "
        "https://platform.openai.com/account/api-keys.",
        cause=Cause.ACCESS,
    ),
    KnownError(
        "Content blocks are expected to be either text or image_url type.",
        Stage.REQUEST,
        "The message has a part of another kind, such as audio or a file, and this model takes only text and images.",
        "Leave that part out or send it as text, or choose a model that accepts it.",
        "https://platform.openai.com/docs/guides/audio",
        example="Invalid 'messages[2]'. Content blocks are expected to be either text or image_url type.",
    ),
    KnownError(
        "Image URLs are only allowed for messages with role 'user', but this message with role '{role:word}' contains "
        "an image URL.",
        Stage.REQUEST,
        "An image is in a message of another role than `user`: in an answer, a system message or a tool's result.",
        "Move the image into a message of the role `user`, after the one that it belongs to, and leave a text in its "
        "place.",
        "https://github.com/openai/openai-node/issues/1030",
        example="Image URLs are only allowed for messages with role 'user', but this message with role 'assistant' "
        "contains an image URL.",
        field="messages",
        look=Look.IMAGE_OF_OTHERS,
    ),
    KnownError(
        "The file type you uploaded is not supported. Please try again with a pdf",
        Stage.REQUEST,
        "The API does not accept a file of this type as `input_file`.",
        "Send a PDF, or the text of the file; audio is sent as `input_audio`, to a model that accepts it.",
        "https://platform.openai.com/docs/guides/pdf-files",
    ),
    KnownError(
        "invalid_image_url: Error while downloading {url:word}",
        Stage.REQUEST,
        "OpenAI fetches an image by its address, and could not.",
        "Send the image itself (`data:image/png;base64,…`), or give an address that anyone may fetch and that answers "
        "fast with a small image.",
        "https://github.com/openai/openai-python/pull/2790",
        example="invalid_image_url: Error while downloading https://example.org/a.png.",
    ),
)
