"""1 · Pasted text → `Request`."""

from prompt_debugger.core.request.read import MAX_CHARS, body_text, read_request

__all__ = ["MAX_CHARS", "body_text", "read_request"]
