"""What people say of an answer that they do not show, apart from its calls: where its reasoning went, and its schema.

    content is always null, the whole answer is in `reasoning_content`
    the thinking ends up in content, though a reasoning parser is on
    `response_format` is silently ignored

Only sentences that say what happened count, as for calls (`said_of_calls.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.diagnose.reported_words import Reported
from prompt_debugger.core.evidence.no_errors.data import is_tagged
from prompt_debugger.core.evidence.no_errors.manuals import drop_advice, is_manual
from prompt_debugger.core.evidence.no_errors.programs import is_source
from prompt_debugger.core.evidence.reports.words_around import prose_of, sentences_of

_MAX_CHARS = 30_000  # of a report; what is longer is a document about many things
_MAX_SENTENCES = 400
_MAX_SENTENCE = 500  # characters of a sentence
_MAX_SAID = 2
_SUBJECT = re.compile(
    r"reasoning|thinking|thought|</?think>|\u601d\u8003|response_format|json_schema|json_object|guided_\w|structured"
    r"|schema|json mode",
    re.IGNORECASE,
)
_WAS = (
    r"(?: (?:field|is|are|was|were|comes?|came|back|returned|returns|stays|remains|always|just|still|set|to|as"
    r"|being)){1,5}"
)
_EMPTY = r"[`'\"]?(?:null|none|nil|empty|blank|missing|an empty string|\"\"|'')\b"
_NO_CONTENT = (
    r"(?<![\w-])(?:message\.|delta\.|assistant )?[`'\"]?(?:message\.|delta\.)?content\b[`'\"]?"
    rf"(?:{_WAS}|:| ?=) ?{_EMPTY}"
    rf"|\b(?:empty|null|blank|no) [`'\"]?(?:message\.)?content\b(?![ -]?type)"
    r"|(?<![A-Za-z_])content[`'\" ]{0,3}(?:\u5185\u5bb9|\u5b57\u6bb5)?(?:\u4e3a|\u662f)? ?(?:\u7a7a|null|none)"
)
_REASONING = r"[`'\"]?(?:message\.|delta\.)?reasoning(?:_content| field| content)?\b[`'\"]?"
_IS_EMPTY = re.compile(_NO_CONTENT, re.IGNORECASE)
_THERE = re.compile(
    rf"\b(?:in|into|to|inside|under|only|but|and|while|with|has|have)\b[^.;]{{0,40}}{_REASONING}"
    r"|(?:\u5728|\u5230|\u4f46|\u800c)[^\u3002\n]{0,12}reason",
    re.IGNORECASE,
)
_WHOLE_THERE = re.compile(
    r"\b(?:whole|entire|full|complete|all(?: of)?|everything|final) (?:the |its |of |my )?"
    r"(?:answers?|outputs?|responses?|text|content|json|document)?[^.;\n]{0,40}"
    rf"\b(?:in|into|to|inside|under|as)\b (?:the )?{_REASONING}(?! ?parser)",
    re.IGNORECASE,
)
_THOUGHT_WORDS = (
    r"(?:\b(?:thinking|thoughts?|reasoning|chain[- ]of[- ]thought|cot)\b"
    r"(?: (?:process|content|text|tokens|tags?|blocks?|part|output|traces?))?"
    r"|</?think>`?(?: tags?| blocks?)?)"
)
_IN_CONTENT = (
    r"(?:in|into|inside|within|to) (?:the |its |my )?(?:\w{1,12} ){0,2}?[`'\"]?(?:message\.|delta\.)?"
    r"(?:content\b|(?:final |visible |actual )?(?:answer|response|output|reply|message)\b(?!\.))"
)
_THOUGHT_HERE = re.compile(
    rf"{_THOUGHT_WORDS}[^.;\n]{{0,50}}\b(?:is|are|was|were|leak\w{{0,3}}|appears?|appeared|ends?|ended|shows?|lands?"
    r"|stays?|remains?|goes|comes?|came|put|returned|included|mixed|streamed|emitted)\b(?:(?!reasoning)[^.;\n]){0,30}"
    rf"\b{_IN_CONTENT}"
    r"|\b(?:content|response|answer|output)\b[`'\"]? (?:field )?(?:still )?(?:contains?|includes?|has|starts? with"
    rf"|begins with) (?:the |its |all )?(?:raw |full |whole |entire )?`?{_THOUGHT_WORDS}"
    r"|(?:\u601d\u8003|thinking|reasoning|</?think>)[^\u3002\n]{0,14}(?:\u5728|\u5230|\u8fdb) ?[`'\"]?content",
    re.IGNORECASE,
)
_NO_REASONING = re.compile(rf"{_REASONING}(?:{_WAS}|:| ?=) ?{_EMPTY}", re.IGNORECASE)
_ALL_HERE = re.compile(rf"(?:{_THOUGHT_WORDS}|\beverything\b|\ball\b)[^.;\n]{{0,40}}\b{_IN_CONTENT}", re.IGNORECASE)
_OPTION = (
    r"[`'\"]?\b(?:response_format|json_schema|json_object|guided_(?:json|regex|choice|grammar|decoding)"
    r"|structured[ _]outputs?|json[ _](?:mode|schema)|format schema|output schema|response[ _]schema|text\.format"
    r"|output_config\.format)\b[`'\"]?"
)
_DOES_NOT = r"\b(?:does|do|did)(?:n['\u2019]t| not)"
_IGNORED = re.compile(
    rf"{_OPTION}[^.;\n]{{0,60}}\b(?:is|are|was|were|gets?|got|being)\b(?: \w{{1,12}}){{0,2}}? "
    r"(?:ignored|dropped|disregarded|not (?:being )?(?:respected|enforced|honou?red|applied|followed|passed|used))\b"
    rf"|\b(?:ignor(?:es?|ing|ed)|disregards?|drops)\b [^.;\n]{{0,30}}{_OPTION}"
    rf"|{_OPTION}[^.;\n]{{0,40}}\bignor(?:es?|ed|ing) (?:it|them)\b"
    rf"|{_OPTION}[^.;\n]{{0,40}}(?:\b(?:has|have|had) no effect\b|{_DOES_NOT} (?:seem to )?work\b)"
    rf"|{_DOES_NOT} (?:respect|enforce|honou?r|follow|obey|apply|adhere to) [^.;\n]{{0,30}}(?:{_OPTION}|\bschema\b)"
    r"|\bwithout (?:enforcing|applying|respecting|validating|following) [^.;\n]{0,20}\bschema\b"
    r"|\bschema\b[^.;\n]{0,30}\b(?:is|are|was|were|gets?)\b (?:\w{1,12} ){0,2}?(?:bypassed|not (?:being )?enforced)\b"
    rf"|{_OPTION}[^.;\n]{{0,60}}\b(?:returns?|returned|outputs?|answers?|responds?|produces?|generates?)\b"
    r"[^.;\n]{0,30}\b(?:plain|free|normal|markdown|prose|not (?:valid )?json|instead of json)",
    re.IGNORECASE,
)
# Of an option, in Chinese.
_GIVEN = r"(?:\u6307\u5b9a|\u8bbe\u7f6e|\u542f\u7528|\u914d\u7f6e|\u5f00\u542f|\u4f7f\u7528|\u63d0\u4f9b)"
_NOT_SAID = re.compile(
    r"\b(?:should|would|could|might|must|unless|no longer|used to|fix(?:es|ed)?|prevents?|avoids?|ensures?"
    r"|expect(?:s|ed)?|propos\w{1,4}|feature|allows?|(?:which|that|this) is (?:correct|right|fine|expected|intended"
    r"|by design)|we (?:strip|put|move)|works? (?:fine|correctly|well|as)|never|adde?d?s? (?:a |an |the |support)"
    r"|not (?:in|as) (?:the )?content|history|previous turns?|in the prompt|system prompt|no reasoning|neither"
    r"|parts? of|where (?:it|the|an?)|whenever an?)\b"
    r"|\bif (?:the|it|a|an|no|you) \w+"
    # What a manual says: the case that it speaks of, what is to be done and what that is good for, a remedy.
    rf"|\bwill\b|\bin (?:this|these|that|such)(?: \w{{1,12}})? cases?\b|\u672a{_GIVEN}[^\u3002\n]{{0,40}}\u65f6"
    r"|\A\W{0,6}(?:enable|keep|use|set|specify|configure|pass|add|choose|select)\b[^.\n]{0,300}\b(?:so(?: that)?|to"
    r" (?:separate|split|extract|get|have|put|move|return))\b"
    r"|(?:\u2014|\u2013| - |->|\u2192) ?(?:upgrade|update|set|use|add|pass|enable|restart|switch|try|make sure|check)\b"
    r"|\A\W{0,4}\|| \| |\?\s*\Z|\A\s*[-+*]?\s*\[[ x]\]",
    re.IGNORECASE,
)
# What a sentence has to show, all of one of these.
_KINDS = (
    (Reported.ANSWER_THERE, ((_IS_EMPTY, _THERE), (_WHOLE_THERE,))),
    (Reported.THOUGHT_HERE, ((_THOUGHT_HERE,), (_NO_REASONING, _ALL_HERE))),
    (Reported.SCHEMA_IGNORED, ((_IGNORED,),)),
)


def reported_answers(text: str) -> Iterator[str]:
    """Yield what a text says of an answer whose thoughts or schema are not as they should be, as notes."""
    if len(text) > _MAX_CHARS or _SUBJECT.search(text) is None:
        return
    if is_source(text) or is_manual(text) or is_tagged(text):
        return
    lines = [part for one in sentences_of(prose_of(drop_advice(text)))[:_MAX_SENTENCES] for part in one.split("\u3002")]
    sentences = [one.strip(" -*#>\t") for one in lines]
    sentences = [one for one in sentences if 0 < len(one) <= _MAX_SENTENCE and _SUBJECT.search(one) is not None]
    sentences = [one for one in sentences if _NOT_SAID.search(one) is None]
    for kind, ways in _KINDS:
        claims = [one for one in sentences if any(all(sign.search(one) for sign in signs) for signs in ways)]
        if claims:
            yield from (f"{kind.value}{one}" for one in claims[:_MAX_SAID])
            return
