"""How many tokens of a prompt each message, each tool and the template itself take."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSON, JSONObject, Prompt, Request, Trace
from prompt_debugger.core.base.types.tokens import columns_of
from prompt_debugger.ui.present.words import count_of, shortened

MAX_PARTS = 40
_OWNER = re.compile(r"(messages|tools)\[(\d{1,6})\]")
_MAX_LABEL = 60
_TEMPLATE = "template"
_UNKNOWN = "unknown"


@dataclass(slots=True)
class _Part:
    first: int
    tokens: int = 0


def token_costs(trace: Trace) -> JSONObject | None:
    """Return the parts of the prompt with their tokens, in the order in which they begin; `None` if they are not known.

    Each token is counted for the part that produced it, by the attribution of the tokens.
    """
    prompt = next((one for one in (trace.prompt, trace.local_prompt) if one is not None and _is_known(one)), None)
    if prompt is None or prompt.tokens is None:
        return None
    parts: dict[str, _Part] = {}
    for index, owner in enumerate(_owners(prompt)):
        part = parts.get(owner)
        if part is None:
            part = parts[owner] = _Part(index)
        part.tokens += 1
    total = len(prompt.tokens)
    largest = sorted(parts, key=lambda owner: -parts[owner].tokens)[:MAX_PARTS]
    shown: list[JSON] = [
        {
            "label": _label(owner, trace.request),
            "field": owner if _OWNER.fullmatch(owner) else None,
            "kind": owner.partition("[")[0] if _OWNER.fullmatch(owner) else owner,
            "first": part.first,
            "tokens": part.tokens,
        }
        for owner, part in parts.items()
        if owner in largest
    ]
    rest = total - sum(parts[owner].tokens for owner in largest)
    return {"total": total, "parts": shown, "rest": rest, "sentence": _sentence(parts, total)}


def _is_known(prompt: Prompt) -> bool:
    return bool(prompt.tokens) and any(owner != _UNKNOWN for owner in _owners(prompt))


def _owners(prompt: Prompt) -> Iterator[str]:
    """Yield what produced each token: `messages[0]`, `tools[1]`, `template` or `unknown`."""
    assert prompt.tokens is not None, "the caller has checked"
    columns = columns_of(prompt.tokens)
    known: dict[str, str] = {}
    for field, line in zip(columns.fields, columns.lines, strict=True):
        if field is None:
            yield _UNKNOWN if line is None else _TEMPLATE
            continue
        if field not in known:
            known[field] = _owner_of(field)
        yield known[field]


def _owner_of(field: str) -> str:
    found = _OWNER.match(field)
    return found.group() if found else field.partition("[")[0].partition(".")[0]


def _label(owner: str, request: Request) -> str:
    found = _OWNER.fullmatch(owner)
    if found is None:
        return {"tools": "around tools", "messages": "around messages"}.get(owner, owner)
    name, index = found[1], int(found[2])
    items = request.body.get(name)
    item = items[index] if isinstance(items, list) and index < len(items) else None
    if not isinstance(item, dict):
        return owner
    function = item.get("function")
    named = function.get("name") if name == "tools" and isinstance(function, dict) else item.get("role")
    return shortened(f"{named} {owner}" if isinstance(named, str) else owner, _MAX_LABEL)


def _sentence(parts: dict[str, _Part], total: int) -> str:
    """Return what messages, tools and the template cost."""
    sums = {"messages": 0, "tools": 0, _TEMPLATE: 0, "others": 0}
    for owner, part in parts.items():
        name = owner.partition("[")[0]
        sums[name if name in sums else "others"] += part.tokens
    named = [f"{name} {count:,} ({100 * count / total:.0f} %)" for name, count in sums.items() if count]
    return f"{count_of(total, 'token')}: {', '.join(named)}"
