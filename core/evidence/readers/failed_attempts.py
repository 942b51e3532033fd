"""The error of Instructor's retries, which has each attempt in it: the answer, and why it was not taken.

    <failed_attempts>
    <generation number="1">
    <exception>1 validation error for User …</exception>
    <completion>ChatCompletion(id=…)</completion>
    </generation>
    </failed_attempts>
    <last_exception>…</last_exception>

The last attempt is read. Source: https://python.useinstructor.com/concepts/retrying/, as of 2026-11.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.evidence import Evidence, add_notes
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.evidence.readers.error import evidence_of_error
from prompt_debugger.core.evidence.readers.printed import READER as PRINTED

_SIGN = "<failed_attempts>"
_MAX_CHARS = 400_000
_PART = re.compile(r"<(?P<name>exception|completion)>(?P<text>[^<]*+(?:<(?!/(?P=name)>)[^<]*+)*+)</(?P=name)>")


def _finds(paste: Paste) -> float:
    return 0.99 if _SIGN in paste.text[:_MAX_CHARS] and _parts(paste.text) else 0.0


def _parts(text: str) -> dict[str, str]:
    """Return the exception and the completion of the last attempt; empty where an attempt is not whole."""
    start = text.find(_SIGN, 0, _MAX_CHARS)
    found: dict[str, str] = {}
    for part in _PART.finditer(text, start, start + _MAX_CHARS):
        found[part["name"]] = part["text"].strip()
    return found if found.get("exception") else {}


def _read(paste: Paste) -> Evidence:
    parts = _parts(paste.text)
    said = error_of_text(parts["exception"])
    if said is None:
        raise RequestError(
            "The attempts of Instructor were read, but none of the reasons why they failed.", "Paste the answer itself."
        )
    evidence = evidence_of_error(said.refusal)
    completion = parts.get("completion", "")
    shown = None
    if completion and PRINTED.finds(Paste(completion)) > 0:
        try:
            shown = PRINTED.read(Paste(completion))
        except RequestError:
            shown = None
    if shown is not None and shown.chat is not None:
        evidence = replace(evidence, form=Form.EXCHANGE, chat=shown.chat, words=f"{shown.words}; {evidence.words}")
    attempts = paste.text[:_MAX_CHARS].count("<generation number=")
    several = (f"Instructor asked {attempts} times; the last answer was read.",) if attempts > 1 else ()
    return add_notes(evidence, several)


READER = Reader(Form.ERROR, _finds, _read)
