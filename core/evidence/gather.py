"""Several texts that belong to one run → one `Evidence`: a request in one file, its answer in another, a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.base.types import Request
from prompt_debugger.core.evidence.evidence import Evidence, Part, merge
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.read import read_evidence

_ONCE = (Part.REQUEST, Part.PROMPT, Part.RAW, Part.MESSAGE, Part.ERROR)


def gather_evidence(
    texts: Sequence[str],
    wanted: Form | None = None,
    row: int = 1,
    *,
    request: str | Request | None = None,
    prompt: str | None = None,
) -> Evidence:
    """Read texts that are pieces of one run.

    Args:
        texts: At least one; of two that contain the same part, the first one counts.
        wanted: What to take each for; `None` looks.
        row: Which line, or which recorded exchange, from 1.
        request: What was asked, if it is not in the texts; it wins over theirs.
        prompt: The prompt that the model read; it wins over theirs.

    Raises:
        RequestError: One of them cannot be read.
    """
    read = [read_evidence(text, wanted, row) for text in texts]
    given: list[Evidence] = []
    if isinstance(request, Request):
        given.append(Evidence(Form.REQUEST, "a request", request=request))
    elif request is not None:
        given.append(read_evidence(request, Form.REQUEST))
    if prompt is not None:
        given.append(Evidence(Form.REQUEST, "a prompt", prompt=prompt))
    pieces = [*given, *read]
    if len(pieces) == 1:
        return pieces[0]
    whole = merge(pieces, _form_of(read, given), "; ".join(dict.fromkeys(piece.words for piece in pieces))[:300])
    return replace(whole, notes=(*whole.notes, *_note_repeats(read)))


def _form_of(read: Sequence[Evidence], given: Sequence[Evidence]) -> Form:
    forms = list(dict.fromkeys(piece.form for piece in read))
    if len(forms) == 1 and not any(piece.request is not None for piece in given):
        return forms[0]
    pieces = (*read, *given)
    has_request = any(piece.request is not None for piece in pieces)
    return Form.EXCHANGE if has_request and any(piece.is_evidence for piece in pieces) else forms[0]


def _note_repeats(pieces: Sequence[Evidence]) -> tuple[str, ...]:
    """Say which parts came more than once: one of each is read."""
    held = [part for piece in pieces for part in piece.holds if part in _ONCE]
    twice = dict.fromkeys(part for part in held if held.count(part) > 1)
    return tuple(
        f"{held.count(part)} of the texts contain the part `{part.value}`; the first one is used." for part in twice
    )
