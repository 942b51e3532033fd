"""What copying does to a text: cut, quoted, wrapped, numbered, coloured, retyped, elided, put among other words.

Each mutation is a function of a text and a source of chance; the same source gives the same text. `LOSES` names those
after which something of the text is missing, and a call may break off.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Mapping
from random import Random

Mutation = Callable[[str, Random], str]

_COLOURS = ("\x1b[31m", "\x1b[1;32m", "\x1b[0m", "\x1b[38;5;208m")
_GAPS = ("...", "…", "<snip>", "[...]", "(truncated)")
_GAP_LINES = (*_GAPS, "// ...", "# ...")
_SENTENCES = {
    "English": ("Hello, since the update this comes back:", "Has anybody seen this? It worked last week."),
    "German": ("Hallo zusammen, seit dem Update bekomme ich das hier zurück:", "Weiß jemand, woran das liegen kann?"),
    "Chinese": ("你好,升级之后返回的内容是这样的:", "请问这是什么原因?谢谢。"),
}
_PREFIXES = (
    "2026-03-01T10:00:00.123Z ", "app-1  | ", "[pod/vllm-0/server] ", "Mar  3 10:00:01 host vllm[12]: ",
    "2026-03-01 10:00:00 | ", "(EngineCore pid=44) ", "[2026-03-01 10:00:00] ", "10:00:00.123 ",
)  # fmt: skip


def _lines(text: str, change: Callable[[int, str], str]) -> str:
    return "\n".join(change(number, line) for number, line in enumerate(text.split("\n"), 1))


def _place(text: str, chance: Random) -> int:
    return chance.randrange(1, len(text)) if len(text) > 1 else 0


def cut_end(text: str, chance: Random) -> str:
    """Leave the end out."""
    return text[: _place(text, chance)]


def cut_head(text: str, chance: Random) -> str:
    """Leave the beginning out."""
    return text[_place(text, chance) :]


def cut_both(text: str, chance: Random) -> str:
    """Leave beginning and end out."""
    return cut_end(cut_head(text, chance), chance)


def cut_lines(text: str, chance: Random) -> str:
    """Keep some lines that follow one another."""
    lines = text.split("\n")
    start = chance.randrange(len(lines))
    return "\n".join(lines[start : chance.randrange(start, len(lines)) + 1])


def elide(text: str, chance: Random) -> str:
    """Put a sign in place of a piece."""
    start = _place(text, chance)
    stop = min(len(text), start + chance.randrange(1, max(2, len(text) // 3)))
    return f"{text[:start]}{chance.choice(_GAPS)}{text[stop:]}"


def elide_lines(text: str, chance: Random) -> str:
    """Put a line with a sign in place of some lines."""
    lines = text.split("\n")
    start = chance.randrange(len(lines))
    stop = chance.randrange(start, len(lines)) + 1
    return "\n".join([*lines[:start], chance.choice(_GAP_LINES), *lines[stop:]])


def columns(text: str, chance: Random) -> str:
    """Keep so much of each line as a terminal is wide."""
    width = chance.choice((80, 80, 120))
    return _lines(text, lambda _, line: line[:width])


def first_line(text: str, _chance: Random) -> str:
    """Leave the first line out."""
    return text.partition("\n")[2]


def last_line(text: str, _chance: Random) -> str:
    """Leave the last line out."""
    return text.rpartition("\n")[0]


def quote(text: str, chance: Random) -> str:
    """Quote each line, as mails and trackers do."""
    mark = chance.choice(("> ", ">", "> > ", "  > "))
    return _lines(text, lambda _, line: f"{mark}{line}")


def fence(text: str, chance: Random) -> str:
    """Put a fence around it."""
    mark, language = chance.choice(("```", "~~~", "````")), chance.choice(("", "json", "text", "bash", "python", "log"))
    return f"{mark}{language}\n{text}\n{mark}"


def list_item(text: str, chance: Random) -> str:
    """Put it below an item of a list, as Markdown indents it."""
    inner = fence(text, chance).replace("\n", "\n   ")
    return f"1. I start the server.\n2. It says:\n   {inner}\n3. I stop it."


def table(text: str, _chance: Random) -> str:
    """Put it into the cell of a table, on one line."""
    cell = text.replace("\n", "<br>").replace("|", "\\|")
    return f"| version | output |\n| --- | --- |\n| 0.11 | {cell} |"


def details(text: str, chance: Random) -> str:
    """Fold it, as trackers do with long logs."""
    return f"<details>\n<summary>Output</summary>\n\n{fence(text, chance)}\n\n</details>"


def shell(text: str, chance: Random) -> str:
    """Put it below a command, with prompts around it."""
    prompt = chance.choice(("$ ", "user@host:~$ ", "root@host:/app# ", "(venv) ~ % ", "❯ ", "PS C:\\> "))
    return f"{prompt}cat out.txt\n{text}\n{prompt}"


def continuation(text: str, _chance: Random) -> str:
    """Type it at a shell that goes on with `>`."""
    first, *rest = text.split("\n")
    return "\n".join([f"$ {first}", *(f"> {line}" for line in rest)])


def repl(text: str, _chance: Random) -> str:
    """Print it in an interactive session of Python."""
    return f">>> print(answer)\n{text}\n>>> "


def number(text: str, chance: Random) -> str:
    """Put a number before each line."""
    shape = chance.choice(("{:4} | {}", "{}: {}", "{:6}\t{}", "{:>3}│{}", "{:>4}  {}", "{}|{}"))
    first = chance.choice((1, 1, 97))
    return _lines(text, lambda at, line: shape.format(at + first - 1, line))


def colour(text: str, chance: Random) -> str:
    """Colour words, as terminals do."""
    return _lines(text, lambda _, line: f"{chance.choice(_COLOURS)}{line}\x1b[0m")


def prefix(text: str, chance: Random) -> str:
    """Put a time, a container or a process before each line."""
    mark = chance.choice(_PREFIXES)
    return _lines(text, lambda _, line: f"{mark}{line}")


def diff(text: str, chance: Random) -> str:
    """Mark lines as added, or some as context."""
    mark = chance.choice(("+", "-"))
    return _lines(text, lambda _, line: f"{mark}{line}")


def indent(text: str, chance: Random) -> str:
    """Indent every line."""
    mark = chance.choice(("    ", "\t", "  ", "\t\t"))
    return _lines(text, lambda _, line: f"{mark}{line}")


def tabs(text: str, _chance: Random) -> str:
    """Put tabs in place of the blanks that begin lines, as editors do."""
    return re.sub(r"(?m)^(?:  )+", lambda found: "\t" * (len(found[0]) // 2), text)


def chat_quote(text: str, chance: Random) -> str:
    """Quote each line below who said it, as clients of chats do."""
    mark = chance.choice(("│ ", "» ", "| ", "┃ "))
    return f"ann wrote:\n{_lines(text, lambda _, line: f'{mark}{line}')}"


def line_ends(text: str, _chance: Random) -> str:
    """End lines as Windows does."""
    return text.replace("\n", "\r\n")


def byte_order_mark(text: str, _chance: Random) -> str:
    """Put a byte order mark before it."""
    return f"\ufeff{text}"


def no_break_spaces(text: str, _chance: Random) -> str:
    """Put no-break spaces in place of blanks."""
    return text.replace(" ", "\u00a0")


def smart_quotes(text: str, chance: Random) -> str:
    """Make quotes typographic, as word processors and chats do."""
    if chance.random() < 0.5:
        return text.replace('"', "\u201d").replace("'", "\u2019")
    opened = re.sub(r'(^|[\s\[({:,])"', "\\1\u201c", text)
    return re.sub(r"(^|[\s\[({:,])'", "\\1\u2018", opened).replace('"', "\u201d").replace("'", "\u2019")


def entities(text: str, _chance: Random) -> str:
    """Escape it for HTML."""
    return html.escape(text)


def string(text: str, _chance: Random) -> str:
    """Make it a string of JSON, as logs and notebooks do."""
    return json.dumps(text)


def escaped_quotes(text: str, _chance: Random) -> str:
    """Escape quotes and line feeds once more, without quotes around it."""
    return json.dumps(text)[1:-1]


def trailing_commas(text: str, _chance: Random) -> str:
    """Put commas before closing brackets that end a line or stand alone on it."""
    return re.sub(r"(?m)([\"\d}\]el])(\s*\n\s*[}\]])", r"\1,\2", text)


def single_quotes(text: str, _chance: Random) -> str:
    """Print JSON as Python does."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return repr(value) if isinstance(value, dict | list) else text


def wrap(text: str, chance: Random) -> str:
    """Break long lines, as terminals do."""
    width = chance.choice((72, 80, 100))
    return _lines(text, lambda _, line: "\n".join(line[at : at + width] for at in range(0, max(len(line), 1), width)))


def prose(text: str, chance: Random) -> str:
    """Put sentences around it."""
    before, after = chance.choice(list(_SENTENCES.values()))
    return f"{before}\n\n{text}\n\n{after}"


def form(text: str, chance: Random) -> str:
    """Fill in the form of a tracker."""
    return (
        "### Your current environment\n\n```text\nOS: Ubuntu 22.04\nPython version: 3.12\nGPU models: A100\n```\n\n"
        f"### 🐛 Describe the bug\n\nThe answer is wrong:\n\n{fence(text, chance)}\n\n"
        "### Before submitting a new issue...\n\n- [x] I searched the issues.\n"
    )


def chat(text: str, _chance: Random) -> str:
    """Put it into a conversation of two people."""
    return f"ann  10:02 AM\nlook what comes back\n\n{text}\n\nbob  10:05 AM\nwhich version?\n"


def same(text: str, _chance: Random) -> str:
    """Leave it as it is."""
    return text


KEEPS: Mapping[str, Mutation] = {
    one.__name__: one
    for one in (
        quote, chat_quote, tabs, fence, list_item, table, details, shell, continuation, repl, number, colour, prefix,
        diff, indent, line_ends, byte_order_mark, no_break_spaces, smart_quotes, entities, string, escaped_quotes,
        trailing_commas, single_quotes, wrap, prose, form, chat, same,
    )
}  # fmt: skip
LOSES: Mapping[str, Mutation] = {
    one.__name__: one for one in (
        cut_end, cut_head, cut_both, cut_lines, elide, elide_lines, columns, first_line, last_line,
    )
}  # fmt: skip


_FENCES = ("fence", "list_item", "details", "form")


def mutate(text: str, chance: Random) -> tuple[str, str]:
    """Return a text after one to three mutations, and their names in order: what loses something comes first."""
    names: list[str] = []
    if chance.random() < 0.6:
        names.append(chance.choice(list(LOSES)))
    kept = chance.sample(list(KEEPS), chance.choice((0, 1, 1, 2)) if names else chance.choice((1, 1, 2)))
    names += [name for name in kept if name not in _FENCES or kept.index(name) == 0]  # no fence within a fence
    for name in names:
        text = (LOSES.get(name) or KEEPS[name])(text, chance)
    return text, ", ".join(names)
