"""What people say of an answer that they do not show: that the call came as text, or without its arguments.

    The tool call comes back as plain text in `content`, `tool_calls` is empty and finish_reason is `stop`.

Only sentences that say what happened count, in a text that complains of it. What should happen, what a prompt teaches,
and what used to happen is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.manuals import drop_advice, is_manual
from prompt_debugger.core.evidence.no_errors.programs import has_docstring, is_source
from prompt_debugger.core.evidence.reports.said_of_answers import reported_answers
from prompt_debugger.core.evidence.reports.words_around import prose_of, sentences_of

_MAX_CHARS = 30_000  # of a report; what is longer is a document about many things
_MAX_SENTENCES = 400
_MAX_SENTENCE = 500  # characters of a sentence
_MAX_SAID = 2
_CALL = re.compile(
    r"\b(?:tool|function)[ _-]?(?:call|use|invocation|request|generation)(?:s|ing)?\b"
    r"|\btool (?:input|json|xml|markup)\b"
    r"|\u5de5\u5177\u8c03\u7528|\u51fd\u6570\u8c03\u7528"  # Chinese, as below
    r"|(?<![A-Za-z])(?:tool|function)[ _-]?call(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?:tool|function)[ _-]?call"
    r"|<\|?/?tool_calls?\b|\{ ?\\?[\"'](?:name|tool|function|action)\\?[\"']",
    re.IGNORECASE,
)
_AS_TEXT = re.compile(
    r"\bas (?:an? |the |just )?[`'\"]?(?:(?:plain|raw|normal|regular"
    r"|ordinary|literal|simple|assistant|visible|chat|inline"
    r"|unparsed|pure|json|xml|markdown)[ -]?){0,2}[`'\"]?"
    r"(?:text|strings?|content|output|messages?|prose|markup|json|xml)\b(?! parts?\b)"
    r"|\b(?:in|into|inside|within|to) (?:the |its |my |an? )?(?:[\w'\u2019]{1,20} ){0,2}?(?:[`'\"](?:choices\[0\]\.)?"
    r"(?:message\.|delta\.)?content[`'\"]|(?:message\.|delta\.)?content(?: field| string)?\b(?![ -]?types?\b)"
    r"|(?:plain|raw|assistant|visible|final) (?:text|message|reply)\b|chat (?:window|ui|output|message)\b)"
    r"|(?<!arguments )\bcontent\b[`'\"]? (?:field )?(?:contains?|holds?|has|includes?)\b"
    r"|\b(?:plain|raw) (?:text|json|xml)\b"
    r"|\btool_calls?\|?>`? {0,2}(?:tags?|blocks?|markers?|tokens?|xml|markup) (?:\w{1,12} ){0,2}?(?:in|into|inside"
    r"|within) (?:the |its )?(?:\w{1,12} )?(?:responses?|content|output|answers?|messages?|repl(?:y|ies)|text)\b"
    r"|\b(?:prints?|printed|outputs?|writes?|shows?|displays?|returns?|emits?|dumps?|types?) "
    r"(?:[\w`<>/]{1,20} ){0,5}?(?:json|xml|text|markup)\b[^.]{0,60}\b(?:instead of|rather than|without)\b"
    r"|(?:\u539f\u6837|\u76f4\u63a5|\u4ee5\u7eaf?\u6587\u672c|\u4f5c\u4e3a(?:\u666e\u901a)?\u6587\u672c)[^\u3002\n]{0,12}(?:\u8f93\u51fa|\u8fd4\u56de|\u663e\u793a|\u6253\u5370)"
    r"|(?:\u8f93\u51fa|\u8fd4\u56de|\u6253\u5370)[^\u3002\n]{0,8}(?:json|xml|\u6587\u672c)",
    re.IGNORECASE,
)
_HAPPENED = re.compile(
    r"\b(?:comes?|came|returns?|returned|returning|outputs?|outputting|emits?|emitted|prints?|printed|appears?|appeared"
    r"|show(?:s|n|ed)?|displayed|displays?|ends?|ended|lands?|leak(?:s|ed|ing)?|writes?|wrote|written|generates?"
    r"|generated|produces?|produced|responds?|responded|replies|replied|answers?|sends?|sent|gets?|got|contains?|is|are"
    r"|was|were|renders?|rendered|serialized|dumped|treated|left|passed|surfaces?|receives?|received|streams?|streamed|remains?"
    r"|puts?|stays?|see|seeing|parsed)\b|\u8f93\u51fa|\u8fd4\u56de|\u663e\u793a|\u6253\u5370",
    re.IGNORECASE,
)
_NOT_SAID = re.compile(
    r"\b(?:should|would|could|might|must|if|unless|whenever we|no longer|used to|fix(?:es|ed)?|prevents?|avoids?"
    r"|ensures?|expect(?:s|ed)?|history|in the prompt|system prompt|works? (?:fine|correctly|well|as)|we (?:send|pass|"
    r"convert|render|write)|I (?:send|pass|convert)|parses? (?:it|them|tool calls?) (?:from|out of)|never (?:as|in)"
    r"|not (?:as|in) (?:plain |raw )?(?:text|content)|support(?:s|ed)?|feature|propos\w{1,4}|add(?:s|ed)?|allows?"
    r"|(?:which|that|this) is (?:correct|right|fine|expected|intended|by design))\b"
    r"|\bwhere (?:it|the)\b|\bwith the wrong\b|\bwrong one\b|\A\W{0,4}\|| \| |\?\s*\Z|\A\s*[-+*]?\s*\[[ x]\]",
    re.IGNORECASE,
)
_COMPLAINT = re.compile(
    r"\binstead\b|\brather than\b|n't\b|\bnot (?:being )?(?:execut|call|pars|invok|run|recogni|detect|work|extract"
    r"|convert)\w*|\b(?:never|not exist|errors?|bug|broken|breaks?|fails?|failed|wrong|unable|problem"
    r"|inconsisten\w{1,4}|(?:no|zero) (?:structured )?[`'\"]?(?:delta\.)?tool[ _]calls?)\b"
    r"|(?:\u4e0d|\u6ca1\u6709|\u672a|\u65e0\u6cd5)[^\u3002\n]{0,6}(?:\u6267\u884c|\u8c03\u7528|\u89e3\u6790)|\u5931\u8d25|\u4e22\u5931|\u7f3a\u5931",
    re.IGNORECASE,
)
# An answer that is not a call at all: `function calling fails, the model answers in plain text`.
_ANSWERED = re.compile(
    r"\b(?:answer|respond|repl(?:y|ie)|say|said|talk|explain|describe)\w{0,3}\b[^.,;]{0,30}\b(?:in|with|as) (?:a )?"
    r"(?:plain|normal|regular|natural|simple|ordinary)[ -](?:text|language|prose|words|message)\b"
    r"(?![^.]{0,20}\b(?:tool|function)[ _-]?call|[^.]{0,20}\b(?:json|xml)\b)",
    re.IGNORECASE,
)
# What is set against the fault in the same sentence, an error in brackets, and when it happens.
_CONTRAST = re.compile(
    r"[,;(]\s{0,3}(?:(?:but|while|and|whereas|it|this) ){0,2}(?:non[- ]?stream\w{0,5}|without stream\w{0,5})"
    r"[^.,;]{0,60}\bworks? (?:fine|correctly|well|as expected)"
    r"|\([^()\n]{0,40}\berror: [^()\n]{0,200}\)"
    r"|\((?:should|ought to|must) be [^()\n]{0,60}\)"
    r"|\bif the model (?:needs to |wants to |tries to )?(?:makes?|issues?|emits?|returns?|outputs?) [^,()\n]{0,40}"
    r"\bcalls?(?: ?\([^()\n]{0,120}\))?,",
    re.IGNORECASE,
)
_SHOWN_CALL = re.compile(r"\{ ?[\"'](?:name|tool|function)[\"'][^{}\n]{0,200}(?:\{[^{}\n]{0,200}\}[^{}\n]{0,100})?\}")
_EMPTY_PART = re.compile(
    r"\b(?:arguments|args|parameters|input)(?: (?:of|for|in) (?:\w{1,5} )?(?:tool|function)[ _-]?calls?)?"
    r" (?:is|are|was|were) (?:\w{1,9} )?(?:empty|missing|null)\b",
    re.IGNORECASE,
)
_CALL_MARK = '{"name": \u2026}'
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
_JOINED = re.compile(
    r"\b(?:merg|concatenat|join|combin|glu)(?:e|es|ed|s)\b (?:(?:both|two|the|multiple|several|all"
    r"|parallel|separate) ){0,3}(?:tool|function)[ _-]calls?\b|\b(?:tool|function)[ _-]calls? "
    r"(?:are|were|get|got) (?:\w{1,12} )?(?:merged|concatenated|joined|combined)\b"
    r"|\b(?:tool|function)[ _-]calls? (?:\w{1,12} ){0,2}?(?:get|gets|got|have|has|share|shares|use|uses) "
    r"(?:the same |one )?[`'\"]?index\b(?: 0)?"
    r"|\bconcatenates? (?:multiple|several|two|both|the) json objects?\b"
    r"|\b(?:arguments|args)\b[`'\"]?(?: (?:content|field|string|text))? (?:contains?|holds?|has|have) "
    r"(?:multiple|several|two|both) (?:json|concatenated|objects?|calls?)\b",
    re.IGNORECASE,
)
_REPEATED = re.compile(
    r"\b(?:duplicat\w{1,4}|repeat(?:s|ed)?|re-?sends?|re-?emits?) (?:(?:the|all|of|complete|full|streamed|streaming"
    r"|tool[ -]calls?(?:'s)?) ){0,4}[`'\"]?(?:function\.)?(?:arguments?|args)\b"
    r"|\b(?:arguments?|args)\b[`'\"]? "
    r"(?:(?:chunks?|deltas?|strings?|content|(?:of|in|for) (?:the |a |any |every |each )?(?:tool[ -])?calls?) )?"
    r"(?:is|are|was|were|get|gets|got|where) (?:\w{1,12} ){0,2}?(?:duplicated|repeated|doubled|tripled)\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"\b(?:tool|function)s? (?:is|are|was|were|gets?|got) (?:\w{1,12} )?called with (?:empty|no|missing) [`'\"]?"
    r"(?:arguments|input|args|parameters)\b|"
    r"\b(?:tool|function)[ _-](?:calls?|use)\b.{0,80}\b(?:with|have|has|contains?|arrives? with|carr(?:y|ies))"
    r" (?:an |only )?(?:empty|missing|undefined|null|no) [`'\"]?(?:arguments|input|args|parameters)\b(?!-)"
    r"|\b(?:(?:tool|function)[ _-]?calls?(?:'s|\u2019s)? (?:arguments|args|parameters|input)"
    r"|(?:arguments|args|parameters|input) (?:of|for|in) (?:the |a |any |every )?(?:tool|function)[ _-]?calls?)"
    r" (?:is|are|was|were|comes?|came|arrives?|arrived|stays?|remains?)"
    r" (?:(?:always|often|sometimes|just|all|back|as) ){0,2}(?:an )?(?:empty|missing|null|undefined|lost|[`(]?\{\})"
    r"|\b(?:tool|function)[ _-]?calls? (?:do|does|did)(?:n['\u2019]t| not) have the (?:arguments|args|parameters)\b"
    r"(?! (?:panel|column|tab|view|button|section)\b)"
    r"|\b(?:contains?|has|have|carries|with) (?:an )?empty [`'\"]?\{\}[`'\"]? (?:arguments|args|parameters|input)\b"
    r"|\b(?:drops?|dropped|loses?|lost|discards?|discarded|strips?|stripped) (?:all |the )?"
    r"(?:tool |tool[ _](?:call|use) |function )?(?:call )?(?:arguments|input arguments)\b",
    re.IGNORECASE,
)
# A stream that lacks what a whole answer has: calls, names, arguments.
_LOSES = re.compile(
    r"\b(?:drop(?:s|ped|ping)?|los(?:es?|t|ing)|swallow(?:s|ed)?|discard(?:s|ed)?|skip(?:s|ped))\b[^.;]{0,60}?"
    r"\b(?:tool[ _-]?calls?|calls?|arguments|args|parameters|(?:function )?names?)\b(?! to\b)"
    r"|\b(?:tool[ _-]?calls?|arguments|args|parameters|(?:function )?names?)\b[^.;]{0,30}? (?:is|are|get|gets|was|were)"
    r" (?:\w{1,12} ){0,2}?(?:dropped|lost|gone|missing|swallowed|discarded|never (?:emitted|streamed|sent))\b"
    r"|\b(?:zero|no) [`'\"]?(?:delta\.)?tool[ _]calls?[`'\"]? (?:chunks?|deltas?)\b"
    r"|\btool (?:calls?|calling|generation) fails?\b(?! to (?:execute|run|parse))(?! ?,)"
    r"|(?<!\u4e0d\u4f1a)(?<!\u4e0d\u518d)(?<!\u6ca1\u6709)(?<!\u907f\u514d)(?:\u4e22\u5931|\u7f3a\u5931)",
    re.IGNORECASE,
)
_IN_STREAM = re.compile(
    r"(?<!non-)(?<!non )(?<!without )\bstream(?:s|ed|ing)?\b(?!-?interval)"
    r"|(?<!non-)(?<!non )\bstreming\b|\b(?:chunks?|deltas?)\b|\bspeculative decoding\b"
    r"|\u6d41\u5f0f(?!\u5173\u95ed)|(?<![A-Za-z])stream(?=[\u4e00-\u9fff])",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\b(?:tool|function)[ _-]?(?:calls? )?(?:json )?(?:arguments|args)\b[^.;]{0,40}\b(?:malformed|truncated"
    r"|broken json|invalid json|incomplete json)\b"
    r"|\b(?:malformed|truncated|invalid|incomplete)(?:/\w{1,12})? (?:json )?(?:tool|function)[ _-]?(?:calls? )?"
    r"(?:json )?(?:arguments|args)\b(?!-)",
    re.IGNORECASE,
)
_NEITHER = r"\bneither\b[^.]{0,40}\btool[ _-]?calls?\b[^.]{0,80}\bnor\b"
_NONE_CAME = re.compile(
    rf"{_NEITHER}"
    r"|\b(?:stops?|stopped|never) (?:emit|return|produc|generat)\w{0,4} [`'\"]?(?:tool[ _]calls?|function calls?)\b"
    r"|\btool[ _]calls?[`'\"]? (?:is |are |was |were )?never (?:emitted|returned|produced|generated)\b"
    r"|\b(?:neither|no) [`'\"]?tool[ _]calls?\b|`?\btool_calls\b`?(?: (?:is|are|was|were|comes? back|remains?)|:| ?=) "
    r"?[`'\"]?(?:empty|null|none|missing|absent|\[\])",
    re.IGNORECASE,
)
_NO_TEXT = re.compile(
    rf"{_NEITHER}"
    r"|\b(?:empty|blank|no) [`'\"]?content\b(?![ -]?type)"
    r"|\bcontent[`'\"]?(?: (?:is|are|was|were|comes? back|remains?)|:| ?=)"
    r" ?[`'\"]?(?:empty|blank|\"\"|''|``)"
    r"|\b(?:empty|blank) (?:assistant )?(?:message|response|answer|reply)\b",
    re.IGNORECASE,
)
_HAPPENED_OR_ARRIVED = re.compile(rf"{_HAPPENED.pattern}|\b(?:arrives?|arrived|reports?|reported)\b", re.IGNORECASE)
_WORDS = "a report in words"
_SHOWN = frozenset({Part.MESSAGE, Part.STREAM, Part.RAW, Part.ERROR, Part.PROMPT})


def reported_answer(text: str) -> Evidence | None:
    """Return the evidence of a text that shows no answer and says what is wrong with it; `None` of others."""
    if has_docstring(text):
        return None
    notes = tuple(reported_calls(text)) or tuple(reported_answers(text))
    return Evidence(Form.REPORT, _WORDS, notes=notes) if notes else None


def add_reported(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without an answer or an error with what its text says of the answer.

    If a text was taken for an error by its words alone, and it is the text that says this, it is not an error.
    """
    refusal = evidence.error
    if refusal is not None and {*evidence.holds} <= {Part.ERROR, Part.FLAGS} and not (refusal.status or refusal.code):
        claims = tuple(reported_calls(text))
        if any(note.partition(": ")[2] in refusal.message for note in claims):
            return replace(evidence, form=Form.REPORT, words=_WORDS, error=None, notes=(*evidence.notes, *claims))
    if evidence.run is not None or is_reported(evidence):
        return evidence
    if _SHOWN & {*evidence.holds} <= {Part.RAW} and evidence.raw is not None:  # what a parser is given
        claims = tuple(note for note in reported_calls(text) if note.startswith(Reported.LOST.value))
        return replace(evidence, notes=(*evidence.notes, *claims))
    if _SHOWN & {*evidence.holds}:
        return evidence
    claims = tuple(reported_calls(text)) or tuple(reported_answers(text))
    return replace(evidence, notes=(*evidence.notes, *claims))


def is_reported(evidence: Evidence) -> bool:
    """Return whether evidence has notes of what its text says of an answer."""
    return any(note.startswith(tuple(kind.value for kind in Reported)) for note in evidence.notes)


def reported_calls(text: str) -> Iterator[str]:
    """Yield what a text says of an answer whose calls are not as they should be, as notes; nothing of other texts."""
    if len(text) > _MAX_CHARS or _CALL.search(text) is None or is_source(text) or is_manual(text):
        return
    prose = prose_of(drop_advice(text))
    if _COMPLAINT.search(prose) is None and _EMPTY_PART.search(prose) is None:
        return
    sentences = [one.strip(" -*#>\t") for one in sentences_of(prose)[:_MAX_SENTENCES]]
    sentences = [
        one for one in sentences if len(one) <= _MAX_SENTENCE and _NOT_SAID.search(_CONTRAST.sub("", one)) is None
    ]
    for kind, signs, other in _KINDS:
        meant = sentences if other is None else [one for one in sentences if other.search(one) is None]
        claims = [one for one in meant if all(sign.search(_SHOWN_CALL.sub(_CALL_MARK, one)) for sign in signs)]
        if claims:
            also = [one for one in sentences if one not in claims and (_NO_CALLS.search(one) or _STOP.search(one))]
            yield from (f"{kind.value}{one}" for one in [*claims[:_MAX_SAID], *also[:1]])
            return


_KINDS = (
    (Reported.AS_TEXT, (_CALL, _AS_TEXT, _HAPPENED), _ANSWERED),
    (Reported.JOINED, (_JOINED,), None),
    (Reported.REPEATED, (_REPEATED,), None),
    (Reported.LOST, (_CALL, _LOSES, _IN_STREAM), None),
    (Reported.EMPTY, (_EMPTY,), None),
    (Reported.NOTHING, (_NONE_CAME, _NO_TEXT), None),
    (Reported.BROKEN, (_BROKEN, _HAPPENED_OR_ARRIVED), None),
)
