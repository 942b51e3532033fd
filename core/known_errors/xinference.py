"""What Xinference says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Xinference"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Can't parse single qwen tool call output: {output}. Error: {why}",
        Stage.PARSE,
        "Xinference tries to read every answer to a request with tools as a call, and this text is not JSON: an answer "
        "in words, or a call in another notation.",
        "If the text is an answer in words, nothing was lost: it is returned as content. If it is a call, update "
        "Xinference, or ask an engine whose parser reads this model's notation.",
        "https://github.com/xorbitsai/inference/issues/2477",
        example="Can't parse single qwen tool call output: It is ten.. Error: Expecting value: line 1 column 1",
        cause=Cause.OUTPUT,
    ),
    KnownError(
        "Tool response dicts require a 'name' key indicating the name of the called function!",
        Stage.REQUEST,
        "A tool message of the history has no `name`, and the chat template of this model needs one.",
        "Add `name` (the tool that was called) to every message with the role `tool`, or serve the model with a "
        "template that pairs results by `tool_call_id`.",
        "https://github.com/xorbitsai/inference/issues/2477",
        field="messages",
    ),
)
