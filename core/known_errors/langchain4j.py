"""What LangChain4j says by itself."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "LangChain4j"

SENTENCES: tuple[KnownError, ...] = (
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
)
