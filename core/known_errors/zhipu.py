"""What Zhipu's API (Z.ai) says, of the GLM models."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Zhipu (GLM)"

_OF_1214 = (
    "Correct that parameter by the documentation of this model. Ranges are narrower than OpenAI's (`top_p` and "
    "`temperature` may be neither 0 nor too large, `max_tokens` has a limit for each model); `prompt` and `history` "
    "are parameters of the older API: update the client or gateway that sends them."
)
_OF_MESSAGES = (
    "Look for a message without text and calls, an empty list, a role that this API does not know, a result without "
    "its call, and a history that has no message of the user; some models accept no `system` message after the first "
    "one. Send fewer messages until the request is accepted: the one taken out last is the cause."
)

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
        'them. GLM-5.3 also says so where `thinking` is absent or disabled: send `"thinking": {"type": "enabled"}`.',
        "https://github.com/bestruirui/octopus/issues/165, https://github.com/NanmiCoder/cc-haha/pull/1258",
    ),
    KnownError(
        "[1214][{name}参数非法。请检查文档",
        Stage.REQUEST,
        "A parameter of the request is invalid (code 1214): the one whose name precedes 参数非法.",
        _OF_1214,
        "https://github.com/labring/FastGPT/issues/1702",
        example="[1214][history参数非法。请检查文档。]",
    ),
    KnownError(
        "messages 参数非法。请检查文档",
        Stage.REQUEST,
        "The API does not accept these `messages` (code 1214), and does not say which of them.",
        _OF_MESSAGES,
        "https://github.com/langgenius/dify/issues/16337",
        field="messages",
    ),
    KnownError(
        "[1214][{name} 参数非法。请检查文档",
        Stage.REQUEST,
        "A parameter of the request is invalid (code 1214): the one whose name precedes 参数非法.",
        _OF_1214,
        "https://github.com/chatchat-space/Langchain-Chatchat/issues/2815",
        example="[1214][top_p 参数非法。请检查文档。]",
    ),
    KnownError(
        "参数非法。请检查文档",
        Stage.REQUEST,
        "A parameter of the request is invalid: the one whose name precedes 参数非法.",
        _OF_1214,
        "https://github.com/lobehub/lobehub/issues/1398",
    ),
    KnownError(
        "The messages parameter is illegal. Please check the documentation.",
        Stage.REQUEST,
        "The API does not accept these `messages` (code 1214), and does not say which of them.",
        _OF_MESSAGES,
        "https://github.com/continuedev/continue/issues/13261",
        field="messages",
    ),
    KnownError(
        "This model always engages in thinking and cannot be disabled",
        Stage.REQUEST,
        "The request switches thinking off, and this model cannot answer without it.",
        "Leave the switch out (`thinking`, `enable_thinking`, `reasoning_effort: none`), or send one of the efforts "
        "that the message lists; to answer without thinking, choose another model.",
        "https://github.com/ltmoerdani/opencode-copilot-chat/issues/162",
    ),
)
