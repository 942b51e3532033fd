r"""Functionary v2: messages with a recipient in special tokens.

    <|from|>assistant\n<|recipient|>all\n<|content|>CONTENT\n
    <|from|>assistant\n<|recipient|>NAME\n<|content|>{ARGUMENTS}<|stop|>

The prompt ends with `<|from|>assistant\n<|recipient|>`. `all` addresses the user. The line breaks drawn are framing.

Source: the prompt template v2 of functionary, 2024.
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import ParsedMessage, Span
from prompt_debugger.core.formats._facts import FamilyFacts
from prompt_debugger.core.formats._family import STRONG, Mark, TextFormat
from prompt_debugger.core.parse.arguments import read_arguments
from prompt_debugger.core.parse.channels import BodyKind, Channels
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.header_calls import Header, build_call
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.scan import Finder

_FROM, _RECIPIENT, _CONTENT, _STOP = "<|from|>", "<|recipient|>", "<|content|>", "<|stop|>"
_HEAD = re.compile(r"(?P<name>[\w.\-]{1,256})\n<\|content\|>")


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read the message to one tool."""
    head = _HEAD.match(raw, region.start, region.stop)
    if head is None:
        return Scan()
    is_cut = context.finish_reason == "length"
    arguments = read_arguments(Finder(raw, region.stop), head.end(), closers=(), is_cut=is_cut)
    return Scan((build_call(raw, head.start(), Header(head.group("name"), Span(*head.span("name"))), arguments),))


def _kind(header: re.Match[str]) -> BodyKind:
    return "content" if header.group("open") is None else "calls"


_CHANNELS = Channels(
    header=re.compile(
        r"(?:(?:\n?<\|from\|>assistant\n)?<\|recipient\|>|\A)"
        r"(?:all\n<\|content\|>|(?P<open>[\w.\-]{1,256}\n<\|content\|>))"
    ),
    end=re.compile(r"<\|stop\|>"),
    kind_of=_kind,
    scan=scan_calls,
    conventions=Conventions(
        turns=(_FROM,),
        ends=frozenset({_STOP}),
        markers=frozenset({_FROM, _RECIPIENT, _CONTENT}),
        cut_structure=re.compile(
            r"(?:\n?<\|from\|>(?:[a-z]{0,9}\n?)?(?:<\|recipient\|>[\w.\-]{0,256}\n?)?|<\|recipient\|>[\w.\-]{0,256}\n?)"
            r"(?:<\|?)?\Z"
        ),
    ),
)


class _FunctionaryV2(TextFormat):
    def read(self, raw: str, context: ReadContext) -> ParsedMessage:
        """Read `raw`; never raises on any text. Segments tile `raw`."""
        return _CHANNELS.read(self.name, raw, context)


FORMAT: ModelFormat = _FunctionaryV2(
    name="functionary_v2",
    marks=(Mark(_RECIPIENT), Mark(_CONTENT, STRONG), Mark(_STOP, STRONG)),
    tails=(_RECIPIENT,),
    conventions=_CHANNELS.conventions,
    facts=FamilyFacts(markers_are_plain_words=True, has_json_arguments=True, call_markers=(_RECIPIENT, _CONTENT)),
)
