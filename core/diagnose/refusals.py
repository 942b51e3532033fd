"""What a refusal is about, read from the server's own words: the request, the context, a setting, the server itself.

The words decide, never the status alone: llama.cpp answers 500 to a schema that it cannot use, and vLLM answers 400
where it was started without a flag.
"""

from __future__ import annotations

import re
from enum import StrEnum

from prompt_debugger.core.base.types import Refusal


class RefusalCause(StrEnum):
    """What has to change for the request to be answered."""

    REQUEST = "request"
    MODEL_NAME = "model-name"
    CONTEXT = "context"
    SETTING = "setting"
    SERVER = "server"


# vLLM, llama.cpp, SGLang, TGI, OpenAI, Anthropic, in this order.
_CONTEXT = re.compile(
    r"maximum context length|maximum model length|context (?:size|window|length) (?:of|is|has been)|"
    r"exceeds? the (?:available |model'?s? )?context|is longer than the model'?s context length|"
    r"`inputs` (?:tokens|must have less)|context_length_exceeded|prompt is too long|max_model_len",
    re.IGNORECASE,
)
# `"auto" tool choice requires --enable-auto-tool-choice …` (vLLM), `tools param requires --jinja flag` (llama.cpp).
_FLAG = re.compile(
    r"\b(?:requires?|needs?|set|enable|with|use|using|pass|passing|via|add|without|specify)\b"
    r"[^\w-]*(?:\w+[^\w-]+){0,3}(--[a-z][\w-]*)",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(r"does not support (?:tools|function calling|tool (?:use|calls|calling))", re.IGNORECASE)
_MODEL_NAME = re.compile(
    r"model\b.{0,120}\b(?:does not exist|not found|is not (?:found|available|served|loaded)|unknown)|"
    r"(?:no such|unknown|invalid|not a valid) model|model_not_found|pinned to .{1,200}requested|"
    r"invalid model name",
    re.IGNORECASE | re.DOTALL,
)
# What a 5xx says when it is about the request all the same.
_ABOUT_REQUEST = re.compile(
    r"schema|grammar|template|jinja|\btools?\b|function|role|messages?\b|parameter|argument|field|unrecognized|"
    r"unsupported|not supported|invalid|must be|expected|failed to parse",
    re.IGNORECASE,
)


def cause_of_refusal(refusal: Refusal) -> RefusalCause:
    """Return what a refusal is about."""
    said = refusal.message
    if _CONTEXT.search(said):
        return RefusalCause.CONTEXT
    if flag_of_refusal(refusal) or _NO_TOOLS.search(said):
        return RefusalCause.SETTING
    if _MODEL_NAME.search(said) or (refusal.status == 404 and "model" in said.lower()):
        return RefusalCause.MODEL_NAME
    if refusal.status >= 500 and not _ABOUT_REQUEST.search(said):
        return RefusalCause.SERVER
    return RefusalCause.REQUEST


def flag_of_refusal(refusal: Refusal) -> str | None:
    """Return the launch flag that the server says it needs; `None` if it names none."""
    found = _FLAG.search(refusal.message)
    return found[1] if found else None
