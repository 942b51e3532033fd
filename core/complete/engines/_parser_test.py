"""A failing test of a parser, written as the maintainers of a server software write theirs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.formats import CONTROL_TOKEN

_MARKER = re.compile(rf"{CONTROL_TOKEN.pattern}|\[[A-Z_]{{3,20}}\]|</?[a-z_:]*tool_calls?>|</?think>")


@dataclass(frozen=True, slots=True)
class ParserCase:
    """What a parser must make of an output.

    Attributes:
        parser: Name of the parser, in plain letters: it may be written into a program as it is.
        raw: The raw output, end tokens left out.
        tools: Tools of the request.
        calls: Name and arguments of every whole call of the output, arguments as JSON text.
        name: What the test is called, a name of a function.
        template: Chat template of the model, by which llama.cpp chooses its parser; "" if the run does not show it.
    """

    parser: str
    raw: str
    tools: tuple[JSONObject, ...]
    calls: tuple[tuple[str, str], ...]
    name: str
    template: str = ""

    @property
    def markers(self) -> tuple[str, ...]:
        """Markers in the output that a tokenizer would have as tokens."""
        return tuple(dict.fromkeys(_MARKER.findall(self.raw)))


@dataclass(frozen=True, slots=True)
class ParserTest:
    """How a test is written, and where it can be run.

    Attributes:
        write: Returns the source of a test, whose assertion shows what is wrong. The texts of a case are
            anyone's and the test is run at once: they are written as literals, as `python_text` does.
        not_run: First lines of the source, which say that it was not run; they are left out once it was.
        suffix: Of its file.
        package: Python package with which it runs, and which names the version; "" if it is only written here.
        source: Returns the file of a parser in the folder of a release's wheel, `None` if there is no such parser.
    """

    write: Callable[[ParserCase], str]
    not_run: str = ""
    suffix: str = "py"
    package: str = ""
    source: Callable[[Path, str], Path | None] | None = None


def write_python_test(template: str, case: ParserCase) -> str:
    """Return a test in Python: a template with `{parser}`, `{name}`, `{raw}`, `{tools}`, `{calls}` and `{markers}`."""
    return template.format(
        parser=case.parser,
        name=case.name,
        raw=python_text(case.raw),
        tools=python_tools(case.tools),
        calls=python_calls(case.calls),
        markers=python_texts(case.markers),
    )


def python_text(text: str) -> str:
    """Return a Python literal of a text, one line of it in each line."""
    lines = text.splitlines(keepends=True) or [""]
    return "(\n" + "".join(f"    {line!r}\n" for line in lines) + ")"


def python_texts(texts: Sequence[str]) -> str:
    """Return a Python literal of some texts."""
    return "[\n" + "".join(f"    {text!r},\n" for text in texts) + "]"


def python_tools(tools: Sequence[JSONObject]) -> str:
    """Return a Python literal of the JSON text of some tools."""
    return python_text(json.dumps(tools, ensure_ascii=False, indent=1))


def python_calls(calls: Sequence[tuple[str, str]]) -> str:
    """Return a Python list of calls, each its name and its arguments as a value; it needs `json` imported."""
    return "[\n" + "".join(f"    ({name!r}, json.loads({arguments!r})),\n" for name, arguments in calls) + "]"
