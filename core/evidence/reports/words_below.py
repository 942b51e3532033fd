"""A model's output with what its agent said of it below, copied together out of the agent's window.

    <tool_call> … </tool_call>

    Model Response Incomplete
    The model failed to use any tools in its response. …

The words below are the agent's error, and no part of the output.
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.answers.read import read_answer
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.taking import add_answer, as_part
from prompt_debugger.core.known_errors import recognise_error

_PARAGRAPH = re.compile(r"\n[ \t]*\n(?=[ \t]*\S)")
_MAX_PARAGRAPHS = 60
_AGENTS = frozenset({"Cline or Roo Code", "Kilo Code", "Zed"})
_NOTE = "What the agent says below the output was read as its error."


def take_words_below(evidence: Evidence) -> Evidence:
    """Return evidence of an output alone without the agent's words below it, which become the error."""
    raw = evidence.raw
    if raw is None or evidence.form is not Form.OUTPUT or {*evidence.holds} != {Part.RAW}:
        return evidence
    for count, gap in enumerate(_PARAGRAPH.finditer(raw)):
        if count == _MAX_PARAGRAPHS:
            break
        end = _PARAGRAPH.search(raw, gap.end())
        words = raw[gap.end() : len(raw) if end is None else end.start()].strip()
        known = recognise_error(words)
        if known is not None and known.maker in _AGENTS and known.error.is_distinctive:
            return _as_content(evidence, raw[: gap.start()].rstrip(), Refusal(None, words, None))
    return evidence


def _as_content(evidence: Evidence, text: str, refusal: Refusal) -> Evidence:
    """Return what an agent shows of an answer, which is its content, with what it says of it."""
    bare = Evidence(Form.ANSWER, "an answer's content as an agent shows it", notes=(*evidence.notes, _NOTE))
    answer = as_part(read_answer({"role": "assistant", "content": text}))
    return replace(add_answer(bare, answer), error=refusal)
