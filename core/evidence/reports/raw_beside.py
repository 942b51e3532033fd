"""A raw output that a person labels, given together with an answer: it shows what the answer lost.

    raw: [{"name": "get_time", "arguments": {}}]        Model output:
                                                        <tool_call>…</tool_call>
    data: {"choices": [{"delta": …

Nothing says that both are of one run: they must share words, and a note says that it is assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.diagnose.one_of_several import is_note_of_several
from prompt_debugger.core.evidence.copying.gap_signs import has_gap
from prompt_debugger.core.evidence.copying.gaps import GAP_NOTE
from prompt_debugger.core.evidence.evidence import Evidence, Part
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import recognise
from prompt_debugger.core.evidence.reports.leads import is_of_other
from prompt_debugger.core.evidence.reports.one_run import of_one_run
from prompt_debugger.core.evidence.reports.shown import is_placeholder
from prompt_debugger.core.evidence.taking import is_cut

_LABEL = re.compile(
    r"(?im)^[ \t]{0,8}(?:[#>*-]{1,6}[ \t]{1,4})?[*`]{0,3}"
    r"(?:raw|(?:raw )?(?:model|llm|assistant)(?:'s)?(?: raw)? (?:output|text|generation|completion)"
    r"|raw (?:output|text|generation|completion)|(?:the )?model (?:wrote|writes|generated|generates))"
    r"(?: \([^()\n]{1,40}\))?[*`]{0,3}[ \t]{0,4}[:\uff1a][*`]{0,3}[ \t]{0,4}(?P<text>[^\n]*)$"
)
_FENCE = re.compile(r"\s{0,9}```\w{0,20}[ \t]*\n(?P<text>[^`]{1,20000})\n[ \t]{0,8}```")
_LINES = re.compile(r"\s{0,9}(?P<text>[^\n]+(?:\n[ \t]*[^\s][^\n]*)*)")
_SIGN = re.compile(r"\.{3}|\u2026")  # of something left out, where a person copied an output
_MAX_CHARS = 100_000
_NOTE = "The raw output was taken from its label in the text; it is assumed to come from the same run as the answer."


def add_raw_beside(evidence: Evidence, text: str) -> Evidence:
    """Return evidence of one whole answer with the raw output that its text labels, if there is exactly one.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    if not _may_take_one(evidence) or len(text) > _MAX_CHARS:
        return evidence
    found = [raw for raw in _labelled(text) if recognise(raw) is Form.OUTPUT]
    if len(found) != 1 or _SIGN.search(found[0]) or is_placeholder(found[0]) or has_gap(text):
        return evidence
    raw = Evidence(Form.OUTPUT, "a raw output", raw=found[0])
    if len(of_one_run([evidence, raw])) < 2:
        return evidence
    return replace(
        evidence,
        words=f"{evidence.words}; a raw output of {len(found[0]):,} characters",
        raw=found[0],
        is_assumed_run=True,
        notes=(*evidence.notes, _NOTE),
    )


def _may_take_one(evidence: Evidence) -> bool:
    """Return whether evidence is one whole answer without a raw output and without an error."""
    held = {*evidence.holds}
    is_answer = Part.MESSAGE in held and not held & {Part.RAW, Part.IDS, Part.ERROR} and evidence.run is None
    is_one = not evidence.others and not any(map(is_note_of_several, evidence.notes))
    return is_answer and is_one and GAP_NOTE not in evidence.notes and not is_cut(evidence)


def _labelled(text: str) -> Iterator[str]:
    """Yield what follows a label on its line, or below it in a fence or in lines without a gap."""
    for label in _LABEL.finditer(text):
        before = text[: label.start()].rstrip().rpartition("\n")[2].strip()
        if before.endswith(":") and is_of_other(before):
            continue
        inline = label["text"].strip().strip("`")
        if inline:
            yield inline
            continue
        below = _FENCE.match(text, label.end()) or _LINES.match(text, label.end())
        if below is not None:
            yield below["text"].strip()
