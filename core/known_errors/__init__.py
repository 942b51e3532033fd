"""Sentences that servers, vendors, templates and clients are known to say when a chat request fails.

One file per maker, each with `MAKER` and `SENTENCES`; nothing is registered elsewhere. A sentence has its meaning, the
stage at which it arises, the request field that it is about, and what helps. Text goes in, knowledge comes out: no I/O,
no verdict, which is `core.diagnose`'s.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from prompt_debugger.core.base.discover import discover
from prompt_debugger.core.base.errors import PluginError
from prompt_debugger.core.known_errors._causes import cause_of_words, is_of_loading
from prompt_debugger.core.known_errors._classes import CLASSES as ERROR_CLASSES
from prompt_debugger.core.known_errors._classes import classes_of
from prompt_debugger.core.known_errors._classes.base import Classified
from prompt_debugger.core.known_errors._fields import as_path, field_in, is_request_path
from prompt_debugger.core.known_errors._lookup import SentenceIndex
from prompt_debugger.core.known_errors._match import Recognised, find_sentence, words_as_one_line
from prompt_debugger.core.known_errors._nested import innermost
from prompt_debugger.core.known_errors._quoted import JsonBreak, Quoted, json_break, quoted_output
from prompt_debugger.core.known_errors._speakers import Speaker, speaker_of
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

__all__ = [
    "ERROR_CLASSES",
    "KNOWN_ERRORS",
    "Cause",
    "Classified",
    "JsonBreak",
    "KnownError",
    "Look",
    "Quoted",
    "Recognised",
    "Speaker",
    "as_path",
    "cause_of",
    "cause_of_words",
    "classes_of",
    "field_in",
    "innermost",
    "is_of_loading",
    "is_request_path",
    "json_break",
    "quoted_output",
    "recognise_error",
    "speaker_of",
    "words_as_one_line",
]


def _load() -> Mapping[str, tuple[KnownError, ...]]:
    package = sys.modules[__name__]
    makers = discover(package, "MAKER")
    tables: dict[str, tuple[KnownError, ...]] = {}
    for module, sentences in discover(package, "SENTENCES").items():
        maker = makers[module]
        if not isinstance(sentences, tuple) or not isinstance(maker, str):
            see = "See core/known_errors/base.py."
            raise PluginError(f"`core/known_errors/{module}.py` does not define a table of `KnownError`s.", see)
        if maker in tables:
            raise PluginError(f"The maker {maker!r} is defined by two files of core/known_errors.", "Merge them.")
        tables[maker] = tuple(one for one in sentences if isinstance(one, KnownError))
    return tables


KNOWN_ERRORS: Mapping[str, tuple[KnownError, ...]] = _load()
"""The known sentences, by maker."""
_INDEX = SentenceIndex(KNOWN_ERRORS)


def recognise_error(text: str, code: str | None = None) -> Recognised | None:
    """Return the known sentence that a text says, with the error's code before it; `None` if it says none."""
    return find_sentence(f"{code}: {text}" if code else text, _INDEX)


def cause_of(message: str, code: str | None = None) -> Cause | None:
    """Return what has to change by words and code of an error, known or not; `None` where neither says it."""
    known = recognise_error(message) or (recognise_error(code) if code else None)
    is_clear = known is not None and known.error.is_about is not Cause.UNCLEAR
    return known.error.is_about if known is not None and is_clear else cause_of_words(message, code)
