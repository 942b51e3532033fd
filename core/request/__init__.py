"""1 · Pasted text → `Request`."""

from prompt_debugger.core.request.other_bodies import convert_as, convert_body, place_in
from prompt_debugger.core.request.read import MAX_CHARS, body_text, make_request, read_draft, read_request
from prompt_debugger.core.request.to_other_apis import to_api

__all__ = [
    "MAX_CHARS",
    "body_text",
    "convert_as",
    "convert_body",
    "make_request",
    "place_in",
    "read_draft",
    "read_request",
    "to_api",
]
