"""What a refusal is about, read from the server's own words: the request, the context, a setting, the server itself.

The words decide, never the status alone: llama.cpp answers 500 to a schema that it cannot use, and vLLM answers 400
where it was started without a flag. A sentence that is known (`core.known_errors`) has its cause and stage there; of
the others both are concluded from words that many programs use.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.types import Certainty, Refusal, Stage
from prompt_debugger.core.known_errors import Cause, Quoted, Recognised, cause_of_words, quoted_output, recognise_error

# `"auto" tool choice requires --enable-auto-tool-choice …` (vLLM), `tools param requires --jinja flag` (llama.cpp).
_FLAG = re.compile(
    r"\b(?:requires?|needs?|set|enable|with|use|using|pass|passing|via|add|without|specify)\b"
    r"[^\w-]*(?:\w+[^\w-]+){0,3}(--[a-z][\w-]*)",
    re.IGNORECASE,
)
# What a 5xx says when it is about the request all the same.
_ABOUT_REQUEST = re.compile(
    r"schema|grammar|template|jinja|\btools?\b|function|role|messages?\b|parameter|argument|field|unrecognized|"
    r"unsupported|not supported|invalid|must be|expected|failed to parse",
    re.IGNORECASE,
)
_STAGE_BY_CAUSE = {
    Cause.SETTING: Stage.COMPLETE,
    Cause.SERVER: Stage.COMPLETE,
    Cause.LOADING: Stage.COMPLETE,
    Cause.QUOTA: Stage.COMPLETE,
    Cause.RATE: Stage.COMPLETE,
    Cause.BUSY: Stage.COMPLETE,
    Cause.ACCESS: Stage.COMPLETE,
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
    is_named = refusal.code is not None and cause_of_words("", refusal.code) is not None
    is_seen = known is not None or quoted is not None or is_named or refusal.status is not None
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
    said, code = refusal.message, refusal.code
    named = cause_of_words(said, code) or cause_of_words(code or "")
    if named is not Cause.CONTEXT and flag_of_refusal(refusal):
        return Cause.SETTING
    if named is not None:
        return named
    if refusal.status == 404 and "model" in said.lower():
        return Cause.MODEL_NAME
    is_servers = refusal.status is not None and refusal.status >= 500
    if is_servers and refusal.field is None and not _ABOUT_REQUEST.search(said):
        return Cause.SERVER
    return Cause.REQUEST


def flag_of_refusal(refusal: Refusal) -> str | None:
    """Return the launch flag that the server says it needs; `None` if it names none."""
    found = _FLAG.search(refusal.message)
    return found[1] if found else None
