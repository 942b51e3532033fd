"""One attempt to read a text as one thing: with slips mended, and an error as the paragraph that explains it best."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress

from prompt_debugger.core.base.comparable import NO_BEGINNING
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.copying.broken_json import (
    end_of_string,
    is_in_a_broken_fence,
    is_part,
    string_of_json,
)
from prompt_debugger.core.evidence.errors.http import error_of_head
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers import Paste, find_reader
from prompt_debugger.core.evidence.reports.prose import drop_partial_calls, output_of
from prompt_debugger.core.evidence.values.json_of import json_of, lenient_json_of
from prompt_debugger.core.known_errors import Cause, classes_of, recognise_error

Read = Callable[[str, int], Evidence]
MAX_PARAGRAPHS = 50
_BEGINS = "The text begins within a string of JSON; what came before is unknown."
PARAGRAPHS = re.compile(r"\n[ \t]*(?:```\w{0,20}[ \t]*)?(?:\n|\Z)")  # a fence parts them, too


def try_read(text: str, row: int, read: Read) -> tuple[Evidence | None, RequestError | None]:
    """Return what a text shows as one thing, or why it could not be read.

    Args:
        text: The text.
        row: Which line or recorded exchange, from 1.
        read: Reads a text that is one thing; raises `RequestError`.
    """
    try:
        evidence = read(text, row)
    except RequestError as error:
        repaired = _drop_remarks(text)
        return (None, error) if repaired is None else try_read(repaired, row, read)
    if evidence.form is Form.OUTPUT and evidence.chat is None and (inner := string_of_json(text)) is not None:
        return output_of(inner), None
    if evidence.form is Form.OUTPUT and (tail := end_of_string(text)) is not None:
        words = f"the end of a raw output, {len(tail):,} characters"
        return Evidence(Form.OUTPUT, words, raw=tail, raw_reason=NO_BEGINNING, notes=(_BEGINS,)), None
    is_of_more = evidence.form is Form.OUTPUT and (is_part(text) or is_in_a_broken_fence(text))
    if is_of_more and Paste(text).value is None:
        return None, RequestError(
            "The text contains an output inside incomplete JSON or printed text.",
            "Paste all of it, or only the output.",
        )
    return drop_partial_calls(_read_its_paragraph(evidence, text), text), None


def _drop_remarks(text: str) -> str | None:
    """Return a JSON object without the remarks that someone wrote into it (`[]  // what is missing`)."""
    if (
        not text.lstrip().startswith("{")
        or not any(mark in text for mark in ("//", " # "))
        or json_of(text) is not None
    ):
        return None
    found = lenient_json_of(text)
    return None if found is None or not isinstance(found[0], dict) else json.dumps(found[0], ensure_ascii=False)


def _read_its_paragraph(evidence: Evidence, text: str) -> Evidence:
    """Return an error that no table knows as its own paragraph alone reads: the prose around it is a person's."""
    paragraphs = [one for one in PARAGRAPHS.split(text) if one.strip()] if evidence.error is not None else []
    is_body = evidence.error is not None and bool(evidence.error.code or evidence.error.field)
    is_body = is_body or error_of_head(text) is not None
    if is_body or is_known(evidence) or not 1 < len(paragraphs) <= MAX_PARAGRAPHS:
        return evidence
    found: list[Evidence] = []
    for paragraph in paragraphs:
        if paragraph.rstrip().endswith(":"):
            continue  # it leads to what is below it
        reader = find_reader(Paste(paragraph), Form.ERROR)
        if reader is not None:
            with suppress(RequestError):
                found.append(reader[0].read(Paste(paragraph)))
    whole = evidence.error.message if evidence.error is not None else ""
    found.sort(key=lambda one: one.error is None or one.error.message != whole)  # the one that the whole text reports
    explained = (one for is_it in (is_known, has_reason, has_class) for one in found if is_it(one))
    return next(explained, found[0] if found else evidence)


def has_class(evidence: Evidence) -> bool:
    """Return whether an error's words show what it is about; a sentence that only mentions a status does not."""
    return evidence.error is not None and next(classes_of(evidence.error.message), None) is not None


def has_reason(evidence: Evidence) -> bool:
    """Return whether an error's words say why something failed, and not only that it did."""
    found = next(classes_of(evidence.error.message), None) if evidence.error is not None else None
    return found is not None and found.error.has_reason


def is_known(evidence: Evidence) -> bool:
    """Return whether an error is one that a table explains, with its reason; anything but an error counts as known."""
    known = recognise_error(evidence.error.message) if evidence.form is Form.ERROR and evidence.error else None
    return evidence.form is not Form.ERROR or (known is not None and known.error.is_about is not Cause.UNCLEAR)
