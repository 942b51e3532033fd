"""What Zhipu's API (Z.ai) says, of the GLM models."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Zhipu (GLM)"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "messages[{index:int}]:content和tool_calls 字段不能同时为空",
        Stage.REQUEST,
        "As it reached the API, the message at that index had neither a text in `content` nor a call in `tool_calls`.",
        "If the client sends calls in that message, a gateway in between dropped them (older ones do not know "
        "`tool_calls`): compare what it receives with what it sends, and update it. Otherwise remove the empty "
        "message, or give it its text.",
        "https://github.com/songquanpeng/one-api/issues/1153",
        example="messages[2]:content和tool_calls 字段不能同时为空",
        field="messages[{index}]",
        cause=Cause.REQUEST,
    ),
    KnownError(
        "API 调用参数有误，请检查文档",
        Stage.REQUEST,
        "A parameter of the request is wrong (code 1210), and the message does not say which.",
        "Compare the request with the documentation of this model: take out fields that other vendors have, then "
        "tools, then the history, until it is answered. A gateway that translates another API into this one often adds "
        "them.",
        "https://github.com/bestruirui/octopus/issues/165",
    ),
)
