"""A call in GLM's tags without the tag that opens its first key: name and key run together.

<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Span

PROBLEM = "the tag `<arg_key>` before its first key is missing, so its name and that key run together"
_GLUED = re.compile(r"<tool_call>\s{0,8}([A-Za-z_][\w.\- ]{0,120})</arg_key>\s{0,8}<arg_value>")
_END = "</tool_call>"


def glued_call(text: str) -> tuple[str, Span] | None:
    """Return what is in place of the name of the first such call, and where the call is.

    >>> glued_call("<tool_call>run_shellcommand</arg_key><arg_value>ls</arg_value></tool_call>")[0]
    'run_shellcommand'
    >>> glued_call("<tool_call>run_shell<arg_key>command</arg_key><arg_value>ls</arg_value></tool_call>")
    """
    found = _GLUED.search(text)
    if found is None:
        return None
    end = text.find(_END, found.end())
    return found[1], Span(found.start(), len(text) if end < 0 else end + len(_END))
