"""What a shell or an interactive Python printed → the output alone, without the prompts around it.

$ cat out.txt            >>> print(answer)
…                        …
$                        >>>
"""

from __future__ import annotations

import re

_SHOWN = re.compile(  # a command that prints one thing, and is none of interest itself
    r"(?:[ \t]{0,3}>>> (?:print\()?[A-Za-z_][\w.\[\]]{0,80}\)?"
    r"|[\w.~/@:()\\ -]{0,80}?[$#%❯>] (?:cat|type|head|tail|less|more|jq|bat) [\w./~\\ -]{1,120})[ \t]*"
)
_PROMPT = re.compile(r"(?:[ \t]{0,3}>>>|[\w.~/@:()\\ -]{0,80}?[$#%❯>])[ \t]*")


def output_of_command(text: str) -> str | None:
    """Return what a command that prints one thing printed before the next prompt; `None` if there is more."""
    first, _, rest = text.partition("\n")
    last = rest.rstrip().rpartition("\n")[2]
    if _SHOWN.fullmatch(first) is None or _PROMPT.fullmatch(last) is None:
        return None
    is_python = first.lstrip().startswith(">>>")
    inner = rest.rstrip().removesuffix(last).strip("\n")
    if is_python != last.lstrip().startswith(">>>") or "\n>>> " in f"\n{inner}":
        return None
    return inner if inner.strip() else None
