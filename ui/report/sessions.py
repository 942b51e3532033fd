"""Sessions as a picture: a bar per turn, what was kept, what was recomputed, what is new."""

from __future__ import annotations

from html import escape

from prompt_debugger.core.base.json_values import as_count, as_object, objects_in
from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject

_WIDTH, _LABEL, _ROW = 900, 60, 22
_MAX_TURNS = 400
_PARTS = (("kept", "#4c9a6a"), ("recomputed", "#d1495b"), ("new", "#9aa5b1"))


def sessions_to_svg(document: JSONObject) -> str:
    """Return the picture; every number is next to its bar, so nothing is said by length or colour alone."""
    sessions = objects_in(document["sessions"])
    counts = [as_count(turn["prompt_tokens"]) or 0 for one in sessions for turn in objects_in(one["turns"])]
    scale = (_WIDTH - _LABEL - 300) / max(1, *counts)
    lines: list[str] = []
    for session in sessions:
        title = f"Session {session['id']} {session['model'] or ''}: {session['recomputed_tokens']} {session['unit']}s"
        lines.append(_text(0, len(lines), f"{title} recomputed"))
        for number, turn in enumerate(objects_in(session["turns"])[:_MAX_TURNS], 1):
            lines.append(_bar(len(lines), number, turn, scale))
    legend = "".join(
        f'<rect x="{_LABEL + 120 * place}" y="4" width="12" height="12" fill="{colour}"/>'
        f'<text x="{_LABEL + 120 * place + 18}" y="15">{name}</text>'
        for place, (name, colour) in enumerate(_PARTS)
    )
    height = _ROW * (len(lines) + 1) + 8
    style = "<style>text{font:13px sans-serif;fill:#222}rect.back{fill:#fff}</style>"
    back = f'<rect class="back" width="{_WIDTH}" height="{height}"/>'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">'
    return f"{head}{style}{back}{legend}{''.join(lines)}</svg>\n"


def _bar(row: int, number: int, turn: JSONObject, scale: float) -> str:
    count, kept, again = (as_count(turn[name]) or 0 for name in ("prompt_tokens", "kept_tokens", "recomputed_tokens"))
    x, made = float(_LABEL), [_text(0, row, str(number))]
    for (_, colour), size in zip(_PARTS, (kept, again, max(0, count - kept - again)), strict=True):
        top = _ROW * (row + 1) + 4
        made.append(f'<rect x="{x:.1f}" y="{top}" width="{size * scale:.1f}" height="{_ROW - 6}" fill="{colour}"/>')
        x += size * scale
    field = as_object(turn["break"]).get("field")
    why = f", breaks at {field}" if field else ""
    return "".join((*made, _text(x + 6, row, f"{kept} + {again} of {count}{why}")))


def _text(x: float, row: int, text: str) -> str:
    return f'<text x="{x:.1f}" y="{_ROW * (row + 1) + 17}">{escape(printable(text[:80]))}</text>'
