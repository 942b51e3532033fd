"""Beside the prompt's tokens: the template with the lines that ran, and the first difference."""

from __future__ import annotations

from difflib import SequenceMatcher

from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, Branch, KwargSource, Prompt, PromptDifference, TemplateKwarg, Trace
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.token_costs import token_costs
from prompt_debugger.ui.present.words import as_sentence, count_of, joined, shortened

MAX_TEMPLATE_LINES = 4_000
_AGREEMENT_CHARS = 6


def template_payload(prompt: Prompt | None) -> str | None:
    """Return the payload of the template view; `None` if the template is not known."""
    if prompt is None or prompt.template is None:
        return None
    lines = prompt.template.split("\n")
    ran = sorted({span.template_line for span in prompt.spans if span.template_line is not None})
    left_out = len(lines) - MAX_TEMPLATE_LINES
    caption = joined(
        "Template",
        count_of(len(lines), "line"),
        f"{len(ran):,} wrote this prompt" if ran else None,
        f"the last {left_out:,} are left out" if left_out > 0 else None,
    )
    shown: list[JSON] = [shortened(line, 2_000) for line in lines[:MAX_TEMPLATE_LINES]]
    return pack_payload(
        {
            "lines": shown,
            "ran": [*ran],
            "caption": caption,
            "branches": [_branch(branch) for branch in prompt.branches if not branch.kind.startswith("inline-")],
            "kwargs": [_kwarg(kwarg) for kwarg in prompt.kwargs],
        }
    )


def _branch(branch: Branch) -> JSON:
    return {
        "line": branch.line,
        "column": branch.column,
        "end_line": branch.end_line,
        "kind": branch.kind,
        "expression": shortened(branch.expression, 200),
        "runs": branch.runs,
        "skips": branch.skips,
    }


def _kwarg(kwarg: TemplateKwarg) -> JSON:
    return {"name": kwarg.name, "value": kwarg.value, "source": _source_words(kwarg), "read": kwarg.read}


def _source_words(kwarg: TemplateKwarg) -> str:
    words = {
        KwargSource.DEFAULT: "default",
        KwargSource.TOKENIZER: "tokenizer",
        KwargSource.SERVER_DEFAULT: "server default",
        KwargSource.REQUEST: f"request, {kwarg.field}",
        KwargSource.TOP_LEVEL: f"request, {kwarg.field}",
    }[kwarg.source]
    if kwarg.reaches_template:
        return words
    return f"{words}; only for the parser" if kwarg.reaches_parser else f"{words}; has no effect"


def difference_payload(trace: Trace) -> str | None:
    """Return the line above the tokens: do server and local render agree? `None` while there is no prompt at all."""
    server, local = trace.prompt, trace.local_prompt
    if server is None and local is None:
        return None
    difference = trace.prompt_difference
    cause = None if difference is None else difference.cause
    is_over = trace.verdict is not None or trace.chat is not None  # else it may still come, or was stopped before
    state, sentence = _sentence(server, local, difference, is_over=is_over)
    return pack_payload(
        {
            "state": state,
            "sentence": sentence,
            "first_token": None if difference is None else difference.first_token,
            "cause": None if cause is None else as_sentence(cause),
            "texts": [] if difference is None else _texts(difference),
            "notes": _notes(server, local, is_explained=cause is not None),
            "costs": token_costs(trace),
        }
    )


def _sentence(
    server: Prompt | None, local: Prompt | None, difference: PromptDifference | None, *, is_over: bool
) -> tuple[str, str]:
    if difference is not None:
        return "differs", f"Server and local render diverge at token {difference.first_token:,}."
    if server is None or server.source == "local":
        why = "the server does not report the prompt it used" if is_over else "no server has reported its prompt"
        return "unknown", f"This is the local render: {why}."
    if local is None:
        return "unknown", "This is the server's prompt; there is no local render to compare it with."
    size = (
        count_of(len(server.tokens), "token") if server.tokens is not None else count_of(len(server.text), "character")
    )
    return "equal", f"Server and local render are the same {size}."


def _texts(difference: PromptDifference) -> list[JSON]:
    """Return both texts around the first difference, each as [before, apart, after]."""
    server, local = difference.server, difference.local
    start = first_divergence(server, local)
    start = len(server) if start is None else start
    # `apart` ends where the two agree again for a while; the excerpts themselves are short.
    again = SequenceMatcher(None, server[start:], local[start:], autojunk=False).find_longest_match()
    stops = (len(server), len(local))
    if again.size >= _AGREEMENT_CHARS:
        stops = (start + again.a, start + again.b)
    return [
        ["server", [server[:start], server[start : stops[0]], server[stops[0] :]]],
        ["local", [local[:start], local[start : stops[1]], local[stops[1] :]]],
    ]


def _notes(server: Prompt | None, local: Prompt | None, *, is_explained: bool) -> list[JSON]:
    notes: list[JSON] = []
    shown = server or local
    if shown is not None and shown.note and not is_explained:
        notes.append(shown.note)
    if local is not None and local.unread:
        notes.append("Never read by the template: " + ", ".join(local.unread))
    if local is not None and not local.identical:
        notes.append("Origins are unknown here: the traced render differed from the plain one.")
    return notes
