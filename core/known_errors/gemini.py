"""What Google's Gemini API says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Gemini"

_DECLARED = (
    "A tool's schema has a keyword or a value that Google's client does not know; it checks each function against its "
    "own class before it sends anything, and the line above each fault is its path."
)
_DECLARED_FIX = (
    "Take the keyword out of the schema of that tool (`examples`, `$schema`, `additionalProperties`, `const` are those "
    "that servers of MCP often write), or give the schema as `parameters_json_schema`, which accepts JSON Schema "
    "unchanged."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The specified schema produces a constraint that has too many states for serving",
        Stage.REQUEST,
        "A schema of the request is too complex to be enforced: of the answer, or of all tools together.",
        "Make it smaller: shorter names and enums, no `minItems`, `maxItems`, `minimum`, `maximum` or `format`, less "
        "nesting, fewer optional properties; send fewer tools at once, or check those rules in the program.",
        "https://github.com/googleapis/python-genai/issues/660",
    ),
    KnownError(
        "(TYPE_BYTES), Base64 decoding failed for",
        Stage.REQUEST,
        "The data of an image or file is not Base64: the message quotes what was sent in its place, such as a file's "
        "address.",
        "Send the file's bytes in Base64, without `data:…;base64,` before them (`inlineData.data`); a file that has "
        "an address is sent as `fileData.fileUri`, and one that only your program can reach must be read by the "
        "program.",
        "https://github.com/google-gemini/deprecated-generative-ai-js/issues/307",
        field="messages",
    ),
    KnownError(
        "Please use a valid role: user, model.",
        Stage.REQUEST,
        "A turn in `contents` has another role: `assistant`, `system` or `tool`, as in chat completions.",
        "Write `model` for `assistant`, put what the system says into `systemInstruction`, and send results of calls "
        "as parts of a `user` turn; or use Gemini's OpenAI-compatible route, which takes those roles.",
        "https://ai.google.dev/api/caching#Content",
        field="messages",
    ),
    KnownError(
        'Unknown name "tools": Cannot find field.',
        Stage.REQUEST,
        "This version of the API has no tools: `v1` does not know the field, `v1beta` does.",
        'Send the request to `v1beta` (in google-genai, leave `http_options` with `api_version="v1"` out). Tools of '
        "Vertex AI alone, such as Google Maps, need a client with `vertexai=True`.",
        "https://ai.google.dev/gemini-api/docs/api-versions",
        example='Invalid JSON payload received. Unknown name "tools": Cannot find field.',
        field="tools",
    ),
    KnownError(
        'Unknown name "{name:word}" at \'generation_config.response_schema{within}: Cannot find field',
        Stage.REQUEST,
        "The schema of the answer has a keyword that `responseSchema` does not take: it knows a part of OpenAPI, "
        "without `additionalProperties`, `$schema`, `$ref` and `const`.",
        "Send the schema as `responseJsonSchema` (`response_json_schema`), which takes JSON Schema; or take that "
        "keyword out of it in every place that the message lists (pydantic writes `additionalProperties` for "
        '`dict[str, …]` and for `extra="forbid"`).',
        "https://ai.google.dev/gemini-api/docs/structured-output",
        example='Invalid JSON payload received. Unknown name "additional_properties" at '
        "'generation_config.response_schema.properties[0].value': Cannot find field.",
        field="response_format",
    ),
    KnownError(
        "Unknown name \"{name:word}\" at 'generation_config{within}': Cannot find field",
        Stage.REQUEST,
        "The API reads bodies strictly, and has no field of this name at that place. It may belong elsewhere, as "
        "settings of thinking do (`generationConfig.thinkingConfig`), or this version of the API does not know it.",
        "Move it to the place that the API reference gives, or leave it out; `v1beta` knows more fields than `v1`.",
        "https://ai.google.dev/api/generate-content",
        example="Invalid JSON payload received. Unknown name \"includeThoughts\" at 'generation_config': Cannot find "
        "field.",
    ),
    KnownError(
        "Unable to submit request because {name:word} is not supported by this model",
        Stage.REQUEST,
        "The request sets a field that this model does not take.",
        "Leave that field out for this model. For thinking, Gemini 2.5 takes `thinkingBudget` and Gemini 3 takes "
        "`thinkingLevel` (in `generationConfig.thinkingConfig`), and models without thinking take neither.",
        "https://github.com/google-gemini/gemini-cli/issues/14025",
        example="Unable to submit request because thinking_level is not supported by this model.",
    ),
    KnownError(
        "Model generated too many tool calls.",
        Stage.COMPLETE,
        "The model wrote more calls in one turn than the API accepts, and the answer was discarded.",
        "Ask again. If it happens again, say in the prompt how many calls a turn may have, or offer fewer tools.",
        "https://ai.google.dev/gemini-api/docs/function-calling",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "Function call is missing a thought_signature in functionCall parts.",
        Stage.REQUEST,
        "A call in the history came with a signature, and was sent back without it.",
        "Keep the call and send it back unchanged: the signature is in `extra_content.google.thought_signature` of the "
        "tool call on the OpenAI route, in `thoughtSignature` of the part on Gemini's own.",
        "https://github.com/rowboatlabs/rowboat/issues/694",
        example="Function call is missing a thought_signature in functionCall parts. Additional data, function call "
        "`default_api:read` , position 3.",
        field="messages",
        look=Look.SIGNATURE_ABSENT,
    ),
    KnownError(
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
        Stage.REQUEST,
        "A call is at the beginning of the history, or after another turn of the model.",
        "Shorten the history at the start of a user turn.",
        "https://github.com/google-gemini/gemini-cli/issues/11814",
        field="messages",
        look=Look.ROLES_ALTERNATE,
    ),
    KnownError(
        "number of function response parts is equal to the number of function call parts of the function call turn.",
        Stage.REQUEST,
        "Of several calls of one turn, not all have their result in the next turn.",
        "Answer all calls of a turn in one turn.",
        "https://github.com/google-gemini/gemini-cli/issues/16543",
        example="Please ensure that the number of function response parts is equal to the number of function call "
        "parts of the function call turn.",
        field="messages",
        look=Look.OPEN_CALLS,
    ),
    KnownError(
        "Please ensure that function response turn comes immediately after a function call turn",
        Stage.REQUEST,
        "A result does not directly follow its call.",
        "Keep call and result next to each other.",
        "https://github.com/langchain-ai/langchain/issues/27799",
        field="messages",
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "{name} is not supported in the Gemini API.",
        Stage.REQUEST,
        "The package google-genai refuses the schema before it is sent: `response_schema` takes only a part of "
        "OpenAPI.",
        "Send the schema as `response_json_schema`, which takes JSON Schema, in a current release of the package; or "
        "leave out what the message names (fields with free keys, such as `dict[str, …]`, make "
        "`additionalProperties`).",
        "https://github.com/ag2ai/ag2/issues/2348",
        example="additionalProperties is not supported in the Gemini API.",
        field="response_format",
    ),
    KnownError(
        "The thinking budget ({budget:int}) is invalid.",
        Stage.REQUEST,
        "The budget for thoughts lies outside of what this model takes.",
        "Send a `thinkingBudget` within the model's range (2.5 Pro: 128 to 32768, 2.5 Flash: up to 24576), or -1, "
        "which leaves it to the model; newer models take `thinkingLevel` in its place. Clients that give a share of "
        "the output limit exceed it.",
        "https://github.com/RooCodeInc/Roo-Code/issues/4399",
        example="The thinking budget (52428) is invalid.",
    ),
    KnownError(
        "Thinking budget is not supported for this model",
        Stage.REQUEST,
        "This model takes no budget for its thoughts, whether it thinks or not, as Gemma on Google's API.",
        "Leave `thinkingConfig.thinkingBudget` out; a client sends it where its thinking is switched on.",
        "https://github.com/aduermael/herm/issues/23",
        example="Thinking budget is not supported for this model.",
    ),
    KnownError(
        "The model does not support setting thinking_budget to {budget:int}",
        Stage.REQUEST,
        "With a budget of 0 thinking would be off, and this model (Gemini 2.5 Pro) always thinks.",
        "Send a budget of 128 or more, or -1, which leaves it to the model; or ask a model that can answer without "
        "thinking, such as 2.5 Flash.",
        "https://github.com/earendil-works/pi/issues/3460",
        example="Unable to submit request because The model does not support setting thinking_budget to 0",
    ),
    KnownError(
        "You can only set only one of thinking budget and thinking level",
        Stage.REQUEST,
        "The request has both `thinkingBudget` and `thinkingLevel`, and the API takes one of them.",
        "Send `thinkingLevel` to Gemini 3 and later, and `thinkingBudget` to 2.5; a client may add the other one from "
        "its own settings.",
        "https://github.com/sterlp/eclipse-peon-ai/issues/115",
        example="You can only set only one of thinking budget and thinking level.",
    ),
    KnownError(
        "Function calling with a response mime type: '{kind:word}' is unsupported",
        Stage.REQUEST,
        "This model does not support tools and a JSON answer together.",
        "Drop the tools or the JSON format.",
        "https://github.com/googleapis/python-genai/issues/867",
        example="Function calling with a response mime type: 'application/json' is unsupported",
        field="response_format",
    ),
    KnownError(
        "Tool use with function calling is unsupported",
        Stage.REQUEST,
        "Built-in tools and declared functions cannot be combined here.",
        "Send one kind per request.",
        "https://github.com/symfony/ai/issues/803",
        field="tools",
    ),
    KnownError(
        "Malformed function call: {text}",
        Stage.COMPLETE,
        "The model wrote code, or a call that the API cannot read, and the API returns no answer.",
        "Ask again; the calling mode `ANY` (`tool_choice: required`) constrains the output to the tools.",
        "https://github.com/googleapis/python-aiplatform/issues/4472",
        example="Malformed function call: print(default_api.read(path='a'))",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Request contains an invalid argument.",
        Stage.REQUEST,
        "A part of the request is invalid, and the API does not say which.",
        "Send less until it passes: first without the history of calls, then without tools, then without a schema; "
        "a `thoughtSignature` that is not from this API is one reason.",
        "https://github.com/diegosouzapw/OmniRoute/issues/724",
    ),
    KnownError(
        "candidates.{index:int}.content.parts Field required",
        Stage.PARSE,
        "The answer has a candidate without parts: the model ended without text, as with `MALFORMED_FUNCTION_CALL`, "
        "or was stopped.",
        "Check `finishReason` of the answer: after a malformed call, ask again, with simpler tool parameters.",
        "https://github.com/pydantic/pydantic-ai/issues/631",
        example="candidates.0.content.parts Field required [type=missing, input_value={}, input_type=dict]",
    ),
    KnownError(
        "Cannot fetch content from the provided URL.",
        Stage.REQUEST,
        "Vertex AI fetches a file of the request by its address, and could not: it is not public, or the robots.txt of "
        "its site forbids it (`URL_ROBOTED`).",
        "Send the file itself (`inlineData`), put it into Cloud Storage (`gs://…`), or give an address that anyone may "
        "fetch.",
        "https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference",
        example="Cannot fetch content from the provided URL. Please ensure the URL is valid and accessible by Vertex "
        "AI.",
    ),
    KnownError(
        "models/{model:word} is not found for API version {version:word}, or is not supported for {method:word}",
        Stage.REQUEST,
        "Gemini's API has no model of that name in this version, or the model does not support this kind of request; "
        "models are taken out of service, too.",
        "Set the model to one that the API lists (`/v1beta/models`) with that method.",
        "https://ai.google.dev/api/models",
        example="models/gemini-9 is not found for API version v1beta, or is not supported for generateContent",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "The `response.text` quick accessor requires the response to contain a valid `Part`, but none were returned. "
        "The candidate's {gap} is 2",
        Stage.COMPLETE,
        "The answer has no text because the token limit was reached first (`finish_reason` 2): thoughts count as "
        "output, too.",
        "Raise `max_output_tokens`, or give the thoughts a smaller budget.",
        "https://ai.google.dev/api/generate-content#finishreason",
        example="The `response.text` quick accessor requires the response to contain a valid `Part`, but none were "
        "returned. The candidate's [finish_reason](https://ai.google.dev/api/generate-content#finishreason) is 2.",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "The `response.text` quick accessor requires the response to contain a valid `Part`, but none were returned.",
        Stage.COMPLETE,
        "The answer has no text: it is a call, only thoughts, or it was blocked, which `finish_reason` says.",
        "Read `candidates[0].content.parts` and `finish_reason` in place of `response.text`: 1 is a normal end (a "
        "call, or nothing), 2 the token limit, 3 and more filters or a call that could not be read.",
        "https://ai.google.dev/api/generate-content#finishreason",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Content with role '{role:word}' can't contain '{part:word}' part",
        Stage.REQUEST,
        "The history that the chat was started with has a part in a turn whose role may not have it, so nothing was "
        "sent.",
        "Put `functionResponse` parts into a turn with the role `function`, `functionCall` parts into one with the "
        "role `model`.",
        "https://github.com/google-gemini/deprecated-generative-ai-js/blob/main/src/methods/chat-session-helpers.ts",
        example="Content with role 'user' can't contain 'functionResponse' part",
        field="contents",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "validation errors for FunctionDeclaration",
        Stage.REQUEST,
        _DECLARED,
        _DECLARED_FIX,
        "https://github.com/nowledge-co/community/issues/237",
        example="8 validation errors for FunctionDeclaration parameters.properties.query.examples Extra inputs are not "
        "permitted",
        field="tools",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "validation error for FunctionDeclaration",
        Stage.REQUEST,
        _DECLARED,
        _DECLARED_FIX,
        "https://github.com/nowledge-co/community/issues/237",
        example="1 validation error for FunctionDeclaration parameters.type Input should be 'STRING'",
        field="tools",
        cause=Cause.CLIENT,
    ),
)
