"""What a template says when it refuses a request, explained by the tables of known sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSONObject, Request
from prompt_debugger.core.diagnose.refusals.fields import spots_of
from prompt_debugger.core.known_errors import Look, recognise_error

_NAMED_ALREADY = (Look.ROLES_ALTERNATE, Look.SYSTEM_NOT_FIRST)  # by `core.render`, of any template's words


@contextmanager
def explained_for(body: JSONObject) -> Iterator[None]:
    """Add to a template's refusal which places of the request it is about, and what helps, where its words are known.

    Raises:
        RenderError: As it came, with a fuller hint.
    """
    try:
        yield
    except RenderError as error:
        known = recognise_error(error.message)
        if known is not None:
            look = None if known.error.look in _NAMED_ALREADY else known.error.look
            spots = spots_of(Request(body, ""), look, known.parts)
            error.hint = " ".join([*(spot.says for spot in spots), known.error.remedy, error.hint]).strip()
        raise
