r"""Words of an error without what was copied with them: a fence, a heading, a stack, the traceback before them.

## [Bug]: 400 No such model                             the words of a heading
```\n400 No such model\n```                             what a fence contains
`400 No such model                                      a mark whose other half is elsewhere
400 No such model**                                     likewise
400 No such model\n## Steps                             without the next heading of the report
Traceback (most recent call last): File "a.py", … XError: No such model     in one line: the exception that ends it
error initializing grammar sampler for grammar:\nroot ::= …                 without the grammar
"""

from __future__ import annotations

import re
from collections.abc import Callable

from prompt_debugger.core.known_errors import quoted_output, recognise_error

_FENCE_START = re.compile(r"\A\s{0,9}```\w{0,20}[ \t]{0,4}\n")
_FENCE_END = re.compile(r"(?<=\S)\n[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]*(?=\n|\Z)")
_OPEN_CODE = re.compile(r"\s{0,9}(?:`(?!``)|`{3}(?=\d{3} ))[^`]*\Z")  # its end is elsewhere
_HEADING = re.compile(r"\A#{1,6} {1,3}(?:(?:\[[^\]\n]{1,20}\]|[Bb]ug)(?:: ?| ))?")
_NEXT_HEADING = re.compile(r"\n[ \t]{0,3}#{2,6} \S[^\n]{0,80}(?=\n|\Z)")
# The stack that a gateway in JavaScript put below the words, in the same text.
_STACK = re.compile(
    r"\n\s{0,40}at (?:async )?[\w.<>$ ]{1,100} \((?:file://|/|[A-Z]:\\|node:)[^\n]{1,400}:\d{1,7}:\d{1,7}\)"
)
_ONE_LINE = re.compile(
    r"Traceback \(most recent call last\):?[ \t]{1,8}File \"|(?m:^)[ \t]{0,4}\d{1,4}[ \t]{1,8}File \""
)
_RAISED = re.compile(r"(?<=[ \t])(?:[a-z_]\w{0,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception): (?=\S)")
_GRAMMAR = re.compile(r"\bfor grammar:\s{1,9}[\w-]{1,80} ?::=")
_MIN_WORDS = 8  # characters that are left


def words_alone(message: str, text: str) -> str:
    """Return the words of an error without what was copied with them.

    Args:
        message: The words, as they were found.
        text: What they were found in.
    """
    steps: tuple[Callable[[str], str], ...] = (_drop_stack, _strip_fence, _strip_heading, _drop_grammar)
    if message in text and quoted_output(message) is None:  # else they are a text of their own, such as a model's
        steps = (*steps, _drop_next_heading, _close_bold, _drop_traceback)
    for step in steps:
        shorter = step(message)
        message = shorter if len(shorter.strip()) >= _MIN_WORDS else message
    return message


def _drop_stack(message: str) -> str:
    stack = _STACK.search(message)
    return message if stack is None else message[: stack.start()].rstrip()


def _strip_fence(message: str) -> str:
    """Return words without the code fence around them, and without the prose around that."""
    parts = _FENCE_END.split(message)
    is_lead = parts[0].rstrip().endswith(":") and recognise_error(parts[0]) is None
    inner = is_lead and len(parts) > 1  # what begins there is the error, under its lead
    bare = _FENCE_START.sub("", parts[1] if inner else parts[0])
    if bare.rstrip().endswith("```"):
        bare = bare.rstrip().removesuffix("```")
    elif bare.count("`") % 2:
        bare = bare.lstrip().lstrip("`") if _OPEN_CODE.match(bare) else bare.rstrip().removesuffix("`")
    return message if bare == message else bare.rstrip()


def _strip_heading(message: str) -> str:
    """Return words that are a heading of Markdown without its marks, and without the label of a tracker."""
    return _HEADING.sub("", message)


def _drop_next_heading(message: str) -> str:
    found = _NEXT_HEADING.search(message)
    return message if found is None else _while_known(message, message[: found.start()].rstrip())


def _close_bold(message: str) -> str:
    """Return words without a mark of bold whose other half is elsewhere."""
    if message.count("**") != 1:
        return message
    return message.strip().removeprefix("**").removesuffix("**")


def _drop_grammar(message: str) -> str:
    """Return words without the grammar that a log prints below them."""
    found = _GRAMMAR.search(message)
    if found is None:
        return message
    return _while_known(message, message[: found.start() + len("for grammar:")].lstrip("| "))


def _drop_traceback(message: str) -> str:
    """Return the exception that ends a traceback which was printed in one line."""
    begun = _ONE_LINE.search(message)
    if begun is None:
        return message
    raised = list(_RAISED.finditer(message, max(begun.end(), message.rfind('File "'))))
    return _while_known(message, message[raised[-1].start() :]) if raised else message


def _while_known(message: str, shorter: str) -> str:
    """Return the shorter words if they still say the sentence that is known, where the longer ones say one."""
    known = recognise_error(message)
    same = recognise_error(shorter) if known is not None else None
    return shorter if known is None or (same is not None and same.error is known.error) else message
