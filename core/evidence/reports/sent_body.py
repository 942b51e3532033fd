"""The body of a command that is no JSON, beside the error of the server that could not read it.

curl … -d '{"messages": [{"content": "a"}}]}'            breaks off at one place
parse error at line 1, column 29: …                       which the server's decoder names
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.attempt import Read, try_read
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.reports.blocks import BlockKind
from prompt_debugger.core.evidence.reports.split import split

_PLACE = re.compile(r"\bline 1,? column (\d{1,7})\b")
_MAX_COMMANDS = 3
_MAX_APART = 1  # decoders count from 0 or 1, and name a sign or the one after it


def fault_of_sent_body(whole: Evidence, text: str, read: Read) -> RequestError | None:
    """Return what is wrong with the body of a command, where the error of a decoder is about the same place in it.

    Args:
        whole: What the text was read as.
        text: The whole text.
        read: Reads a text that is one thing.
    """
    named = None if whole.form is not Form.ERROR or whole.error is None else _PLACE.search(whole.error.message)
    if named is None:
        return None
    kinds = (BlockKind.FENCED, BlockKind.COMMAND)
    commands = [one.text for one in split(text) if one.kind in kinds and "curl" in one.text and "{" in one.text]
    for command in commands[:_MAX_COMMANDS]:
        failure = try_read(command, 1, read)[1]
        if failure is None or failure.column is None or failure.line != 1:
            continue
        if abs(failure.column - command.index("{") - int(named[1])) <= _MAX_APART:
            said = (
                f"The server's error names the same place of the body, column {named[1]}: it never reached the model."
            )
            return RequestError(
                failure.message, f"{failure.hint} {said}".strip(), line=failure.line, column=failure.column
            )
    return None
