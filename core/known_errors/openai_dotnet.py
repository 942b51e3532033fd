"""What OpenAI's client for .NET itself says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "OpenAI (.NET client)"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Service request failed. Status: 404 (Not Found)",
        Stage.REQUEST,
        "The server has nothing at that address, or no such model or deployment: it answers 404 for both, and the "
        "client shows no body that would say which.",
        "Send the request by hand (`curl -i`) and read the body. The endpoint that the client is given ends with "
        "`/v1`, as it adds `/chat/completions` itself; at Azure, the name is that of the deployment.",
        "Azure/azure-sdk-for-net, System.ClientModel: ClientResultException",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "Unknown ChatToolCallKind value.",
        Stage.COMPLETE,
        "A call, or a piece of one in a stream, has a `type` that is neither absent nor `function`: most often an "
        "empty string in the pieces after the first.",
        "Let the server or gateway leave `type` out of the later pieces, or write `function` there; until then ask "
        "without streaming. Record the stream with `capture` and paste it to see the piece.",
        "https://github.com/dotnet/extensions/issues/6155",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Unknown ChatFinishReason value.",
        Stage.COMPLETE,
        "The answer, or an event of the stream, has a `finish_reason` that OpenAI's API does not know: often an empty "
        "text, or `error` where what a gateway asked has failed.",
        "Let the server or gateway write `null` until the end, and then one of `stop`, `length`, `tool_calls` and "
        "`content_filter`. Record the answer with `capture` and paste it to see the value.",
        "https://github.com/openai/openai-dotnet/blob/OpenAI_2.14.0/OpenAI/src/Generated/Models/Chat/ChatFinishReason.Serialization.cs",
        cause=Cause.OUTPUT,
    ),
)
