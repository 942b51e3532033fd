"""The template under edit → what its views draw: how the render went, and what the template supports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSON, Prompt, TokenKind
from prompt_debugger.core.render.probes import ProbeAnswer, Support
from prompt_debugger.ui.present.live import MAX_TEXT, place_of_error
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence, count_of, joined

_MAX_NAMED = 8


def edited_payload(prompt: Prompt, own: str, source: str) -> str:
    """Return the line above the prompt of an edited template; `source` says in words where its setup comes from."""
    notes: list[JSON] = [source, _edits(prompt.template or "", own)]
    if prompt.unread:
        left_out = len(prompt.unread) - _MAX_NAMED
        named = ", ".join(f"`{path}`" for path in prompt.unread[:_MAX_NAMED])
        notes.append(f"Never read by this template: {named}{f' and {left_out} more' if left_out > 0 else ''}.")
    if not prompt.identical:
        notes.append(as_sentence(prompt.note))
    is_long = len(prompt.text) > MAX_TEXT
    if prompt.tokens is None:
        why = "too long to be tokenized here" if is_long else "no tokenizer available: text without tokens"
        notes.append(as_sentence(f"{why}"))
    return pack_payload(
        {
            "state": "ok",
            "sentence": _size(prompt),
            "notes": notes,
            "text": None if prompt.tokens is not None else prompt.text[:MAX_TEXT],
            "hint": "",
            "place": None,
        }
    )


def probes_payload(answers: Sequence[ProbeAnswer], *, is_running: bool = False) -> str:
    """Return the table of what a template supports."""
    counts = Counter(one.support for one in answers)
    counted = joined(*(f"{counts[support]} {support}" for support in Support if counts[support]))
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": f"{count_of(len(answers), 'probe')}: {counted}." if answers else "",
            "hint": "",
            "probes": [
                {
                    "name": one.name,
                    "title": one.title,
                    "support": str(one.support),
                    "detail": one.detail,
                    "quote": one.quote,
                    "template_line": one.template_line,
                    "template_column": one.template_column,
                }
                for one in answers
            ],
        }
    )


def edit_error_payload(error: DebuggerError) -> str:
    """Return the line above the prompt when the template gives none: what happened, where, what to do."""
    return pack_payload(
        {
            "state": "error",
            "sentence": as_sentence(error.message),
            "notes": [],
            "text": None,
            "hint": error.hint,
            "place": place_of_error(error),
        }
    )


def _size(prompt: Prompt) -> str:
    if prompt.tokens is None:
        return count_of(len(prompt.text), "character")
    special = sum(token.kind is TokenKind.SPECIAL for token in prompt.tokens)
    return joined(count_of(len(prompt.tokens), "token"), f"{special:,} special")


def _edits(template: str, own: str) -> str:
    if template == own:
        return "This is the model's own template."
    old, new = Counter(own.split("\n")), Counter(template.split("\n"))
    changed = max((old - new).total(), (new - old).total())
    if not changed:
        return "Edited: the model's own lines in a different order."
    return f"Edited: {count_of(changed, 'line')} differ from the model's own."
