"""What a refusal is about, read from the server's own words: the request, the context, a setting, the server itself.

The words decide, never the status alone: llama.cpp answers 500 to a schema that it cannot use, and vLLM answers 400
where it was started without a flag. A sentence that is known (`core.known_errors`) has its cause and stage there;
of all others both are concluded from words that many programs use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from prompt_debugger.core.base.types import Certainty, Refusal, Stage
from prompt_debugger.core.known_errors import (
    Cause,
    Classified,
    Quoted,
    Recognised,
    Speaker,
    as_path,
    cause_of_words,
    classes_of,
    field_in,
    innermost,
    is_of_loading,
    is_request_path,
    quoted_output,
    recognise_error,
    speaker_of,
    words_as_one_line,
)

# `"auto" tool choice requires --enable-auto-tool-choice …` (vLLM), `tools param requires --jinja flag` (llama.cpp).
_FLAG = re.compile(
    r"\b(?:requires?|needs?|set|enable|with|use|using|pass|passing|via|add|without|specify)\b"
    r"[^\w-]*(?:\w+[^\w-]+){0,3}(--[a-z][\w-]*)",
    re.IGNORECASE,
)
_BY_STATUS = {401: Cause.ACCESS, 402: Cause.QUOTA, 429: Cause.RATE}  # whatever the words are
_OF_SERVER = "server error"  # what a status says that some write before the words
_SERVERS = 500  # status from which on it is the server that failed
_MAX_WRAPPED = 300  # characters of a message that are looked at for what its words are wrapped in
_MIN_WORDS = 30  # characters; shorter words say nothing without the name of their exception
_EXCEPTION = re.compile(r"(?:\w{1,40}\.){0,8}[A-Z]\w{1,60}(?:Error|Exception)")
# What a 5xx says when it is about the request all the same.
_ABOUT_REQUEST = re.compile(
    r"schema|grammar|template|jinja|\btools?\b|function|role|messages?\b|parameter|argument|field|unrecognized|"
    r"unsupported|not supported|invalid|must be|(?<!un)expected|failed to parse",
    re.IGNORECASE,
)
# Causes where a class says more.
_BY_CLASS = (Cause.REQUEST, Cause.SERVER, Cause.TEMPLATE, Cause.SETTING)
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
        words: Its innermost words, without what gateways and clients put around them.
        cause: What has to change.
        stage: Where in the run it arose.
        certainty: Whether its stage is known from the sentence or from a quoted output, or concluded.
        known: The sentence, where it is a known one.
        classified: The class that its words belong to, where the sentence is not known, or nothing is known to help.
        quoted: What it quotes of the output.
        field: The request field or message that it names, as a path.
        speaker: Who says it, where that shows.
    """

    refusal: Refusal
    words: str
    cause: Cause
    stage: Stage
    certainty: Certainty
    known: Recognised | None = None
    classified: Classified | None = None
    quoted: Quoted | None = None
    field: str | None = None
    speaker: Speaker | None = None

    @property
    def says_its_stage(self) -> bool:
        """Whether anything but the lack of a better guess shows at which stage of a run it arose."""
        is_known = self.known is not None or self.classified is not None or self.quoted is not None
        has_place = self.field is not None or (self.speaker is not None and bool(self.speaker.where))
        return is_known or has_place or self.refusal.status is not None or self.cause is not Cause.REQUEST


def understand(refusal: Refusal) -> Understood:
    """Return what the words of a refusal say."""
    quoted = quoted_output(refusal.message, refusal.output)
    nested = innermost(refusal.message) if quoted is None else None
    words = words_as_one_line(refusal.message) if nested is None else nested.words
    raised = f"{refusal.code}: {words}" if _EXCEPTION.fullmatch(refusal.code or "") else words
    known = _known(refusal, words)
    if refusal.code is not None and (known is None or known.error.is_about is Cause.UNCLEAR):
        known = recognise_error(refusal.code) or known
    around = f"{refusal.code or ''} {refusal.around or ''}"
    around = f"{_OF_SERVER} {around}" if _is_failure(refusal) else around
    speaker = speaker_of(f"{around} {refusal.message}")
    if nested is not None:
        around = f"{around} {words_as_one_line(refusal.message[:_MAX_WRAPPED])}"  # what the words were wrapped in
    is_of_api = speaker is None or not speaker.where or speaker.stage is Stage.REQUEST
    named = _named_cause(refusal, words)
    found = _read_what_is_named(refusal, classes_of(raised, around, is_of_api=is_of_api))
    classified = None if quoted is not None else _class(known, named, found)
    if classified is not None and classified.error.cause is Cause.UNCLEAR and _is_failure(refusal):
        classified = None  # the status says more than words without a reason
    field_of_known = None
    if classified is not None and known is not None:
        field_of_known, known = known.field, None
    cause = _cause(refusal, words, known, quoted, classified, named)
    field = (
        refusal.field
        or (None if nested is None or nested.field is None else as_path(nested.field))
        or field_in(words)
        or field_of_known
    )
    if classified is not None:
        field = field or classified.field
        classified = replace(classified, parts={**classified.parts, "field": field} if field else classified.parts)
    return Understood(
        refusal,
        raised if len(words) < _MIN_WORDS and "." not in (refusal.code or "") else words,
        cause,
        _stage(cause, known, classified, speaker),
        _certainty(refusal, cause, known, quoted, classified),
        known,
        classified,
        quoted,
        field,
        speaker,
    )


def _known(refusal: Refusal, words: str) -> Recognised | None:
    """Return the known sentence of the innermost words; where any program says that one, what is around it counts."""
    inner = recognise_error(words, refusal.code)
    if inner is not None and inner.error.is_of_one_program:
        return inner
    outer = recognise_error(refusal.message)
    return outer if inner is None or (outer is not None and outer.error.is_of_one_program) else inner


def _read_what_is_named(refusal: Refusal, found: Iterator[Classified]) -> Iterator[Classified]:
    """Yield the classes that fit what a refusal points at: a field of the request is no part of an answer."""
    is_of_request = refusal.field is not None and is_request_path(refusal.field)
    for one in found:
        if not (is_of_request and one.error.cause is Cause.OUTPUT and not one.error.is_distinctive):
            yield one


def _class(known: Recognised | None, named: Cause | None, found: Iterator[Classified]) -> Classified | None:
    """Return the class of words that no sentence explains, or that one explains which many programs use.

    Where words or a code name the cause, it is a class of that cause.
    """
    if known is None:
        return next((one for one in found if named in (None, one.error.cause)), None)
    is_vague = known.error.is_general or not known.error.is_distinctive or not known.error.remedy
    return next((one for one in found if one.error.is_distinctive), None) if is_vague else None


def _stage(cause: Cause, known: Recognised | None, classified: Classified | None, speaker: Speaker | None) -> Stage:
    if known is not None and known.error.stage is not Stage.REQUEST and cause is not Cause.CONTEXT:
        return known.error.stage
    if known is None and classified is not None and classified.error.cause is cause:
        return classified.error.stage
    if known is None and speaker is not None and speaker.where:
        return speaker.stage or Stage.COMPLETE
    return _STAGE_BY_CAUSE.get(cause, Stage.REQUEST)


def _certainty(
    refusal: Refusal, cause: Cause, known: Recognised | None, quoted: Quoted | None, classified: Classified | None
) -> Certainty:
    if known is not None or quoted is not None or _is_coded(refusal):
        return Certainty.OBSERVED
    concluded = (
        (Cause.TEMPLATE, Cause.OUTPUT, Cause.REQUEST) if _is_failure(refusal) else (Cause.TEMPLATE, Cause.OUTPUT)
    )
    is_inferred = classified is not None or cause in concluded or refusal.status is None
    return Certainty.INFERRED if is_inferred else Certainty.OBSERVED


def _cause(
    refusal: Refusal,
    words: str,
    known: Recognised | None,
    quoted: Quoted | None,
    classified: Classified | None,
    named: Cause | None,
) -> Cause:
    if known is not None:
        return known.error.is_about
    if quoted is not None:
        return Cause.OUTPUT
    if named is not None:
        return named
    if classified is not None and classified.error.is_distinctive:
        return classified.error.cause
    if flag_of_refusal(refusal):
        return Cause.SETTING
    if refusal.status == 404 and "model" in words.lower() and not is_of_loading(words):
        return Cause.MODEL_NAME
    if classified is not None:
        return classified.error.cause
    if refusal.status in _BY_STATUS:
        return _BY_STATUS[refusal.status]
    if _is_failure(refusal) and refusal.field is None and not _ABOUT_REQUEST.search(words):
        return Cause.SERVER
    return Cause.REQUEST


def _is_failure(refusal: Refusal) -> bool:
    """Return whether the server answered that it failed itself; its words may be about the request all the same."""
    return refusal.status is not None and refusal.status >= _SERVERS


def _is_coded(refusal: Refusal) -> bool:
    return refusal.code is not None and cause_of_words("", refusal.code) is not None


def _named_cause(refusal: Refusal, words: str) -> Cause | None:
    """Return the cause that vendors' words or the server's own code name; `None` for what a class says as well."""
    of_code = "" if is_of_loading(words) else refusal.code or ""
    named = cause_of_words(words, refusal.code) or cause_of_words(of_code)
    return None if named in _BY_CLASS or (named is not Cause.CONTEXT and flag_of_refusal(refusal)) else named


def flag_of_refusal(refusal: Refusal) -> str | None:
    """Return the launch flag that the server says it needs; `None` if it names none."""
    found = _FLAG.search(refusal.message)
    return found[1] if found else None
