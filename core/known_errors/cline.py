"""What Cline and Roo Code say."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "Cline or Roo Code"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Please check the LM Studio developer logs to debug what went wrong. You may need to load the model with a "
        "larger context length to work with {name}'s prompts.",
        Stage.COMPLETE,
        "The request to LM Studio failed, in whatever way: the program shows this hint in place of the reason.",
        "Look at LM Studio's log (`lms log stream`) for the reason. Where it shows no request, the address is wrong: "
        "in a container or in WSL, `localhost` is not the machine that LM Studio runs on. Where it shows one, load the "
        "model with a longer context: the prompt of a coding agent has more than ten thousand tokens.",
        "https://github.com/cline/cline/issues/10351",
        example="Please check the LM Studio developer logs to debug what went wrong. You may need to load the model "
        "with a larger context length to work with Cline's prompts.",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "XML tool calls are no longer supported.",
        Stage.PARSE,
        "The model wrote a call as tags in its text, but the program accepts only tool calls of the API.",
        "Have the server parse the calls of this model, so that they arrive in `tool_calls`; a history full of "
        "such tags teaches the model to write them, so start a new task.",
        "https://github.com/RooCodeInc/Roo-Code/issues/11106",
    ),
    KnownError(
        "You did not use a tool in your previous response! Please retry with a tool use.",
        Stage.CONTRACT,
        "The program found no call in the answer, and tells the model so; the tags that follow are its explanation to "
        "the model, not an answer.",
        "Look at the answer before it: a call in another notation was not parsed; prose means that the model did "
        "not call. With Ollama, check that the program's long prompt fits the context (`num_ctx`), as it is cut "
        "silently; use a model that is trained for tools.",
        "https://github.com/roo-rb/roo/issues/625",
    ),
    KnownError(
        "The model failed to use any tools in its response.",
        Stage.CONTRACT,
        "The answer has text or reasoning but no call, and the program requires one.",
        "Check the raw answer: a call in its text is one that the server did not parse; otherwise use a model that "
        "is trained for tools.",
        "https://github.com/RooCodeInc/Roo-Code/issues/11106",
    ),
    KnownError(
        "The language model did not provide any assistant messages.",
        Stage.COMPLETE,
        "The answer was empty: no text and no call reached the program.",
        "Check the raw answer and the server's log: all of the output may be in the reasoning, the context "
        "may be full, or the stream may have ended early.",
        "https://github.com/RooCodeInc/Roo-Code/issues/1089",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "thought process or inability to use a tool properly",
        Stage.CONTRACT,
        "Several answers in a row had no call that the program could take, or one without a required parameter.",
        "Look at the answers themselves: a call in their text is one that was not parsed. Use a model that is trained "
        "for tools and a context long enough for the program's prompt (`num_ctx` of Ollama), or give smaller tasks.",
        "https://github.com/RooCodeInc/Roo-Code/issues/1089",
    ),
    KnownError(
        "Unable to find tool name for tool_use_id {id}. This indicates the conversation history is missing",
        Stage.REQUEST,
        "A result in the history names a call that is not there, so the client cannot convert the history for this "
        "provider: a turn of another provider kept the result and lost its call.",
        "Start a new task, or go on with the provider that made the call; update the client, which has to keep call "
        "and result together when the provider changes.",
        "https://github.com/Kilo-Org/kilocode/issues/4454",
        example='Unable to find tool name for tool_use_id "call_1". This indicates the conversation history is missing '
        "the corresponding tool_use block.",
        field="messages",
        cause=Cause.CLIENT,
        look=Look.ORPHAN_RESULTS,
    ),
    KnownError(
        "did not call any of the required tools.",
        Stage.CONTRACT,
        "The answer has text or reasoning but no call, and the program requires one.",
        "Check the raw answer: a call in its text is one that the server did not parse; otherwise use a model that "
        "is trained for tools.",
        "https://github.com/RooCodeInc/Roo-Code/issues/10349",
        example="The model has provided text/reasoning but did not call any of the required tools.",
    ),
    KnownError(
        "tried to use {tool:word} {what}without value for required parameter '{name:word}'",
        Stage.CONTRACT,
        "The model called a tool and left out, or did not reach, a parameter that it needs.",
        "Look at the answer: where it ends early, raise the output limit or ask for smaller files; a model that "
        "leaves the parameter out again and again is not made for these tools, or the prompt does not fit its context.",
        "apps/vscode/src/core/task/ToolExecutor.ts",
        example="Cline tried to use write_to_file for 'a.py' without value for required parameter 'content'.",
    ),
)
