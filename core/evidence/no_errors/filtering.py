"""All of it at once: whether a text can report an error, and what is left of it without what reports none."""

from __future__ import annotations

from prompt_debugger.core.evidence.no_errors.advice import (
    drop_advice_on_errors,
    is_section_on_errors,
    shows_possible_error,
)
from prompt_debugger.core.evidence.no_errors.catalogues import is_catalogue
from prompt_debugger.core.evidence.no_errors.data import drop_documents, is_tagged
from prompt_debugger.core.evidence.no_errors.denied import drop_denied
from prompt_debugger.core.evidence.no_errors.manuals import drop_guidance, drop_manual, is_manual
from prompt_debugger.core.evidence.no_errors.names import drop_headed, drop_listed_names
from prompt_debugger.core.evidence.no_errors.programs import drop_handlers, is_program, is_source
from prompt_debugger.core.evidence.no_errors.settings import is_settings
from prompt_debugger.core.evidence.no_errors.snippets import is_snippet
from prompt_debugger.core.evidence.no_errors.transcripts import is_retrieved
from prompt_debugger.core.evidence.no_errors.wording import is_faq
from prompt_debugger.core.evidence.reports.captions import drop_captions


def reports_nothing(text: str, *, by_words: bool = False) -> bool:
    """Return whether no error can have been printed in a text or with it.

    Args:
        text: All of it.
        by_words: Whether only words show an error, in prose; else it has the form in which a program prints one.
    """
    if is_program(text) or is_retrieved(text) or is_settings(text) or is_faq(text) or is_snippet(text):
        return True
    if is_section_on_errors(text) or shows_possible_error(text) or is_catalogue(text):
        return True
    return by_words and (is_source(text) or is_manual(text) or is_tagged(text))


def drop_unmeant(text: str, *, by_words: bool = False) -> str:
    """Return a text without what names errors that did not come; `by_words` as in `reports_nothing`."""
    text = drop_headed(drop_listed_names(drop_manual(drop_captions(text))))
    text = drop_advice_on_errors(drop_handlers(text))
    return drop_denied(drop_guidance(drop_documents(text)) if by_words else text)
