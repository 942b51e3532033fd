"""A place in a run, as links and reports name it, and the run as a link can carry it."""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.types import Trace

# `prompt.t87` a token, `raw.c12-40` characters, `request.messages[1]` a field, `finding.PD401.1` a finding by number.
_PLACE = re.compile(
    r"(?:prompt|raw)\.t\d{1,9}|(?:prompt|raw)\.c\d{1,9}-\d{1,9}|(?:request|message)\.[^\s\"'<>`]{1,300}"
    r"|finding\.PD\d{3}\.\d{1,4}"
)


def known_place(place: str) -> str:
    """Return a place as it was named; "" if nothing is named so."""
    return place if _PLACE.fullmatch(place) else ""


def run_for_link(trace: Trace) -> Trace:
    """Return a run without what its pictures do not need: answers as received, events, second answers.

    What a reader sees of prompt, raw output, message, findings and verdict stays.
    """
    raw = None if trace.raw is None else replace(trace.raw, body="")
    chat = None if trace.chat is None else replace(trace.chat, body="", deltas=(), prompt_token_ids=None)
    parse = None if trace.parse is None else replace(trace.parse, parsers={}, stream_ledger=None)
    return replace(
        trace,
        local_prompt=None if trace.prompt is not None else trace.local_prompt,
        prompt_difference=None,
        raw=raw,
        raw_again=None,
        chat=chat,
        chat_stream=None,
        chat_whole=None,
        parse=parse,
    )
