"""The forms in which something is pasted, and what was read of one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from prompt_debugger.core.base.types import ChatResult, JSONObject, Request, Trace


class Form(StrEnum):
    """What a pasted text is."""

    REQUEST = "request"
    OUTPUT = "raw output"
    ANSWER = "chat response"
    STREAM = "streamed response"
    EXCHANGE = "request and response"
    HAR = "HAR recording"
    LINES = "JSON lines"
    RUN = "saved run"


@dataclass(frozen=True, slots=True)
class Intake:
    """What was read of a pasted text.

    Attributes:
        form: What it was taken for.
        words: The same for a person: `a chat response, 1 tool call`.
        request: The request, where there is one.
        raw: The raw output, where there is one.
        finish_reason: The server's word on it.
        chat: The answer, where there is one.
        tools: Tools that stand beside a raw output.
        run: A whole run that was saved.
        row: Which line or recorded exchange was read, from 1; 0 where there is only one thing.
        rows: How many there are.
        notes: What was left out on the way, a sentence each.
    """

    form: Form
    words: str
    request: Request | None = None
    raw: str | None = None
    finish_reason: str | None = None
    chat: ChatResult | None = None
    tools: tuple[JSONObject, ...] = ()
    run: Trace | None = None
    row: int = 0
    rows: int = 0
    notes: tuple[str, ...] = ()

    @property
    def is_evidence(self) -> bool:
        """Whether it shows what a model or a server said: something to read, not to run."""
        return self.raw is not None or self.chat is not None or self.run is not None
