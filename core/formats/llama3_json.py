r"""Llama 3.1 to 3.3 (and Llama 4 JSON): bare JSON objects.

    <|python_tag|>{"name": "NAME", "parameters": {ARGUMENTS}}; {"name": …}<|eom_id|>
    <|python_tag|>brave_search.call(query="text")<|eom_id|>
    <function=NAME>{ARGUMENTS}</function><|eot_id|>

The second line calls a built-in tool; any other Python after the token is a
program for an interpreter and stays content. Such a program may begin with
`NAME.call(` as well (`subprocess.call([…])`): a name that no one declared is
believed only with named arguments and nothing after it.

The token is usually missing before JSON; then an object is believed only on a
line of its own, with name and parameters, naming a tool of the request where
those are known. Objects may be parted by semicolons.

Source: the chat template of Llama-3.2-3B-Instruct, 2024-09; the prompt-format guide of Llama 3.1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from prompt_debugger.core.base.protocols import ModelFormat, ReadContext
from prompt_debugger.core.base.types import CallStatus, Place, Span, ToolCallAttempt
from prompt_debugger.core.formats._facts import FamilyFacts, Grammar, ParserNames
from prompt_debugger.core.formats._family import FAIR, STRONG, Mark, TextFormat
from prompt_debugger.core.parse.bare_json import BareJSONCalls
from prompt_debugger.core.parse.call_object import CallKeys
from prompt_debugger.core.parse.combine import scan_both
from prompt_debugger.core.parse.conventions import Conventions
from prompt_debugger.core.parse.python_calls import PythonCalls, PythonScan
from prompt_debugger.core.parse.reading import Scan
from prompt_debugger.core.parse.reasoning import ReasoningTags
from prompt_debugger.core.parse.scan import Hit, skip_space
from prompt_debugger.core.parse.tag_calls import TagCalls

_CALL_START = re.compile(r"(?P<name>[A-Za-z_][\w\-]*+(?:\.(?!call\s*\()[A-Za-z_][\w\-]*+)*+)\.call\s*\(")
_CUT_START = re.compile(r"(?P<name>[A-Za-z_][\w\-]*+)\.(?:c(?:a(?:ll?)?)?)?\Z")


@dataclass(frozen=True, slots=True)
class BuiltInCalls:
    """A scanner for the calls of built-in tools.

    Attributes:
        opener: Marker before the first call.
        names: Tools that the family brings along, whatever the request declares.
    """

    opener: str
    names: frozenset[str] = frozenset()

    def scan(self, text: str, region: Span, context: ReadContext) -> Scan:
        """Find the calls in `text[region]`; never raises."""
        return _BuiltInScan(self, text, region, context).run()


class _BuiltInScan(PythonScan):
    _call_start = _CALL_START

    def __init__(self, family: BuiltInCalls, text: str, region: Span, context: ReadContext) -> None:
        super().__init__(PythonCalls(openers=(family.opener,)), text, region, context)
        self._opener = family.opener
        self._known = self._names | family.names

    def run(self) -> Scan:
        position = self._region.start
        while (hit := self._finder.first((self._opener,), position)) is not None:
            position = self._take_calls(hit)
        return self._found()

    def _take_calls(self, opener: Hit) -> int:
        """Take the calls after one marker; return where to continue."""
        start = skip_space(self._text, opener.stop, self._region.stop)
        calls, stop = ([], start) if self._text.startswith("[", start) else self._read_list(start)
        calls = calls or self._cut_before_bracket(start)
        if not calls or not self._are_calls(calls):
            return opener.stop
        stop = max(stop, calls[-1].char_span.stop)
        if self._guard.is_quoted(Span(opener.start, calls[-1].char_span.stop), in_sentence=True):
            return stop
        self._guard.skip(stop)
        self._accept(opener.start, calls, calls[-1].char_span.stop)
        return stop

    def _are_calls(self, calls: list[ToolCallAttempt]) -> bool:
        if all(call.name in self._known for call in calls):
            return True
        is_last = not self._text[calls[-1].char_span.stop : self._region.stop].strip(" \t\r\n;")
        return is_last and all(call.status is not CallStatus.MALFORMED for call in calls)

    def _cut_before_bracket(self, start: int) -> list[ToolCallAttempt]:
        """Read a call that the text ends in between its name and its bracket."""
        match = _CUT_START.match(self._text, start, self._region.stop)
        if match is None or match.group("name") not in self._known:
            return []
        return [
            ToolCallAttempt(
                match.group("name"), "", None, None, CallStatus.TRUNCATED, Place.BODY,
                Span(match.start(), self._region.stop), name_span=Span(*match.span("name")),
                problem="cut before its arguments",
            )
        ]  # fmt: skip


_TAG = "<|python_tag|>"
_BARE = BareJSONCalls(
    keys=CallKeys(name=("name",), arguments=("parameters", "arguments")), prefixes=(_TAG,), follows_prose=True
)
_BUILT_IN = BuiltInCalls(_TAG, frozenset({"brave_search", "wolfram_alpha"}))
_NEVER = re.compile(r"(?!)")
_TAGGED = TagCalls(
    opener=re.compile(r"<function=(?P<name>[^>\n]{0,256})>(?=\s*\{)"),
    closer=re.compile(r"</function>"),
    parameter=_NEVER,
    parameter_closer=_NEVER,
    guards_prose=True,
)


def scan_calls(raw: str, region: Span, context: ReadContext) -> Scan:
    """Read built-in tools and bare objects, or the tagged objects of custom tools."""
    found, built_in = _BARE.scan(raw, region, context), _BUILT_IN.scan(raw, region, context)
    if built_in.calls:
        # Either may occur in a string of the other: what begins first is the call.
        is_first = not found.calls or built_in.calls[0].char_span < found.calls[0].char_span
        first, second = (_BUILT_IN, _BARE) if is_first else (_BARE, _BUILT_IN)
        found = scan_both(first.scan, second.scan)(raw, region, context)
    return found if found.calls else _TAGGED.scan(raw, region, context)


FORMAT: ModelFormat = TextFormat(
    name="llama3_json",
    marks=(Mark(_TAG), Mark("<function=", 0.97, r"<function=[^>\n]{1,256}>\s*\{"), Mark("<|eom_id|>", FAIR)),
    conventions=Conventions(
        turns=(
            "<|start_header_id|>",
            "<|end_header_id|>",
        ),
        reasoning=ReasoningTags(after_open=1, before_close=1, after_close=2),
        ends=frozenset({"<|end_of_text|>", "<|eom_id|>", "<|eot_id|>"}),
        markers=frozenset({_TAG}),
        before_call=1,
    ),
    scan=scan_calls,
    bare_score=STRONG,
    bare_hints=("name", "{"),
    facts=FamilyFacts(
        sample='{"name": "get_weather", "parameters": {"city": "Paris"}}<|eot_id|>',
        markers_are_plain_words=True,
        model_names=(
            *("/llama-3.1-8b-instruct", "/llama-3.1-70b-instruct", "/llama-3.1-405b-instruct"),
            *("/meta-llama-3.1-8b-instruct", "/meta-llama-3.1-70b-instruct", "/llama-3.3-70b-instruct"),
        ),
        tool_parsers=("llama3_json", "llama4_json"),
        parser_names={"sglang": ParserNames(("llama3",)), "lmdeploy": ParserNames(("llama3",))},
        grammars=(Grammar("llama", "llama3_json"),),
        has_json_arguments=True,
    ),
)
