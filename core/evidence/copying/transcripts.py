"""What a shell, an interactive Python or a chat shows around a text → the text alone.

$ cat out.txt            >>> print(answer)            ann wrote:
…                        …                            │ …
$                        >>>                          │ …
"""

from __future__ import annotations

import re

_SHOWN = re.compile(  # a command that prints one thing, and is none of interest itself
    r"(?:[ \t]{0,3}>>> (?:print\()?[A-Za-z_][\w.\[\]]{0,80}\)?"
    r"|[\w.~/@:()\\ -]{0,80}?[$#%❯>] (?:cat|type|head|tail|less|more|jq|bat) [\w./~\\ -]{1,120})[ \t]*"
)
_PROMPT = re.compile(r"(?:[ \t]{0,3}>>>|[\w.~/@:()\\ -]{0,80}?[$#%❯>])[ \t]*")

_NOTEBOOK = re.compile(r"(?m)^(?:(?P<typed>In ?\[[ \d]{1,5}\]: ?)|(?P<more> {1,8}\.\.\.: ?)|Out ?\[[ \d]{1,5}\]: ?\n?)")

_BARS = "\u2502\u2503\xbb|"
_MIN_BARRED = 2  # lines


def as_prompts(text: str) -> str | None:
    r"""Return a session of IPython or of a notebook with the prompts of Python; `None` of any other text.

    >>> as_prompts("In [1]: f(\n   ...: 2)\nOut[1]: 4")
    '>>> f(\n... 2)\n4'
    """
    if _NOTEBOOK.search(text) is None:
        return None
    return _NOTEBOOK.sub(lambda found: ">>> " if found["typed"] else "... " if found["more"] else "", text)


def drop_bars(text: str) -> str | None:
    """Return what a chat quotes below who said it, without the bar before each line; `None` of anything else."""
    lead, _, quoted = text.strip("\n").partition("\n")
    bar = quoted[:1]
    if not lead.rstrip().endswith(":") or bar not in _BARS or not bar or lead.startswith(bar):
        return None
    lines = quoted.split("\n")
    filled = [line for line in lines if line.strip()]
    if len(filled) < _MIN_BARRED or not all(line.startswith(bar) for line in filled):
        return None
    if any(len(line.rstrip()) > 1 and line.rstrip().endswith(bar) for line in filled):
        return None  # a table, or a box
    return "\n".join([lead, *(line.removeprefix(bar).removeprefix(" ") for line in lines)])


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
