"""What a shell, an interactive Python or a chat shows around a text → the text alone.

$ cat out.txt            >>> print(answer)            ann wrote:
…                        …                            │ …
$                        >>>                          │ …
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.json_values import as_list, as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.evidence.values.json_of import json_of

_SHOWN = re.compile(  # a command that prints one thing, and is none of interest itself
    r"(?:[ \t]{0,3}>>> (?:print\()?[A-Za-z_][\w.\[\]]{0,80}\)?"
    r"|[\w.~/@:()\\ -]{0,80}?[$#%❯>] (?:cat|type|head|tail|less|more|jq|bat) [\w./~\\ -]{1,120})[ \t]*"
)
_PROMPT = re.compile(r"(?:[ \t]{0,3}>>>|[\w.~/@:()\\ -]{0,80}?[$#%❯>])[ \t]*")

_NOTEBOOK = re.compile(r"(?m)^(?:(?P<typed>In ?\[[ \d]{1,5}\]: ?)|(?P<more> {1,8}\.\.\.: ?)|Out ?\[[ \d]{1,5}\]: ?\n?)")

_COLOUR = re.compile(r"\x1b\[[\d;]{0,20}m")

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


def notebook_as_session(text: str) -> str | None:
    """Return the cells of a notebook's file, one below the other, as a session of Python; `None` of any other text."""
    if '"nbformat"' not in text or '"cells"' not in text:
        return None
    cells = objects_in(as_object(json_of(text)).get("cells"))
    shown = [part for cell in cells for part in _of_cell(cell)]
    return "\n\n".join(shown) if shown else None


def lines_of_docker(text: str) -> str | None:
    r"""Return the lines that Docker keeps as JSON, `{"log": "…\n", "stream": "stdout", "time": "…"}`; else `None`."""
    if not text.lstrip().startswith('{"log":'):
        return None
    values = [as_object(json_of(line)) for line in text.splitlines() if line.strip()]
    logged = [one["log"] for one in values if isinstance(one.get("log"), str) and {"stream", "time"} <= one.keys()]
    return "".join(str(one) for one in logged) if len(logged) == len(values) else None


def _of_cell(cell: JSONObject) -> list[str]:
    """Return the source of a cell of code with prompts, and what it printed; of another cell its text."""
    source = _joined(cell.get("source"))
    if cell.get("cell_type") != "code":
        return [source] if source else []
    typed = "\n... ".join(source.split("\n"))
    return [f">>> {typed}", *(one for output in objects_in(cell.get("outputs")) if (one := _output(output)))]


def _output(output: JSONObject) -> str:
    plain = _joined(output.get("text", as_object(output.get("data")).get("text/plain")))
    return plain or _COLOUR.sub("", "\n".join(one for one in as_list(output.get("traceback")) if isinstance(one, str)))


def _joined(lines: JSON) -> str:
    return lines if isinstance(lines, str) else "".join(one for one in as_list(lines) if isinstance(one, str))


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
