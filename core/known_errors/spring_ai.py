"""What Spring AI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Spring AI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "No ToolCallback found for tool name: {name}",
        Stage.CONTRACT,
        "The model called a tool that this call of the `ChatClient` does not have: it is not registered for it, or the "
        "model made the name up or altered it.",
        "Compare the name with the tools of the request. If it is one of yours, give the tool to the very client that "
        "runs the call (`tools`, `toolCallbacks`, or a bean whose name is in `toolNames`); if it is the name of a "
        "skill or of an agent, describe in the prompt how that is called.",
        "https://github.com/spring-projects/spring-ai/issues/4734",
        example="java.lang.IllegalStateException: No ToolCallback found for tool name: finish",
    ),
    KnownError(
        "{status:int} Bad Request from POST http{address}",
        Stage.COMPLETE,
        "Spring's client reports only status and address of an answer; the server's words are in its body.",
        "Print the body where the program catches the exception (`getResponseBodyAsString()`), or look into the log of "
        "the server; `capture` records request and answer.",
        "https://github.com/spring-projects/spring-ai/issues/3437",
        example="WebClientResponseException$BadRequest: 400 Bad Request from POST http://localhost:8000/v1/chat/completions",
        cause=Cause.UNCLEAR,
    ),
)
