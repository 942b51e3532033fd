"""What Go's HTTP library itself says, in Ollama and other servers and gateways."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "servers written in Go"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "404 page not found",
        Stage.REQUEST,
        "The server has nothing at that address; servers written in Go, such as Ollama, answer this way.",
        "Check the address. Clients of chat completions want it up to and including `/v1`; those of Anthropic's API, "
        "such as Claude Code, add `/v1/messages` themselves, so theirs ends before it. The path that results must be "
        "one that the server has.",
        "https://github.com/letta-ai/letta/issues/3142",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "Error:Field validation for '{field:word}' failed on the 'required' tag",
        Stage.REQUEST,
        "The server checks what it was sent against a Go struct, and a field that it requires is absent or empty; "
        "before these words *Key:* says where.",
        "Send that field with a value: 0, `false` and an empty text count as absent for this check. Where a gateway "
        "passes on the answer of a plug-in or another server, that one left it out.",
        "https://github.com/langgenius/dify-official-plugins/issues/628",
        example="Key: 'ChatRequest.Model' Error:Field validation for 'Model' failed on the 'required' tag",
        is_general=True,
    ),
)
