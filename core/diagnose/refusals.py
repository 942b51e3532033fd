"""What a refusal is about, read from the server's own words: the request, the context, a setting, the server itself.

The words decide, never the status alone: llama.cpp answers 500 to a schema that it cannot use, and vLLM answers 400
where it was started without a flag. A sentence that is known (`core.known_errors`) has its cause and stage there; of
the others both are concluded from words that many programs use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.types import Certainty, Refusal, Stage
from prompt_debugger.core.known_errors import Cause, Quoted, Recognised, quoted_output, recognise_error

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
_TEMPLATE = re.compile(
    r"\bjinja|chat[ _]template|raise_exception|TemplateError|TemplateSyntaxError|UndefinedError|"
    r"while executing \w{1,40} at line",
    re.IGNORECASE,
)
_OUTPUT = re.compile(
    r"(?:failed|unable|could not|cannot|error) ?(?:to )?(?:pars|read|decod)\w{0,4} "
    r"(?:the )?(?:tool|function)[ _]calls?\b"
    r"|(?:tool|function)[ _]call\w{0,3} (?:could not be|failed to) (?:be )?pars"
    r"|harmony.{0,60}(?:error|pars)|HarmonyError",
    re.IGNORECASE,
)
_CODES = {
    "insufficient_quota": Cause.QUOTA,
    "billing_hard_limit_reached": Cause.QUOTA,
    "content_filter": Cause.POLICY,
    "content_policy_violation": Cause.POLICY,
    "context_length_exceeded": Cause.CONTEXT,
    "exceed_context_size_error": Cause.CONTEXT,
    "model_not_found": Cause.MODEL_NAME,
    "tool_use_failed": Cause.OUTPUT,
    "json_validate_failed": Cause.OUTPUT,
}
_STAGE_BY_CAUSE = {
    Cause.SETTING: Stage.COMPLETE,
    Cause.SERVER: Stage.COMPLETE,
    Cause.LOADING: Stage.COMPLETE,
    Cause.QUOTA: Stage.COMPLETE,
    Cause.POLICY: Stage.COMPLETE,
    Cause.ADDRESS: Stage.COMPLETE,
    Cause.CONNECTION: Stage.COMPLETE,
    Cause.TEMPLATE: Stage.RENDER,
    Cause.OUTPUT: Stage.PARSE,
}


@dataclass(frozen=True, slots=True)
class Understood:
    """A refusal, and what its words say.

    Attributes:
        refusal: The refusal.
        cause: What has to change.
        stage: Where in the run it arose.
        certainty: Whether its stage is known from the sentence or from a quoted output, or concluded.
        known: The sentence, where it is a known one.
        quoted: What it quotes of the output.
    """

    refusal: Refusal
    cause: Cause
    stage: Stage
    certainty: Certainty
    known: Recognised | None = None
    quoted: Quoted | None = None


def understand(refusal: Refusal) -> Understood:
    """Return what the words of a refusal say."""
    known = recognise_error(refusal.message)
    if refusal.code is not None and (known is None or known.error.is_about is Cause.UNCLEAR):
        known = recognise_error(refusal.code) or known
    quoted = quoted_output(refusal.message, refusal.output)
    cause = _cause(refusal, known, quoted)
    stage = _STAGE_BY_CAUSE.get(cause, Stage.REQUEST)
    if known is not None and known.error.stage is not Stage.REQUEST and cause is not Cause.CONTEXT:
        stage = known.error.stage
    is_seen = known is not None or quoted is not None or refusal.code in _CODES or refusal.status is not None
    is_failure = refusal.status is not None and refusal.status >= 500  # whose words are about the request, or seem so
    concluded = (Cause.TEMPLATE, Cause.OUTPUT, Cause.REQUEST) if is_failure else (Cause.TEMPLATE, Cause.OUTPUT)
    is_concluded = cause in concluded and known is None and quoted is None
    certainty = Certainty.INFERRED if is_concluded or not is_seen else Certainty.OBSERVED
    return Understood(refusal, cause, stage, certainty, known, quoted)


def _cause(refusal: Refusal, known: Recognised | None, quoted: Quoted | None) -> Cause:
    if known is not None:
        return known.error.is_about
    if quoted is not None:
        return Cause.OUTPUT
    if refusal.code in _CODES:
        return _CODES[refusal.code]
    said, named = refusal.message, refusal.code or ""
    if _CONTEXT.search(said):
        return Cause.CONTEXT
    if flag_of_refusal(refusal) or _NO_TOOLS.search(said):
        return Cause.SETTING
    if _OUTPUT.search(said) or _OUTPUT.search(named):
        return Cause.OUTPUT
    if _TEMPLATE.search(said) or _TEMPLATE.search(named):
        return Cause.TEMPLATE
    if _MODEL_NAME.search(said) or (refusal.status == 404 and "model" in said.lower()):
        return Cause.MODEL_NAME
    is_servers = refusal.status is not None and refusal.status >= 500
    if is_servers and refusal.field is None and not _ABOUT_REQUEST.search(said):
        return Cause.SERVER
    return Cause.REQUEST


def flag_of_refusal(refusal: Refusal) -> str | None:
    """Return the launch flag that the server says it needs; `None` if it names none."""
    found = _FLAG.search(refusal.message)
    return found[1] if found else None
