"""What people tell of an answer that they do not show: that the call came as text, that `tool_calls` was empty.

    The tool call comes back as plain text in `content`, `tool_calls` is empty and finish_reason is `stop`.

Only sentences that say what happened count, in a text that complains of it. What should happen, what a prompt teaches,
and what used to happen is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.diagnose.told_calls import TOLD
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.not_errors import is_manual, is_source
from prompt_debugger.core.evidence.split import Block, BlockKind, split

_MOST_CHARS = 40_000
_MOST_SENTENCES = 400
_MOST = 500  # characters of a sentence
_MOST_TOLD = 2
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_CALL = re.compile(
    r"\b(?:tool|function)[ _-]?(?:call|use|invocation|request)(?:s|ing)?\b|\btool (?:input|json|xml|markup)\b"
    r"|<\|?/?tool_calls?\b|\{ ?\\?[\"'](?:name|tool|function|action)\\?[\"']",
    re.IGNORECASE,
)
_AS_TEXT = re.compile(
    r"\bas (?:an? |the |just )?(?:(?:plain|raw|normal|regular|ordinary|literal|simple|assistant|visible|inline|unparsed"
    r"|pure|json|xml|markdown)[ -]?){0,2}(?:text|strings?|content|messages?|prose|markup|json|xml)\b(?! parts?\b)"
    r"|\b(?:in|into|inside|within|to) (?:the |its |my |an? )?(?:[\w'\u2019]{1,20} ){0,2}?(?:[`'\"](?:choices\[0\]\.)?"
    r"(?:message\.|delta\.)?content[`'\"]|(?:message\.|delta\.)?content(?: field| string)?\b(?![ -]?types?\b)"
    r"|(?:plain|raw|assistant|visible|final) (?:text|message|reply)\b|chat (?:window|ui|output|message)\b)"
    r"|\bcontent\b[`'\"]? (?:field )?(?:contains?|holds?|has|includes?)\b"
    r"|\b(?:plain|raw) (?:text|json|xml)\b"
    r"|\b(?:prints?|printed|outputs?|writes?|shows?|displays?|returns?|emits?|dumps?|types?) "
    r"(?:[\w`<>/]{1,20} ){0,5}?(?:json|xml|text|markup)\b[^.]{0,60}\b(?:instead of|rather than|without)\b",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:comes?|came|returns?|returned|returning|outputs?|outputting|emits?|emitted|prints?|printed|appears?|appeared"
    r"|show(?:s|n|ed)?|displayed|displays?|ends?|ended|lands?|leak(?:s|ed|ing)?|writes?|wrote|written|generates?"
    r"|generated|produces?|produced|responds?|responded|replies|replied|answers?|sends?|sent|gets?|got|contains?|is|are"
    r"|was|were|rendered|serialized|dumped|treated|left|passed|surfaces?|receives?|received|streams?|streamed|remains?"
    r"|puts?|stays?|see|seeing|parsed)\b",
    re.IGNORECASE,
)
_NOT_TOLD = re.compile(
    r"\b(?:should|would|could|might|must|if|unless|whenever we|no longer|used to|fix(?:es|ed)?|prevents?|avoids?"
    r"|ensures?|expect(?:s|ed)?|history|in the prompt|system prompt|works? (?:fine|correctly|well|as)|we (?:send|pass|"
    r"convert|render|write)|I (?:send|pass|convert)|parses? (?:it|them|tool calls?) (?:from|out of)|never (?:as|in)"
    r"|not (?:as|in) (?:plain |raw )?(?:text|content)|support(?:s|ed)?|feature|propos\w{1,4}|add(?:s|ed)?|allows?)\b"
    r"|\?\s*\Z|\A\s*[-+*]?\s*\[[ x]\]",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\binstead\b|\brather than\b|n't\b|\bnot (?:being )?(?:execut|call|pars|invok|run|recogni|detect|work|extract"
    r"|convert)\w*|\b(?:never|bug|broken|fails?|failed|wrong|unable|problem|no (?:structured )?tool[ _]calls?)\b",
    re.IGNORECASE,
)
_NO_CALLS = re.compile(
    r"`?\btool_calls\b`?(?: (?:field|array|list|property))?(?: (?:is|was|are|were|remains?|stays?"
    r"|comes?(?: back)?|returns?)|:| ?=)(?: (?:always|just|still|simply|often))? [`'\"]?(?:empty|null|none|missing"
    r"|absent|undefined|not (?:set|present|populated|there)|\[\])"
    r"|\b(?:no|empty|without(?: any)?|missing) [`'\"]?tool_calls\b",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"\b(?:finish|stop)_?[ ]?reason[`'\"]?(?: (?:is|was|of|stays|remains|comes back as)|:| ?=|)? ?[`'\"]{0,2}"
    r"(?:stop|end_turn)\b",
    re.IGNORECASE,
)
_WORDS = "a report in words"
_SHOWN = frozenset({Part.MESSAGE, Part.STREAM, Part.RAW, Part.ERROR, Part.PROMPT})


def told_answer(text: str) -> Evidence | None:
    """Return the evidence of a text that shows no answer and tells that its call came as text; `None` of others."""
    notes = tuple(told_calls(text))
    return Evidence(Form.REPORT, _WORDS, notes=notes) if notes else None


def with_told(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without an answer or an error with what its text tells of the answer.

    What was taken for an error only by its words, and is what tells of the answer, is none.
    """
    refusal = evidence.error
    if refusal is not None and {*evidence.holds} <= {Part.ERROR, Part.FLAGS} and not (refusal.status or refusal.code):
        told = tuple(told_calls(text))
        if any(note.removeprefix(TOLD) in refusal.message for note in told):
            return replace(evidence, form=Form.REPORT, words=_WORDS, error=None, notes=(*evidence.notes, *told))
    if evidence.run is not None or _SHOWN & {*evidence.holds} or any(note.startswith(TOLD) for note in evidence.notes):
        return evidence
    return replace(evidence, notes=(*evidence.notes, *told_calls(text)))


def told_calls(text: str) -> Iterator[str]:
    """Yield what a text tells of an answer whose call came as text, as notes; nothing where it tells of none."""
    text = text[:_MOST_CHARS]
    if _CALL.search(text) is None or is_source(text) or is_manual(text):
        return
    prose = "\n".join(block.text for block in _prose_of(text))
    if _COMPLAINT.search(prose) is None:
        return
    sentences = [one.strip(" -*#>\t") for one in _SENTENCES.split(prose)[:_MOST_SENTENCES]]
    sentences = [one for one in sentences if 20 <= len(one) <= _MOST and _NOT_TOLD.search(one) is None]
    told = [one for one in sentences if all(sign.search(one) for sign in (_CALL, _AS_TEXT, _HAPPENED))]
    if not told:
        return
    also = [one for one in sentences if one not in told and (_NO_CALLS.search(one) or _STOP.search(one))]
    yield from (f"{TOLD}{one}" for one in [*told[:_MOST_TOLD], *also[:1]])


def _prose_of(text: str) -> Iterator[Block]:
    """Yield the prose, but not what stands below a heading of what was expected."""
    return (block for block in split(text) if block.kind is BlockKind.PROSE)
