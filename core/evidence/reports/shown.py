"""What a report shows as an output: its only fence, its only lines of markup, or a call in code within a line.

    Ollama never runs this:                what a person says of an output
    <tool_call>{"name": …}</tool_call>     the output
    Any idea?

What a model writes around its call belongs to its output: only the words of a report tell one from the other.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.recognise import MARKER, recognise
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.reports.report_text import is_report, shown_output

_LEAD = re.compile(
    r"\b(?:outputs?|responses?|returns?|returned|got|get|result|answer|content|prints?|raw)\b[^\n]{0,40}(?::|like|follows)$",
    re.IGNORECASE,
)
_REPORT_WORDS = re.compile(
    r"`(?:--[\w-]{2,60}[^`\n]{0,60}|</?[\w|]{2,40}>|(?:message\.)?content|tool_calls|reasoning_content|finish_reason)`"
    # What people say of an output, and a model hardly does in one.
    r"|\b(?:vllm|sglang|ollama|lm ?studio|llama\.cpp|llama-server|tensorrt-llm|trtllm|litellm|openrouter|mlx"
    r"|tool_calls|finish_reason|parsers?|parsed|rendered|deltas?|streamed|chat window|plain text"
    r"|raw (?:text|xml|json|markup|output)|end users?|"
    r"instead of (?:a|an|being))\b|\$ (?:cat|curl|head|tail|less|jq|grep|python3?|docker|kubectl) ",
    re.IGNORECASE,
)
_QUOTED_WORDS = re.compile(r"`[^`\n]{1,200}`|'[^'\n]{1,200}'|\"[^\"\n]{1,200}\"")
_CODE_LINE = re.compile(r"(?m)^[ \t]{0,8}`([^`\n]{20,4000})`[ \t]{0,8}$")
# A call in code within a line, by what only a call begins with.
_CODE_CALL = re.compile(
    r"(?<!`)`((?:functions\.[\w.-]{1,64}:\d{1,4}\s?\{|<\|?tool_call|\[TOOL_CALLS\]|<function=|"
    r"<\|python_start\|>|\{\"name\"[\s,:]{1,6}\"[\w.-]{1,64}\", ?\"(?:arguments|parameters)\")[^`\n]{1,4000})`(?!`)"
)
# The same between other quotation marks: only what begins with a marker, as a person quotes JSON that is anything.
_QUOTED_CALL = re.compile(
    r"(?<![\w'\"])(?P<mark>['\"\u201c])(?P<call>(?:\[TOOL_CALLS\]|<\|?tool_call|<function=)[^\n]{1,2000}?[}\]>])"
    r"(?:(?P=mark)|\u201d)(?=[\s.,;:!?)]|\Z)"
)
_WORD = re.compile(r"[A-Za-z\u00c0-\uffff]{2,}")
_MIN_WORDS = 8  # of a person around it
_MAX_OF_WORDS = 20_000  # characters
_MAX_MENTIONS = 40
_NEAR = 80
_TAGS_AS_CODE = re.compile(r"`(?:</?[\w|:]{1,40}>[ ]?){1,4}`")  # and nothing between them
_MENTIONED = re.compile(r"[A-Za-z\u00c0-\uffff]{2,}[,:]? ?[`'\"(]{0,2}\Z")  # a word on the same line
_FOLLOWED = re.compile(r">?[`'\"]?\s{0,4}[{\[<]|[^\n]{0,40}[{<]|>?\s{0,4}\Z")  # what belongs to it
# A word of a manual where a tool's name would be, or arguments that are a word or left out.
_PLACEHOLDER = re.compile(
    r"\{(?:json|args|arguments|params|parameters|\.{3}|\u2026)\}|: ?(?:\.{3}|\u2026)[,}]"
    r"|<arg_value>(?:\.{3}|\u2026)</arg_value>"
    r"|(?:call:|function=|\[TOOL_CALLS\] ?|\"name\": ?\"|<invoke name=\")"
    r"(?:name|func|function_name|tool_name|NAME|\.{3}|\u2026)\b"
)
_PARAMETER = re.compile(r"<parameter(?: name)?=[^>\n]{1,80}>(?:\s{0,4}(?P<left_out>\.{3}|\u2026)\s{0,4}</parameter>)?")

# Gemini's call as Python: no one writes that of anything else.
_PYTHON_CALL = re.compile(
    r"`{1,3}(tool_code\s{0,4}(?:print\s?\()?default_api\.[\w.]{1,64}\([^`]{0,4000}\))\s{0,4}`{1,3}"
)


class Shown(NamedTuple):
    """What is shown.

    Attributes:
        text: The output.
        block: The fence that contains it; `None` for lines of prose.
        unread: Lines of text around it.
    """

    text: str
    block: Block | None
    unread: int


def find_shown(blocks: Sequence[Block]) -> Shown | None:
    """Return what the only fence of a text holds, or its only lines that are an output; `None` where none is shown.

    The line above the fence says that an output follows, or that something does and the fence is an output, or the
    words of a report surround it; the text around it mentions markup only in quotes, if at all.
    """
    fences = [block for block in blocks if block.kind is BlockKind.FENCED]
    if len(fences) > 1:
        return None
    fence = fences[0] if fences else None
    text = "\n".join(block.text for block in blocks if block is not fence)
    shown = fence.text if fence is not None else shown_output(text)
    if shown is None:
        return _find_in_code(text) if fence is None else None
    around = text if fence is not None else text.replace(shown, "")
    follows = fence is not None and fence.lead.endswith((":", "\uff1a")) and recognise(fence.text) is Form.OUTPUT
    is_announced = follows or (fence is not None and _LEAD.search(fence.lead) is not None)
    if not _is_of_report(around, is_announced=is_announced, may_mention=fence is not None):
        return None
    return Shown(shown, fence, len([line for line in around.split("\n") if line.strip()]))


def _find_in_code(text: str) -> Shown | None:
    """Return the only output that is written as code within a sentence, if nothing else in the text looks like one."""
    shown = shown_code(text)
    around = "" if shown is None else text.replace(shown, "")
    is_sentence = len(_WORD.findall(around)) >= _MIN_WORDS and not mentions_output(around)
    return (
        Shown(shown, None, len([line for line in around.split("\n") if line.strip()]))
        if shown and is_sentence
        else None
    )


def is_talk(blocks: Sequence[Block]) -> bool:
    """Return whether a text is about an output rather than all output: a report, several outputs, or a mention."""
    return is_report(blocks) or _shows_several(blocks) or _begins_in_fence(blocks) or _only_mentions(blocks)


def _shows_several(blocks: Sequence[Block]) -> bool:
    """Return whether several fences contain outputs, with words of a report but no markup around them."""
    shown = [block for block in blocks if block.kind is BlockKind.FENCED and recognise(block.text) is Form.OUTPUT]
    around = "\n".join(block.text for block in blocks if block.kind is not BlockKind.FENCED)
    return len(shown) > 1 and _is_of_report(around)


def _begins_in_fence(blocks: Sequence[Block]) -> bool:
    """Return whether a text's first markup is in a fence and more of it outside: two things, not one output."""
    marked = [block for block in blocks if MARKER.search(block.text) is not None]
    return len(marked) > 1 and marked[0].kind is BlockKind.FENCED and marked[0] is not blocks[0]


def _only_mentions(blocks: Sequence[Block]) -> bool:
    """Return whether a text is words of a report, with markers as words of its sentences and nothing after them."""
    if any(block.kind is not BlockKind.PROSE for block in blocks):
        return False
    text = "\n".join(block.text for block in blocks)[:_MAX_OF_WORDS]
    if MARKER.search(text) is None or _REPORT_WORDS.search(MARKER.sub("", text)) is None:
        return False
    return _are_mentions(_TAGS_AS_CODE.sub("tags", text))


def _are_mentions(text: str) -> bool:
    """Return whether each marker of a text is a word of a sentence, and nothing follows it that belongs to one."""
    found = [one for one, _ in zip(MARKER.finditer(text), range(_MAX_MENTIONS), strict=False)]
    if len(found) == _MAX_MENTIONS:
        return False
    return all(_MENTIONED.search(text, max(0, one.start() - _NEAR), one.start()) for one in found) and not any(
        _FOLLOWED.match(text, one.end()) for one in found
    )


def _is_of_report(around: str, *, is_announced: bool = False, may_mention: bool = False) -> bool:
    """Return whether words around an output are those of a report, which show no output themselves.

    Args:
        around: The words.
        is_announced: Whether the line above the output announces it.
        may_mention: Whether markers may be words of their sentences, as they may around a fence.
    """
    if not is_announced and _REPORT_WORDS.search(around) is None:
        return False
    if not mentions_output(around):
        return True
    return may_mention and _are_mentions(_QUOTED_WORDS.sub("words", around[:_MAX_OF_WORDS]))


def is_placeholder(text: str) -> bool:
    """Return whether a text shows how calls look, with a word in place of each part: `[TOOL_CALLS]name[ARGS]{json}`.

    >>> is_placeholder("<|tool_call>call:func{...}<tool_call|>"), is_placeholder("[TOOL_CALLS]get_time[ARGS]{}")
    (True, False)
    """
    parameters = [found["left_out"] for found in _PARAMETER.finditer(text)]
    return _PLACEHOLDER.search(text) is not None or (bool(parameters) and all(parameters))


def mentions_output(text: str) -> bool:
    """Return whether a text looks like an output without what it quotes."""
    return recognise(_QUOTED_WORDS.sub("", text)) is Form.OUTPUT


def shown_python(text: str) -> str | None:
    """Return the only call that a sentence quotes as Gemini writes it in Python, `tool_code` and all; else `None`."""
    shown = {*_PYTHON_CALL.findall(text)} if "tool_code" in text else set()
    return shown.pop() if len(shown) == 1 else None


def shown_code(text: str) -> str | None:
    """Return the only code of a text that is a call: a line that is code from end to end, or code within a line."""
    shown = [line[1] for line in _CODE_LINE.finditer(text) if recognise(line[1]) is Form.OUTPUT]
    shown = shown or [code[1] for code in _CODE_CALL.finditer(text)]
    shown = shown or [one["call"] for one in _QUOTED_CALL.finditer(text) if "\\" not in one["call"]]  # no literal
    shown = [text for text in shown if not is_placeholder(text) and MARKER.sub("", text).strip(" <>/|[]")]
    return shown[0] if len({*shown}) == 1 and ("{" in shown[0] or "</" in shown[0]) else None
