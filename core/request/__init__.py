"""1 · Pasted text → `Request`."""

from core.request.read import MAX_CHARS, body_text, read_request

__all__ = ["MAX_CHARS", "body_text", "read_request"]
