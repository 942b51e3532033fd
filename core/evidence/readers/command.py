"""The command that started a server: its flags say which parsers read the answers, and which template made the prompt.

`core.evidence.commands` knows where a command can be, and what its flags mean.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.diagnose.one_of_several import note_of_several
from prompt_debugger.core.evidence.commands.command_lines import (
    PROGRAM_WORDS,
    find_commands,
    find_parser_command,
    names_server,
)
from prompt_debugger.core.evidence.commands.flags import flags_of, server_of, shown_flags
from prompt_debugger.core.evidence.commands.lost_flags import find_lost_flags
from prompt_debugger.core.evidence.errors.unknown import error_by_meaning
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.base import Paste, Reader
from prompt_debugger.core.known_errors import classes_of

_OTHER = re.compile(r"(?m)^[ \t]*(?:import |from [\w.]+ import )|\.create\(|(?:^|\s)curl\s(?![^\n]{0,200}/health)")
# What a program says of its arguments, on a line of its own.
_ERROR = re.compile(r"(?m)^(?:[\w./-]{1,60}: )?(?P<words>error: [^\n]{6,400})$", re.IGNORECASE)
_MAX_LINES = 8
_MAX_AROUND = 4_000  # characters that show whose option it is


def _finds(paste: Paste) -> float:
    if (
        paste.value is not None
        or not has_any(paste.text, (*PROGRAM_WORDS, "--enable-auto-tool-choice"))
        or not names_server(paste.text)
        or _OTHER.search(paste.text[:20_000])
    ):
        return 0.0
    return 0.85 if find_commands(paste.text) else 0.0


def _read(paste: Paste) -> Evidence:
    commands = find_commands(paste.text)
    if not commands:
        raise RequestError("The text has no command that starts a server.", "Paste `vllm serve …` with its flags.")
    command = find_parser_command(commands, paste.text)
    flags = flags_of(command.kind, command.words)
    started = server_of(command.kind, flags, command.version)
    more = (note_of_several(len(commands), "command"),) if len(commands) > 1 else ()
    shown = shown_flags(flags)
    words = f"a command that starts {title_of(command.kind)}" + (f" with {shown}" if shown else "")
    server = replace(started.server, lost_flags=find_lost_flags(paste.text) if len(commands) == 1 else ())
    evidence = Evidence(Form.COMMAND, words, server=server, notes=(*started.notes, *more))
    refusal = _printed_below(paste.text)
    return evidence if refusal is None else replace(evidence, words=f"{words}; an error", error=refusal)


def _printed_below(text: str) -> Refusal | None:
    """Return the error that the command itself printed below it, where a person copied both from a terminal."""
    for line in islice(_ERROR.finditer(text), _MAX_LINES):
        found = error_by_meaning(line["words"], text)
        if found is not None and next(classes_of(line["words"], text), None) is not None:
            return replace(found.refusal, around=text[-_MAX_AROUND:])
    return None


READER = Reader(Form.COMMAND, _finds, _read)
