"""What LangChain4j itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "LangChain4j"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "ToolArgumentsException: params '{text}' from request do not map onto the parameters needed by",
        Stage.CONTRACT,
        "The arguments of a call, which the message quotes, are not an object with the method's parameters.",
        'Look at what is quoted. Where it begins and ends with `"` and has `\\"` within, the arguments were encoded '
        "twice, so that a string arrived in place of an object: update the server or the client's module for it, or "
        "decode them once more. Otherwise compare the names with the tool's schema in the request.",
        "https://github.com/quarkiverse/quarkus-langchain4j/issues/2569",
        example="dev.langchain4j.exception.ToolArgumentsException: params '{\"a\": 1}' from request do not map onto "
        "the parameters needed by 'a.B#c'",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        'because "toolExecutor" is null',
        Stage.CONTRACT,
        "The model called a tool of a name under which the service has none: it made the name up, or altered it.",
        "Compare the name in the call with the `@Tool` methods of the service, and describe what each is for. Set a "
        "strategy for such names (`hallucinatedToolNameStrategy`), which gives the model the complaint back as the "
        "tool's result.",
        "https://github.com/langchain4j/langchain4j/issues/2442",
        example='Cannot invoke "dev.langchain4j.service.tool.ToolExecutor.execute(ToolExecutionRequest, Object)" '
        'because "toolExecutor" is null',
    ),
    KnownError(
        'OutputParsingException: Failed to parse "{text}',
        Stage.CONTRACT,
        "The answer is not the JSON of the class that the service returns.",
        "Look at what is quoted. Control tokens (`<|channel|>`) mean that the server did not parse its own model's "
        "notation: start it with the reasoning and tool parsers of the model. A code fence or prose around the JSON: "
        "set a response format with a schema (`responseFormat`, `supportedCapabilities`) where the model supports it.",
        "https://github.com/langchain4j/langchain4j/issues/4072",
        example='dev.langchain4j.service.output.OutputParsingException: Failed to parse "Sure: {}" (base64: "Uzog") '
        "into a.B",
    ),
    KnownError(
        'Cannot coerce empty String ("") to `dev.langchain4j.model.openai.internal.chat.ToolType`',
        Stage.PARSE,
        'A piece of a streamed call has `"type": ""`. OpenAI sends `type` only with the first piece of a call; this '
        "server repeats it in the later ones, empty, and the client accepts `function` alone.",
        "Ask without streaming, or use a release of the client that ignores an empty `type`. On your own server or "
        "gateway: send `id`, `type` and `name` only with the first piece of a call.",
        "https://github.com/langchain4j/langchain4j/issues/2711",
        example='Cannot coerce empty String ("") to `dev.langchain4j.model.openai.internal.chat.ToolType` value',
        cause=Cause.OUTPUT,
    ),
)
