"""Which messages break the order of roles that a template demands."""

from __future__ import annotations

import re
from itertools import pairwise

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON

_ALTERNATE = re.compile(r"\balternat", re.IGNORECASE)
_SYSTEM_FIRST = re.compile(r"system (?:message|prompt|role).{0,40}(?:begin|first|start)", re.IGNORECASE)
_MOST = 3


def broken_order(said: str, messages: JSON) -> str:
    """Return which messages a template's complaint about their order is about; "" if it is about something else.

    Args:
        said: What the template says.
        messages: The messages that it was given.

    >>> broken_order("Roles must alternate", [{"role": "user"}, {"role": "user"}])
    'messages[0] and messages[1] both have the role `user`.'
    """
    if not isinstance(messages, list):
        return ""
    roles = [as_object(message).get("role") for message in messages]
    if _SYSTEM_FIRST.search(said):
        late = [index for index, role in enumerate(roles) if index > 0 and role in ("system", "developer")]
        return "" if not late else f"messages[{late[0]}] has the role `{roles[late[0]]}` and is not the first message."
    if not _ALTERNATE.search(said):
        return ""
    pairs = [
        f"messages[{index}] and messages[{index + 1}] both have the role `{first}`"
        for index, (first, second) in enumerate(pairwise(roles))
        if first == second and first in ("user", "assistant")
    ]
    if pairs:
        return "; ".join(pairs[:_MOST]) + "."
    spoken = [(index, role) for index, role in enumerate(roles) if role not in ("system", "developer")]
    if spoken and spoken[0][1] in ("assistant", "tool", "function"):
        return f"messages[{spoken[0][0]}] is the first turn and has the role `{spoken[0][1]}`, not `user`."
    other = next((f"messages[{index}] has the role `{role}`." for index, role in spoken if role == "tool"), "")
    return other
