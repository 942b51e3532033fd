"""What the tools take. Clients write JSON where a text is wanted as often as they write a text: both are taken."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BeforeValidator, Field, WithJsonSchema

from prompt_debugger.core.parse.engines import WHEELS
from prompt_debugger.core.pipeline.examples import EXAMPLE_NAMES

Engine = Literal["vllm", "sglang", "mlx-lm", "lmdeploy", "all"]


class ToCheck(NamedTuple):
    """What `check` is asked for; "" leaves it to the check.

    Attributes:
        model: Folder, Hub id, template file, or URL of a server.
        chat_template: A file, or the template itself.
        engine: Whose parsers.
        release: Of that engine.
        tool_parser: The only tool parser.
        reasoning_parser: The only reasoning parser.
    """

    model: str = ""
    chat_template: str = ""
    engine: str = "vllm"
    release: str = ""
    tool_parser: str = ""
    reasoning_parser: str = ""


class Where(NamedTuple):
    """Where a request is to go, as a client says it; "" leaves it to the server's own settings."""

    endpoint: str = ""
    model: str = ""
    tokenizer: str = ""
    tool_parser: str = ""
    reasoning_parser: str = ""


def _as_text(value: object) -> object:
    """Return a JSON value as its text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_STRING = {"type": "string"}
_OBJECT = {"type": "object", "additionalProperties": True}
_TEXT_OR_OBJECT = (BeforeValidator(_as_text), WithJsonSchema({"anyOf": [_STRING, _OBJECT]}))

Text = Annotated[
    str,
    BeforeValidator(_as_text),
    WithJsonSchema({"anyOf": [_STRING, _OBJECT, {"type": "array", "items": {}}]}),
    Field(
        description="What you have, unchanged, as text or JSON: answer, stream, raw output, log, error, HAR, saved run."
    ),
]
Body = Annotated[
    str,
    *_TEXT_OR_OBJECT,
    Field(description="Chat completion body with messages and tools, as JSON or as a curl command."),
]
Answered = Annotated[
    str,
    *_TEXT_OR_OBJECT,
    Field(description="The request that `text` answers, if `text` does not contain it; more is found with it."),
]
Handle = Annotated[str, Field(description="The `handle` that an earlier tool call returned.")]
RunHandle = Annotated[str, Field(description="The `handle` that `run` or `try_fix` returned.")]
Code = Annotated[str, Field(description="Code of a finding, such as PD401.")]
Example = Annotated[str, Field(description=f"Instead of `request`: an example, one of {', '.join(EXAMPLE_NAMES)}.")]
Endpoint = Annotated[
    str,
    Field(
        description="Base URL such as http://localhost:8000/v1; without it the configured server, or a lab of our own."
    ),
]
Requested = Annotated[list[dict[str, Any]] | None, Field(description="`tools` of the request.")]
Parsers = Annotated[
    list[str] | None,
    Field(
        description="Parsers to try on it: ENGINE:NAME such as vllm:hermes or sglang:qwen25, vllm:* for all of vLLM's, "
        f"all for every engine's. Engines: vllm, {', '.join(WHEELS)}."
    ),
]
Release = Annotated[
    str, Field(description="Version of the engine, such as 0.11.0; must be downloaded: `parse --fetch vllm==0.11.0`.")
]
Part = Annotated[
    Literal["document", "report", "request", "prompt", "raw", "message", "html", "bundle"],
    Field(
        description="`report`: Markdown for an issue; `document`: the whole JSON; `raw`: what the model wrote; "
        "`message`: what the server returned; `bundle`: a file that this program opens again."
    ),
]
