"""What the words around an evidence say of it: the server, that a call was expected, where an output came.

    LM Studio 0.4 returns it in `message.content`:        server, and place
    <tool_call>…</tool_call>                              the evidence

Nothing is taken from words that the evidence itself shows.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import ChatResult, Server
from prompt_debugger.core.diagnose.calls.unparsed_calls import STREAM_ALONE
from prompt_debugger.core.diagnose.calls.written_calls import CALL_EXPECTED, CAME_AS_CONTENT, COMPLAINED, SAID_OFF
from prompt_debugger.core.evidence.commands.command_lines import find_commands, find_parser_command, names_server
from prompt_debugger.core.evidence.commands.flags import Started, flags_of, server_of
from prompt_debugger.core.evidence.commands.lost_flags import find_lost_flags
from prompt_debugger.core.evidence.copying.line_starts import strip_prefixes
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.logs.lines import find_entries
from prompt_debugger.core.evidence.logs.marks import What
from prompt_debugger.core.evidence.no_errors.programs import is_program, is_source
from prompt_debugger.core.evidence.readers import Paste
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.mentions import mentioned_server, version_in
from prompt_debugger.core.evidence.reports.split import split
from prompt_debugger.core.evidence.taking import take_last_answer
from prompt_debugger.core.evidence.values.json_of import json_of
from prompt_debugger.core.request.javascript import has_javascript

# An answer's field that a person names, or a place where a client shows texts: what is shown came there.
_AS_CONTENT = re.compile(
    r"\b(?:in|into|to|as|inside|within) (?:the |its |my )?(?:\w+(?:['\u2019]s)? ){0,2}"
    r"[`'\"]?(?:message\.)?content\b(?! ?[\w:-]*parser)|\bcontent (?:field|response)\b|"
    r"\bcontent of (?:the |an? |its |my )?(?:answer|response|message|reply)\b|`(?:message\.)?content`"
    r"|\bas (?:plain |raw |normal |regular )?(?:text|message)\b|\bchat (?:window|ui|output)\b"
    r"|\b(?:to the (?:end )?user|in the (?:chat|client|ui|terminal))\b"
    r"|\binstead of (?:execut|call|runn|invok)ing\b",
    re.IGNORECASE,
)
_OF_CALLS = re.compile(r"\b(?:tool|function)[ _-]?call(?:s|ing)?\b|\bnative tools?\b", re.IGNORECASE)
# A line in which Python printed an object, with its class or as fields: its words are no person's.
_PRINTS_FLAGS = ("non-default args: ", "server_args=")
_PRINTED = re.compile(
    r"(?m)^[ \t]{0,12}(?:[A-Za-z][^\n'\"={}\[\]]{0,60}: {0,4})?"
    r"(?:[A-Z]\w{2,40}\(\w{1,30}=|[\[{(]{1,3}['\"]"
    r"|(?:id|index|content|object|role)=['\"\d][^\n]{0,4000}? \w{1,30}=)[^\n]*"
)
_COMPLAINT = re.compile(
    r"\b(?:bugs?|buggy|broken|breaks|fail(?:s|ed|ing|ure)?|wrong(?:ly)?|incorrect(?:ly)?|lost|loses|losing|missing"
    r"|drop(?:s|ped)|crash(?:es|ed)?|garbled|corrupt(?:s|ed)?|malformed|unexpected(?:ly)?|truncated"
    r"|(?:is|are|was|were)(?:n't| not) (?:(?:being|correctly|properly) ){0,2}(?:parsing|parsed|called|executed"
    r"|extracted|recogni[sz]ed|returned|streamed|read))\b",
    re.IGNORECASE,
)
_NO_COMPLAINT = re.compile(
    r"\b(?:no|not|without|never|nothing|any|fixe[sd]|should|would|could|must|if|when|used to|no longer|[a-z]+n't)\b"
    r"[^.!?\n]{0,60}\b(?:bug|broken|fail|wrong|incorrect|lost|los|missing|drop|crash|garbled|corrupt|malformed|unexpected"
    r"|truncated)|\?\s*\Z",
    re.IGNORECASE,
)
# Not a field of an object that is shown: of such a one all is read that is complete.
_REASON = re.compile(
    r"(?P<before>[^\n]{0,40})(?<![\"'(,{\w])(?<![\"'(,{] )finish_?reason\b[`'\"\])]{0,3}"
    r"(?:[ \t]{0,3}[:=]|[ \t]{1,3}(?:is|was)\b|[ \t]{0,3}\n)[ \t]{0,4}[`'\"]{0,2}"
    r"(?P<reason>length|stop|tool_calls|content_filter|max_tokens)\b",
    re.IGNORECASE,
)
_NOT_THIS = re.compile(
    r"\b(?:expect\w{0,3}|should|want\w{0,3}|other|openai|gpt|claude|without|if|when)\b", re.IGNORECASE
)
# That the same works as a whole answer.
_WITHOUT_STREAM = (
    r"(?:non[- ]?stream\w{0,5}|without stream\w{0,5}|stream\w{0,5}(?: is| ?=|:)? ?[`'\"]?(?:false|off|disabled))"
)
_STREAM_ALONE = re.compile(
    rf"\b{_WITHOUT_STREAM}\b[^.!?\n]{{0,60}}\b(?:works?(?! as text)|is (?:fine|correct|ok))\b"
    rf"|\b(?:works?|is (?:fine|correct|ok))\b[^.!?\n]{{0,40}}\b{_WITHOUT_STREAM}\b",
    re.IGNORECASE,
)
_NO_STREAM_ALONE = re.compile(
    r"\b(?:neither|nor|both|same|should|would|could|not|[a-z]+n't|expect\w{0,3}|too)\b|\?\s*\Z", re.IGNORECASE
)
# What a person says of the switch that turns thinking off.
_SWITCH = r"[`'\"]?\benable_thinking\b[`'\"]?(?: (?:is|was))?(?: set)?[ \t]?(?:to|=|:|as)?[ \t]?[`'\"]?"
_SET_OFF = re.compile(
    rf"\b(?:I|we|set|setting|pass|passed|passing|send|sent|with|using|use|used)\b[^.\n]{{0,60}}?{_SWITCH}false\b"
    r"|\benable_thinking\b[`'\"]? (?:is|was) (?:set to )?[`'\"]?false\b",
    re.IGNORECASE,
)
# The piece of a request that does, shown beside the answer.
_SHOWN_OFF = re.compile(
    r"['\"]chat_template_kwargs['\"]\s{0,8}:\s{0,8}\{[^{}]{0,200}?['\"]enable_thinking['\"]\s{0,8}:\s{0,8}false\b",
    re.IGNORECASE,
)
_SHOWN_ON = re.compile(r"['\"]enable_thinking['\"]\s{0,8}:\s{0,8}true\b", re.IGNORECASE)
_SET_ON = re.compile(rf"{_SWITCH}true\b", re.IGNORECASE)
_NOT_SET = re.compile(
    r"\b(?:should|could|would|must|can|cannot|if|when|unless|try|recommend\w{0,3}|without|not|instead|works?|fix\w{0,2}"
    r"|docs?|documentation)\b|n['\u2019]t\b|\?\s*\Z",
    re.IGNORECASE,
)
# What a person says of a list of calls that is there and empty.
_EMPTY_LIST = re.compile(
    r"\bempty [`'\"]?tool_calls\b|\btool_calls[`'\"]?:? ?\[ ?\]"
    r"|\btool_calls\b[`'\"]? (?:array|list|field)?[^.\n]{0,20}\bempty\b",
    re.IGNORECASE,
)
_LIST_IS_EMPTY = (
    "`tool_calls` is an empty list, which means that there is no call: the text is the answer. OpenAI leaves the field "
    "out, so a client has to test whether the list has members, not whether it is there."
)
_PRINTED_WITHIN = re.compile(r"\b[A-Z]\w{2,60}\([a-z_]\w{0,40}=")
_LIST_OF_NAMES = re.compile(r"`\w{1,60}`(?:, `\w{1,60}`){2,40}")  # of fields, as documentation has it
SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
MAX_SENTENCE = 500  # characters; what is longer is data
_OF_AN_OUTPUT = frozenset({Part.RAW, Part.FLAGS, Part.REQUEST})
_OUTPUTS = frozenset({Form.OUTPUT, Form.COMMAND})  # a command with an output below it
_MAX_CHARS = 60_000  # in which words are looked for


def add_words(evidence: Evidence, text: str) -> Evidence:
    """Return evidence with what the words of its text say of it.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    is_mixed = Paste(text).value is None
    if is_mixed:
        is_written = is_program(text)  # a conversation in a program was answered by no one
        evidence = _add_reason(evidence if is_written else take_last_answer(evidence), text)
        evidence = _note_switch(_note_complaint(_note_expectation(evidence, text), text), text)
    return _add_server(evidence, text, is_mixed=is_mixed)


def _add_reason(evidence: Evidence, text: str) -> Evidence:
    """Return a message that was shown without its finish reason with the one that the words around it name."""
    chat = evidence.chat
    if chat is None or chat.finish_reason or evidence.stream or evidence.raw or evidence.form is Form.RUN:
        return evidence
    found = [one for one in _REASON.finditer(text[:_MAX_CHARS]) if _NOT_THIS.search(one["before"]) is None]
    reasons = {one["reason"].lower() for one in found}
    if len(reasons) != 1:
        return evidence
    reason = reasons.pop()
    note = f"`finish_reason` is `{reason}` according to the text around the message."
    return replace(evidence, chat=replace(chat, finish_reason=reason), notes=(*evidence.notes, note))


def _note_expectation(evidence: Evidence, text: str) -> Evidence:
    """Note that someone writes of tool calls about an answer that has none, or that an output came as content."""
    if evidence.raw is not None and {*evidence.holds} <= _OF_AN_OUTPUT and evidence.form in _OUTPUTS:
        if _AS_CONTENT.search(_around(evidence.raw, text)) is None:
            return evidence
        chat = ChatResult({"role": "assistant", "content": evidence.raw}, evidence.finish_reason)
        notes = (*evidence.notes, CAME_AS_CONTENT, *((CALL_EXPECTED,) if _speaks_of_calls(text) else ()))
        return replace(evidence, form=Form.ANSWER, raw=None, raw_reason="", chat=chat, notes=notes)
    if CALL_EXPECTED in evidence.notes or not _may_lack_calls(evidence, text):
        return evidence
    content = "" if evidence.chat is None else evidence.chat.message.get("content")
    around = text.replace(content, "") if isinstance(content, str) and content else text
    return replace(evidence, notes=(*evidence.notes, CALL_EXPECTED)) if _speaks_of_calls(around) else evidence


def _speaks_of_calls(text: str) -> bool:
    """Return whether the prose of a text speaks of tool calls; a printed object with a field of that name does not."""
    return _OF_CALLS.search(_LIST_OF_NAMES.sub("", prose_of(text))) is not None


def _note_complaint(evidence: Evidence, text: str) -> Evidence:
    """Note that someone says of an answer that something is wrong: that nothing was found is then no good news."""
    if evidence.chat is None or evidence.form is Form.RUN:
        return evidence
    sentences = tuple(one for one in sentences_of(prose_of(text)) if len(one) <= MAX_SENTENCE)
    if any(_STREAM_ALONE.search(one) and not _NO_STREAM_ALONE.search(one) for one in sentences):
        evidence = replace(evidence, notes=(*evidence.notes, STREAM_ALONE))
    if _has_empty_list(evidence) and any(_EMPTY_LIST.search(one) for one in sentences):
        return replace(evidence, notes=(*evidence.notes, _LIST_IS_EMPTY))
    is_said = any(_COMPLAINT.search(one) and not _NO_COMPLAINT.search(one) for one in sentences)
    return replace(evidence, notes=(*evidence.notes, COMPLAINED)) if is_said else evidence


def _note_switch(evidence: Evidence, text: str) -> Evidence:
    """Note that someone says of the request of an answer that it turns thinking off, where no request shows it."""
    if evidence.chat is None or evidence.request is not None or evidence.form is Form.RUN:
        return evidence
    sentences = [one for one in sentences_of(prose_of(text)) if len(one) <= MAX_SENTENCE]
    is_off = any(_SET_OFF.search(one) and not _NOT_SET.search(one) for one in sentences)
    is_shown = _SHOWN_OFF.search(text) is not None and _SHOWN_ON.search(text) is None
    is_clear = (is_off or is_shown) and not any(_SET_ON.search(one) for one in sentences)
    return replace(evidence, notes=(*evidence.notes, SAID_OFF)) if is_clear else evidence


def _has_empty_list(evidence: Evidence) -> bool:
    """Return whether an answer has a text, and a list of calls without any."""
    message = {} if evidence.chat is None else evidence.chat.message
    return bool(message.get("content")) and message.get("tool_calls") == []


def _may_lack_calls(evidence: Evidence, text: str) -> bool:
    """Return whether evidence is an answer without calls, or a whole request alone whose every field was copied."""
    if evidence.chat is not None:
        return not evidence.chat.message.get("tool_calls")
    is_alone = {*evidence.holds} <= {Part.REQUEST, Part.FLAGS} and evidence.form is not Form.FRAGMENT
    is_body = evidence.request is not None and evidence.request.source != "python" and not has_javascript(text)
    return is_alone and is_body


def _around(raw: str, text: str) -> str:
    """Return the lines of prose that are not themselves in the output."""
    return "\n".join(line for line in prose_of(text).split("\n") if line.strip() and line.strip() not in raw)


def prose_of(text: str) -> str:
    """Return what is prose of the beginning of a text."""
    prose = "\n".join(block.text for block in split(text[:_MAX_CHARS]) if block.kind is BlockKind.PROSE)
    return _PRINTED.sub("", prose)


def sentences_of(prose: str) -> list[str]:
    """Return the sentences of prose, each line separately, without objects that a program printed between them."""
    return [one for one in SENTENCES.split(prose) if _PRINTED_WITHIN.search(one) is None]


def _add_server(evidence: Evidence, text: str, *, is_mixed: bool) -> Evidence:
    """Return evidence with the server that the same text starts, or that it names, where no more than one shows."""
    known = evidence.server
    named = () if known is None else known.served_models
    if evidence.form is Form.RUN or (known is not None and known != Server("", kind=known.kind, served_models=named)):
        return evidence
    commands = find_commands(text) if is_mixed and names_server(text) else ()
    if not commands and is_source(text):
        return evidence
    if commands:
        command = find_parser_command(commands, text)
        version = command.version or version_in(text, command.kind)
        server, notes = server_of(command.kind, flags_of(command.kind, command.words), version)
        server = replace(server, lost_flags=find_lost_flags(text) if len(commands) == 1 else ())
    elif evidence.form is Form.ERROR and (started := _started_in_log(text)) is not None:
        server, notes = started
    else:
        answer = "" if evidence.chat is None else evidence.chat.body
        has_content = bool(evidence.holds) or evidence.form is Form.REPORT
        found = mentioned_server(text, has_words=is_mixed, answer=answer) if has_content else None
        server, notes = found or Server(""), ()
        server = replace(server, served_models=()) if _names_model(evidence) else server
        server = replace(server, served_models=named) if named else server
    if server == Server("") or (known is not None and known.kind not in (server.kind, Server("").kind)):
        return evidence
    return replace(evidence, server=server, notes=(*evidence.notes, *notes))


def _started_in_log(text: str) -> Started | None:
    """Return the server whose flags a log shows above its error, as vLLM and SGLang print them at the start."""
    if not any(sign in text for sign in _PRINTS_FLAGS):
        return None
    entries = find_entries(strip_prefixes(text))
    shown = next((entry for entry in entries if entry.what is What.FLAGS and entry.engine), None)
    return None if shown is None else server_of(shown.engine, as_object(shown.value))


def _names_model(evidence: Evidence) -> bool:
    """Return whether the request or the answer names its model."""
    answered = as_object(json_of(evidence.chat.body)) if evidence.chat is not None else {}
    return "model" in answered or (evidence.request is not None and "model" in evidence.request.body)
