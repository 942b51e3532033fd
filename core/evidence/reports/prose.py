"""Prose → the evidence in it: a log line, a line of code, an output below a line that announces it.

    Response choices[0].message.content:        the text below
    `<tool_call>…</tool_call>`                   code, a line or within one

What a sentence quotes is looked at where errors are read.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.diagnose.calls.client_markup import Notation, find_client_call
from prompt_debugger.core.evidence.answers.read import is_answer, read_answer
from prompt_debugger.core.evidence.copying.gaps import drop_unproven
from prompt_debugger.core.evidence.copying.raw_output import as_written
from prompt_debugger.core.evidence.evidence import Evidence, Part, content_alone, merge, output_alone
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import is_command, is_source, writes_markers
from prompt_debugger.core.evidence.no_errors.snippets import is_snippet
from prompt_debugger.core.evidence.readers import Paste, find_readers
from prompt_debugger.core.evidence.recognise import MARKER
from prompt_debugger.core.evidence.reports.report_text import begins_template, shown_output
from prompt_debugger.core.evidence.reports.shown import shown_code, shown_python
from prompt_debugger.core.evidence.taking import add_answer, as_part, compatible, drop_headless_calls, drop_shortened
from prompt_debugger.core.evidence.values.printed_values import value_at
from prompt_debugger.core.formats import CONTROL_TOKEN

MIN_SCORE = 0.6  # of a reader, for a block of prose
_OUTPUT_LEAD = re.compile(r"\b(?:raw|model|generated)\b.{0,40}\b(?:output|text|completion|response)\b", re.IGNORECASE)
_WRITTEN_LEAD = re.compile(
    r"\b(?:model|llm|agent|assistant|claude|gpt|gemini|qwen|llama|deepseek|mistral)\b[^\n]{0,40}\b(?:answer|respond|reply"
    r"|repli|output|return|write|wrote|print|generat|produc|emit)"
    r"|\binstead of (?:a |the |any )?(?:real |actual |proper )?(?:tool|function)",
    re.IGNORECASE,
)
# Not of a file, a page or a command's output.
_CONTENT_LEAD = re.compile(
    r"\bcontent\b(?! (?:of|in|from) (?:that|the|this|an?|your|its?|these|those) (?:\w{1,20} ){0,2}?"
    r"(?:files?|pages?|folders?|director(?:y|ies)|fragments?|documents?|databases?|tables?|collections?|urls?|sites?|repo\w{0,8}|configs?)\b)",
    re.IGNORECASE,
)
_PROGRAM = re.compile(
    r"\s{0,20}(?:class |import |from \w[\w.]{0,60} import |def |async def |@\w|(?:npm|pip|uv|npx|cat) )"
)
# Calls of functions with named arguments, a line each, as models write them in Python.
_CALL_ALONE = re.compile(r"\s*+(?:[a-z_]\w{0,80}\([a-z_]\w{0,80}=[^\n]{0,2000}\)[ \t]{0,20}\n{0,4}){1,20}+")
_MAX_LABEL = 40  # characters of a label; more are a sentence
# A printed object of a client, which no content of a message is.
_PRINTED = re.compile(
    r"\s{0,99}[A-Z]\w{0,40}?(?:Completion|Response|Message|Chunk|Delta|Choice|Event|Generation)\w{0,40}\(\w{1,40}="
)
_LEAD = re.compile(
    r"(?m)^(?![ \t]*(?:if|elif|while|for|with|case)\b)"  # which is code
    r"([^\n]{0,80}(?:\bmessage\.content|\b(?:raw|model) (?:output|completion))\b[^\n:]{0,20}):[ \t]*\n(?=\s*\S)",
    re.IGNORECASE,
)
_LEAD_WORDS = ("message.content", "raw output", "raw completion", "model output", "model completion")
_NEXT_LABEL = re.compile(r"\n[ \t]*\n[^\n<>{}]{1,60}:[ \t]*\n*\Z")  # of the block below
_PRINTS_CONTENT = re.compile(
    r"\b(?:print|console\.log)\((?:[^\n]{0,120}\bmessage(?:\.|\[[^\n]{1,3})content"
    r"|f?[\"']?[^\n]{0,40}?\b(?:response|result|resp|res|answer|ai_message|reply)\.content\b)"
)
_PROMPT_LEAD = re.compile(r"\b(?:prompt|template|input)\b[^\n]{0,60}(?::|sent|contains?|is|renders?)", re.IGNORECASE)
_CODE = re.compile(
    r"(?<!`)`(?=\{\s{0,9}['\"](?:name|arguments|function|id|type|tool_calls|role)['\"])([^`]{20,4000})`(?!`)"
)
_MAX_VALUES = 4


def evidence_of_prose(text: str) -> Evidence | None:
    """Return what a block of prose holds; `None` if nothing in it is known."""
    if begins_template(text):
        return None
    paste = Paste(text)
    pieces: list[Evidence] = []
    for reader in find_readers(paste, MIN_SCORE):
        with suppress(RequestError):
            pieces.append(drop_partial_calls(reader.read(paste), text))
    if not pieces:
        return _read_after_lead(text) or _evidence_of_code(text)
    if len(pieces) == 1 or {*pieces[0].holds} >= {part for piece in pieces for part in piece.holds}:
        return pieces[0]
    return merge(compatible(pieces), pieces[0].form, "; ".join(piece.words for piece in pieces))


def _evidence_of_code(text: str) -> Evidence | None:
    """Return the calls or messages that a text shows as code within sentences; `None` where it shows none.

    Of several the first is read, and the others are looked at if there is nothing wrong with it.
    """
    found: list[Evidence] = []
    for code in islice(_CODE.finditer(text), _MAX_VALUES):
        value = value_at(code[1].strip(), 0)
        if not is_answer(value):
            continue
        try:
            answer = as_part(read_answer(value))
        except RequestError:
            continue
        found.append(add_answer(Evidence(Form.FRAGMENT, "a call shown as code"), answer))
    return replace(found[0], others=tuple(found[1:])) if found else None


def _read_after_lead(text: str) -> Evidence | None:
    """Return the text below a line that says what it is: `Response choices[0].message.content:`."""
    if writes_markers(text, MARKER):
        return None
    found = _LEAD.search(text) if has_any(text.lower(), _LEAD_WORDS) else None
    if found is not None:
        return by_lead(found[1], _NEXT_LABEL.sub("", text[found.end() :]).strip("\n"))
    if (python := shown_python(text)) is not None:
        return content_alone(python)
    shown = shown_output(text) or shown_code(text)
    if shown is None:
        return None
    if shown.startswith("functions."):
        return content_alone(shown)
    with suppress(RequestError):  # what is left of it is nothing
        return drop_partial_calls(output_of(shown), shown)
    return None


def shows_prompt(lead: str) -> bool:
    """Return whether the line above a block calls it a prompt, and nothing calls it an output."""
    return _PROMPT_LEAD.search(lead) is not None and _OUTPUT_LEAD.search(lead) is None


def by_lead(lead: str, text: str) -> Evidence | None:
    """Return what the line above a block says that it is: the content of a message, or a raw output."""
    is_code = is_command(text) or is_source(text) or is_snippet(text) or _PROGRAM.match(text) is not None
    is_call = _WRITTEN_LEAD.search(lead) is not None and _CALL_ALONE.fullmatch(text) is not None
    if _PRINTED.match(text) is not None or (len(lead) > _MAX_LABEL and is_code and not is_call):
        return None
    is_lead = len(lead) <= _MAX_LABEL or lead.rstrip("*_` ").endswith((":", "\uff1a"))  # and no sentence
    has_content = is_lead and _CONTENT_LEAD.search(lead) is not None
    found = content_alone(text) if has_content or _is_call_of_model(lead, text) else None
    if found is None and is_lead and _OUTPUT_LEAD.search(lead):
        found = output_of(text)
    with suppress(RequestError):  # what is left of it is nothing
        return None if found is None else drop_partial_calls(found, text)
    return None


def _is_call_of_model(lead: str, text: str) -> bool:
    """Return whether a line says that a model wrote what is below it, and that is a client's request to a tool."""
    call = find_client_call(text) if _WRITTEN_LEAD.search(lead) else None
    return call is not None and call.notation is Notation.JSON_RPC


def as_printed(evidence: Evidence, script: str) -> Evidence:
    """Return an output below a script as what the script says that it prints: the content, if it does so."""
    is_output = evidence.form is Form.OUTPUT and evidence.holds == (Part.RAW,) and evidence.raw is not None
    if not is_output or _PRINTS_CONTENT.search(script) is None or CONTROL_TOKEN.search(evidence.raw or "") is not None:
        return evidence
    return content_alone((evidence.raw or "").strip("\n"))


def output_of(text: str) -> Evidence:
    """Return a raw output as evidence."""
    raw, notes = as_written(text)
    return output_alone(raw, notes)


def drop_partial_calls(evidence: Evidence, text: str) -> Evidence:
    """Return evidence without calls that were copied in part."""
    return drop_unproven(drop_shortened(drop_headless_calls(evidence), text), text)


def is_end_alone(evidence: Evidence) -> bool:
    """Return whether an output is only an end token: next to other text, it ends whatever came before it."""
    text = (evidence.raw or "").strip()
    return CONTROL_TOKEN.fullmatch(text) is not None and "{" not in text  # as a call of Gemma 4 has it
