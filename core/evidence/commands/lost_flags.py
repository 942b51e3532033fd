r"""Flags of a command that the shell never gives to it, as a line above them does not continue.

    vllm serve MODEL \\                vllm serve MODEL \\              vllm serve MODEL \\
      --enforce-eager                   # --enforce-eager \\            --enforce-eager \\(a blank)
      --tool-call-parser hermes         --tool-call-parser hermes       --tool-call-parser hermes

Nothing is said of a text whose other lines do not continue either: there, whoever copied it lost the marks.
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.commands.command_lines import PROGRAM

_CONTINUES = re.compile(r"\\\Z")
_SPOILT = re.compile(r"\\[ \t]+\Z")
_FLAG = re.compile(r"[ \t]*(--[A-Za-z][\w-]{1,60})(?![\w-])")
_MAX_LINES = 200
_MIN_CONTINUED = 2  # lines of the text


def find_lost_flags(text: str) -> tuple[str, ...]:
    """Return the names of the flags below the end of the first command that starts a server; none if all reach it."""
    program = PROGRAM.search(text)
    if program is None or "\\\n" not in text:
        return ()
    lines = [line.rstrip("\r") for line in text[program.start() :].split("\n", _MAX_LINES)[:_MAX_LINES]]
    above = text[: program.start()].split("\n")[:-1]
    if sum(_CONTINUES.search(line) is not None for line in (*above[-_MAX_LINES:], *lines)) < _MIN_CONTINUED:
        return ()
    for at, line in enumerate(lines):
        is_comment = at > 0 and line.lstrip().startswith("#")
        if _CONTINUES.search(line) is None or is_comment:
            is_spoilt = is_comment or _SPOILT.search(line) is not None
            return _names(lines[at + 1 :]) if at > 0 or is_spoilt or _FLAG.search(line) else ()
    return ()


def _names(lines: list[str]) -> tuple[str, ...]:
    names: list[str] = []
    for line in lines:
        found = _FLAG.match(line)
        if found is None and not line.lstrip().startswith("#"):
            break
        names += [] if found is None else [found[1]]
    return tuple(dict.fromkeys(names))
