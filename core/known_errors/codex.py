"""What OpenAI's Codex says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Codex"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "stream disconnected before completion: {why}",
        Stage.COMPLETE,
        "The stream of the answer broke off before its last event.",
        "Check the server, and any proxy in front of it, at that time: a timeout, a crash, a limit of the "
        "provider. What arrived before is not the whole answer.",
        "https://github.com/openai/codex/issues/8309",
        example="stream disconnected before completion: Transport error: network error: error decoding response body",
        cause=Cause.SERVER,
    ),
    KnownError(
        "stream disconnected before completion: stream closed before response.complete",
        Stage.COMPLETE,
        "The stream ended without the event `response.completed`, which must be the last one of the Responses API.",
        "Check the server's log at that time: it failed in the middle, or its stream of the Responses API is not "
        "complete; record the stream (`capture`) to see its last event.",
        "https://github.com/ollama/ollama/issues/14600",
        example="stream error: stream disconnected before completion: stream closed before response.completed",
        cause=Cause.SERVER,
    ),
    KnownError(
        "invalid patch: The first line of the patch must be '*** Begin Patch'",
        Stage.CONTRACT,
        "The model called `apply_patch`, and the first line of what it passed is not exactly `*** Begin Patch`: more "
        "characters follow on that line, text comes before it, or the patch is wrapped in JSON.",
        "Look at the first line of the call's input: it must be `*** Begin Patch` alone, with no `***` after it, and "
        "the tool takes the text of the patch without any JSON around it. With a gateway in between, check that it "
        "hands on the tool as one of type `custom`. Tell the model the form in its instructions, or use one that is "
        "trained for this tool.",
        "https://github.com/openai/codex/issues/35361",
        example="apply_patch verification failed: invalid patch: The first line of the patch must be '*** Begin Patch'",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "invalid patch: The last line of the patch must be '*** End Patch'",
        Stage.CONTRACT,
        "The model called `apply_patch`, and the last line of what it passed is not exactly `*** End Patch`: the text "
        "was cut before its end, or more follows.",
        "Look at the end of the call's input. If it breaks off, raise the limit of output tokens, or have the model "
        "send smaller patches; if text follows the marker, tell the model to write nothing after it.",
        "https://github.com/openai/codex/issues/26297",
        example="apply_patch verification failed: invalid patch: The last line of the patch must be '*** End Patch'",
        cause=Cause.OUTPUT,
    ),
)
