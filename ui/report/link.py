"""What a link carries: the request and the choices beside it. Never a key, never the address of a server."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.report import redact_text
from prompt_debugger.core.request import read_request
from prompt_debugger.ui.report.mask import mask_request

_HUB_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")  # what is not a Hub id may be a folder of this machine


def link_state(text: str, choices: JSONObject) -> tuple[JSONObject, tuple[str, ...]]:
    """Return what a link carries, and what is to be said about it.

    Of a command or a snippet only the body goes into a link: around it stand the server's address and the key.

    Args:
        text: The request as it stands in the editor.
        choices: `tool_parser`, `reasoning_parser`, `model`, `tokenizer`; empty ones are left out.

    Raises:
        RequestError: The request cannot be read, so nobody can tell what is secret in it.
    """
    request = read_request(text)
    masked = mask_request(request)
    notes: list[str] = []
    if request.source != "json":
        notes.append("The link contains only the request's body, not the command around it.")
    if masked.body != request.body:
        notes.append("What looks like a secret in the request is masked with •.")
    state: JSONObject = {"request": masked.text}
    for name, value in choices.items():
        if isinstance(value, str) and value and (name != "tokenizer" or _HUB_ID.fullmatch(value)):
            state[name] = redact_text(value)
    if choices.get("tokenizer") and "tokenizer" not in state:
        notes.append("The tokenizer is a folder on this machine, so the link does not include it.")
    return state, tuple(notes)
