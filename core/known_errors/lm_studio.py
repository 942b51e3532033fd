"""What LM Studio says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "LM Studio"

_ISSUES = "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Error rendering prompt with jinja template: {why}",
        Stage.RENDER,
        "The chat template of the model failed, or refused the messages.",
        "Read the quoted words, which are the template's own; the template can be replaced in the settings "
        "of the model.",
        f"{_ISSUES}/1586",
        example='Error rendering prompt with jinja template: "Unknown test: mapping".',
        is_distinctive=False,
    ),
    KnownError(
        "Error in iterating prediction stream: {why}",
        Stage.COMPLETE,
        "The program that runs the model failed while the answer was being written; what follows is its own error, "
        "which names no part of the request.",
        "Update LM Studio and the model's runtime, and load the model again. If it fails with `tools` only, try the "
        "request without them, or the model in the other file format (GGUF, MLX), and report it with both results.",
        f"{_ISSUES}/314",
        example="Error in iterating prediction stream: StopIteration: ",
        cause=Cause.SERVER,
    ),
    KnownError(
        "Received request for {path:word} with invalid JSON: {why}",
        Stage.REQUEST,
        "The body that the client sent is not JSON, so the server read nothing of it; no model was asked.",
        "Correct the body at the position that the message names: a missing comma or bracket, a comma too many, or a "
        "quotation mark that the shell removed. Let a JSON library write it.",
        f"{_ISSUES}/1879",
        example="Received request for /api/v1/chat with invalid JSON: Expected ',' or ']' after array element in JSON",
    ),
    KnownError(
        "Unknown StringValue filter: {name:word}",
        Stage.RENDER,
        "The template uses a filter that this template engine does not have.",
        "Remove the filter from the template, in the settings of the model.",
        f"{_ISSUES}/1342",
        example="Unknown StringValue filter: safe",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Unknown test: {name:word}",
        Stage.RENDER,
        "The template uses a test that this template engine does not have.",
        "Update the server, whose newer engine may have it, or use a template without that test.",
        "https://github.com/zed-industries/zed/issues/45379",
        example="Unknown test: sequence",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Invalid tool_choice type: '{kind:word}'. Supported string values:",
        Stage.REQUEST,
        "A tool cannot be forced by name here.",
        "Send only that tool, with `tool_choice` as `required`.",
        f"{_ISSUES}/670",
        example="Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
        field="tool_choice",
    ),
    KnownError(
        "'response_format.type' must be 'json_schema' or 'text'",
        Stage.REQUEST,
        "There is no JSON mode without a schema here.",
        "Send a schema, as `json_schema`.",
        "https://github.com/LoadShine/tada/issues/16",
        field="response_format.type",
    ),
    KnownError(
        "Failed to parse tool call: {why}",
        Stage.PARSE,
        "The text of a call could not be read, and the server leaves the call out of its answer.",
        "Check where the arguments break off: allow more tokens if they end early, and ask again.",
        f"{_ISSUES}/942",
        example="Failed to parse tool call: Unexpected end of content",
    ),
    KnownError(
        "Failed to parse tool call: Extra content after end of tool call",
        Stage.PARSE,
        "More text follows the end of a call, such as a second call, but this parser reads one call at a time.",
        "Switch parallel calls off in the prompt, or use a server that reads several calls of this model.",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1528",
    ),
    KnownError(
        'Failed to parse tool call: Expected "{wanted}", but got "{found}" at index {at:int}',
        Stage.PARSE,
        "The header of a message departs from the notation that the parser expects, such as a recipient in another "
        "place.",
        "Compare the raw output in the server's log with the notation; a newer release may read it. More tokens do "
        "not help.",
        "https://github.com/lmstudio-ai/lmstudio-js/issues/493",
        example='Failed to parse tool call: Expected "<|message|>", but got "to=function" at index 89.',
    ),
    KnownError(
        'Failed to parse arguments for tool "{name}": params requires property "{property}"',
        Stage.CONTRACT,
        "The model wrote a call without a parameter that the tool's schema requires.",
        "Compare the names of the schema with those that the model wrote; describe the parameter, or make it optional.",
        "https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/1358",
        example='Failed to parse arguments for tool "search": params requires property "query"',
    ),
    KnownError(
        "Cannot call something that is not a function: got ObjectValue",
        Stage.RENDER,
        "The template calls a method of an object, such as `items()` or `get()`, and the object has a key of that "
        "name: a tool's schema with a property `items`, `keys` or `get`, for example.",
        "Rename that property in the schemas of the tools, or use a template that reads objects with filters "
        "(`|items`); the same request without `tools` shows whether it is that.",
        f"{_ISSUES}/2180",
        cause=Cause.TEMPLATE,
    ),
    KnownError(
        "No models loaded. Please load a model",
        Stage.COMPLETE,
        "The server runs, but has no model in memory.",
        "Load a model in the server (`lms load`), or let it load models when they are asked for; then send again.",
        "LM Studio, developer page",
        example="No models loaded. Please load a model in the developer page or use the `lms load` command.",
        cause=Cause.SETTING,
    ),
)
