"""Answers to orders of the page, each with a number: one that equals the last would not be noticed."""

from __future__ import annotations

import itertools

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.ui.present import pack_payload


class NumberedAnswers:
    """Packs the answers of one kind of orders."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)

    def answer(self, header: JSONObject, data: bytes | str = b"") -> str:
        """Return the payload of an answer: a header, and a text or a file."""
        packed = data.encode("utf-8", "replace") if isinstance(data, str) else data
        return pack_payload({**header, "number": next(self._numbers)}, packed)

    def failure(self, error: DebuggerError) -> str:
        """Return the payload that says why an order could not be carried out."""
        return self.answer({"kind": "failure", "sentence": error.message, "hint": error.hint})
