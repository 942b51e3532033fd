"""What Outlines says. Read in release 1.3.3."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Outlines"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Format {name:word} is not supported by Outlines",
        Stage.REQUEST,
        "The schema has a `format` that this grammar backend does not know.",
        "Leave that `format` out of the schema, or write it as a `pattern`; or start the server with another grammar "
        "backend.",
        "https://github.com/sgl-project/sglang/pull/1776",
        example="Format email is not supported by Outlines",
    ),
    KnownError(
        "Neither regex-based structured outputs nor the `pattern` keyword in Json Schema are available with "
        "{vendor:word}.",
        Stage.REQUEST,
        "The vendor's API enforces JSON schemas only, without regular expressions.",
        "Take regexes and `pattern` out of the output type and check them in the program, or use a model whose server "
        "enforces them.",
        "outlines/models/openai.py: OpenAITypeAdapter",
        example="Neither regex-based structured outputs nor the `pattern` keyword in Json Schema are available with "
        "OpenAI.",
        field="response_format",
    ),
    KnownError(
        "The type `{kind}` is not supported by {vendor}. Consider using a local",
        Stage.REQUEST,
        "The vendor's API has no structured output of that kind.",
        "Give a JSON schema (a Pydantic model, a dataclass) as the output type, or use a model that runs locally.",
        "outlines/models/ollama.py: OllamaTypeAdapter",
        example="The type `Regex` is not supported by Ollama. Consider using a local model instead.",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "The input type {kind} is not available with {vendor:word}.",
        Stage.REQUEST,
        "The model was called with something other than a text, a list or a `Chat`.",
        "Pass a string, or `Chat([...])` with the messages.",
        "outlines/models/openai.py: OpenAITypeAdapter",
        example="The input type dict is not available with OpenAI.",
        cause=Cause.CLIENT,
    ),
)
