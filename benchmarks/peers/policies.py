# ruff: noqa: ANN401 - what a suite expects is any JSON value
"""Where a suite expects what its parser decides to do, not what the model wrote: each policy with its reason.

A policy is told by the case itself, never by its family alone, unless only the
test's name tells it. What no policy explains counts against the census.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.peers.cases import Reading, whole_calls
from prompt_debugger.core.base.types import CallStatus, Place
from prompt_debugger.core.formats import FORMATS

_TAG_IS_MISSING = re.compile(r"tag\b.* is missing")
_MARKED = re.compile(r"[>\]]\s*\[?\{\"")
# Calls in ordinary text: JSON, Python in brackets or given to a name, Gemma's without its tokens, MiniCPM's tags.
_PLAIN = re.compile(r"\{\"|\[\w+\(|\btool_code = \w+\(|\bcall:\w+\{|<function name=")
_THOUGHT = re.compile(r"</?think>|<\|channel>")
_HALF_CHARS = 90  # of the end of an output, in which half a marker may stand
_TAG = re.compile(r"</?[^<>\n]{1,80}>|<[^<>\n]{0,80}\Z")


@dataclass(frozen=True, slots=True)
class Policy:
    """A decision of a peer that differs from ours.

    Attributes:
        name: What it does, in a few words.
        reason: Why it says nothing about what the output holds.
        explains: Says whether it explains a misread.
    """

    name: str
    reason: str
    explains: Callable[[Reading], bool]


def policy_of(reading: Reading) -> Policy | None:
    """Return the first policy that explains a misread, `None` if it is ours to mend."""
    return next((policy for policy in POLICIES if policy.explains(reading)), None)


def _drops_text_around_calls(reading: Reading) -> bool:
    """The calls are right, and the suite shows only the text before the first one, or none of it."""
    case, parsed = reading.case, reading.parsed
    wanted, read = (case.content or "").strip(), (parsed.content or "").strip()
    has_calls = bool(case.calls or case.n_calls) and bool(parsed.calls)
    return "calls" not in _but_untyped(reading) and has_calls and read != wanted and read.startswith(wanted)


def _leaves_refused_calls(reading: Reading) -> bool:
    """No call is expected, and all that is in the output, less tags, is expected as text."""
    case = reading.case
    expects_calls = bool(case.calls) or bool(case.n_calls)
    is_left = case.content is not None and bool(case.content.strip())
    return (
        not expects_calls
        and is_left
        and _untagged(case.raw) == _untagged(case.content or "")
        and _has_call_markup(reading)
    )


def _has_call_markup(reading: Reading) -> bool:
    markers = FORMATS[reading.parsed.format].call_markers
    return bool(reading.parsed.calls) or any(marker in reading.case.raw for marker in markers)


def _is_half_a_parser(reading: Reading) -> bool:
    """A reasoning parser alone: what it leaves for the tool parser is in the content it gives."""
    case, parsed = reading.case, reading.parsed
    if case.calls is not None or case.n_calls is not None or "reasoning" in reading.faults:
        return False
    wanted, read = (case.content or "").strip(), (parsed.content or "").strip()
    rest = wanted.removeprefix(read).lstrip()
    return wanted.startswith(read) and bool(rest) and _TAG.match(rest) is not None and case.raw.rstrip().endswith(rest)


def _hands_on_broken_calls(reading: Reading) -> bool:
    """Cut or broken calls are expected as calls, and we read them by the same names as what they are."""
    case, calls = reading.case, reading.parsed.calls
    if "reasoning" in reading.faults or not case.calls or len(case.calls) != len(calls):
        return False
    pairs = list(zip(case.calls, calls, strict=True))
    has_broken = any(call.status is not CallStatus.COMPLETE for call in calls)
    return has_broken and all(
        (name or "").startswith(call.name or "") and (bool(call.name) or not name)
        and "stray text" not in (call.problem or "")
        and (call.status is not CallStatus.COMPLETE or _loose(given) == _loose(call.arguments_json))
        for (name, given), call in pairs
    )  # fmt: skip


def _refuses_unclosed_calls(reading: Reading) -> bool:
    """No call is expected where closing or opening tags are missing or the rest of a list is cut."""
    case, calls = reading.case, reading.parsed.calls
    expects_none = case.calls == () or case.n_calls == 0
    gaps = [call.status is CallStatus.TRUNCATED or bool(_TAG_IS_MISSING.search(call.problem or "")) for call in calls]
    whole = [(call.name, call.arguments_json) for call, is_gap in zip(calls, gaps, strict=True) if not is_gap]
    return any(gaps) and (expects_none or bool(whole and [*(case.calls or ())] == whole))


def _is_begun_otherwise(reading: Reading) -> bool:
    """Reasoning is switched off in the parser's set-up, which the output does not show."""
    case, read = reading.case, reading.parsed.reasoning
    is_left = (case.content or "").strip() == case.raw.strip()
    if case.reasoning or case.reasoning is None:
        return False
    if read is None:
        return is_left and case.raw.lstrip().startswith("</think>")
    return is_left or case.raw.lstrip().startswith(read)


def _types_without_schema(reading: Reading) -> bool:
    """Names and values are right but for their types: text that is read as a number or the other way round."""
    return "calls" in reading.faults and reading.faults != _but_untyped(reading) and not _but_untyped(reading)


def _but_untyped(reading: Reading) -> tuple[str, ...]:
    """Return the faults, less one of the calls that is no more than the types of their values."""
    case = reading.case
    found = whole_calls(reading.parsed)
    if "calls" not in reading.faults or case.calls is None or len(case.calls) != len(found):
        return reading.faults
    is_same = all(
        name == read and (given is None or _is_loosely(given, value))
        for (name, given), (read, value) in zip(case.calls, found, strict=True)
    )
    return tuple(fault for fault in reading.faults if fault != "calls") if is_same else reading.faults


def _is_loosely(wanted: Any, given: Any) -> bool:
    loose, read = _loose(wanted), _loose(given)
    if isinstance(loose, dict) and isinstance(read, dict):
        return set(loose) <= set(read) and all(loose[key] == read[key] for key in loose)
    return bool(loose == read)


def _loose(value: Any) -> Any:
    """Return a value with all text in it that is a literal decoded."""
    if isinstance(value, dict):
        return {key: _loose(child) for key, child in value.items()}
    if isinstance(value, list):
        return [_loose(child) for child in value]
    if not isinstance(value, str):
        return value
    for decode in (json.loads, ast.literal_eval):
        try:
            decoded = decode(value.strip())
        except (ValueError, SyntaxError):
            continue
        return _loose(decoded) if isinstance(decoded, str) and decoded != value else decoded
    return value


def _fits_to_schema(reading: Reading) -> bool:
    """The arguments are cut down to the schema, or the name is exchanged for one of the request's."""
    case, found = reading.case, whole_calls(reading.parsed)
    if reading.faults != ("calls",) or not case.calls or len(case.calls) != len(found):
        return False
    names = {tool.get("function", tool).get("name") for tool in case.tools}
    return all(
        (name == read and isinstance(given, dict) and isinstance(value, dict) and given.items() <= value.items())
        or (name in names and read not in names)
        for (name, given), (read, value) in zip(case.calls, found, strict=True)
    )


def _takes_bare_json(reading: Reading) -> bool:
    """Calls are expected of JSON without markers, of tools that no request names: we leave all of it as text."""
    case, parsed = reading.case, reading.parsed
    names = {tool.get("function", tool).get("name") for tool in case.tools}
    wanted = [name for name, _ in case.calls or ()]
    is_left = (parsed.content or "").strip() == case.raw.strip()
    is_bare = _PLAIN.search(case.raw) is not None and _MARKED.search(case.raw) is None
    expects_calls = bool(wanted) or (bool(case.n_calls) and not names)
    return expects_calls and is_left and is_bare and not names & set(wanted)


def _closes_up_lines(reading: Reading) -> bool:
    """Content differs in line breaks where a call stood."""
    case, parsed = reading.case, reading.parsed
    return reading.faults == ("content",) and (case.content or "").split() == (parsed.content or "").split()


def _joins_blocks_otherwise(reading: Reading) -> bool:
    """Reasoning and content differ in whitespace between their pieces alone."""
    case, parsed = reading.case, reading.parsed
    is_same = _squeezed(case.reasoning) == _squeezed(parsed.reasoning)
    return "calls" not in reading.faults and is_same and _squeezed(case.content) == _squeezed(parsed.content)


def _promotes_calls(reading: Reading) -> bool:
    """A call inside reasoning is expected as one outside of it; the census says where it stands."""
    case = reading.case
    inside = [call for call in reading.parsed.calls if call.place is Place.REASONING]
    if case.calls is not None:
        found = [(call.name, call.arguments_json) for call in inside]
        return bool(found) and [*case.calls] == found
    wanted = f"{case.content}{case.reasoning}"
    return bool(inside) and all((call.name or "") in wanted for call in inside)


def _cuts_blocks_otherwise(reading: Reading) -> bool:
    """Reasoning in several blocks, nested, or not at the beginning: every parser decides in its own way."""
    tags = _THOUGHT.findall(reading.case.raw)
    is_late = bool(tags) and not reading.case.raw.lstrip().startswith(tags[0]) and tags[0] != "</think>"
    return "calls" not in reading.faults and (sum(not tag.startswith("</") for tag in tags) > 1 or is_late)


def _keeps_all_beside_calls(reading: Reading) -> bool:
    """The calls are right, and the whole output is expected as text beside them."""
    case = reading.case
    is_whole = bool(case.calls) and (case.content or "").strip() == case.raw.strip()
    return is_whole and reading.faults == ("content",)


def _leaves_escapes(reading: Reading) -> bool:
    """Python's escapes in a string are expected as they are written: a backslash and a letter."""
    case, found = reading.case, whole_calls(reading.parsed)
    if reading.faults != ("calls",) or not case.calls or len(case.calls) != len(found):
        return False
    return all(
        name == read and isinstance(wanted, dict) and {key: _unescaped(text) for key, text in wanted.items()} == given
        for (name, wanted), (read, given) in zip(case.calls, found, strict=True)
    )


def _unescaped(text: Any) -> Any:
    """Return a text as Python reads it between quotation marks."""
    if not isinstance(text, str) or "\n" in text:
        return text
    for quote in "'\"":
        try:
            return ast.literal_eval(f"{quote}{text}{quote}")
        except (ValueError, SyntaxError):
            continue
    return text


def _guesses_by_words(reading: Reading) -> bool:
    """An output without any tag is split into reasoning and answer by phrases in it."""
    case = reading.case
    return case.calls is None and bool(case.reasoning and case.content) and _THOUGHT.search(case.raw) is None


def _answers_nothing(reading: Reading) -> bool:
    """A parser that finds none of its markers answers neither reasoning nor content."""
    case = reading.case
    return case.calls is None and not case.reasoning and not case.content and bool(case.raw.strip())


def _drops_reasoning(reading: Reading) -> bool:
    """Reasoning that was switched off is thrown away; the rest is the same."""
    return reading.faults == ("reasoning",) and not reading.case.reasoning


def _drops_unknown_tools(reading: Reading) -> bool:
    """Calls to tools that the request lacks are dropped, or left as text."""
    case = reading.case
    names = {tool.get("function", tool).get("name") for tool in case.tools}
    found = whole_calls(reading.parsed)
    known = [call for call in found if call[0] in names]
    return bool(names) and case.calls is not None and known != found and known == [*case.calls]


def _drops_repeated_calls(reading: Reading) -> bool:
    """A call that equals the one before it is dropped."""
    found = whole_calls(reading.parsed)
    kept = [call for index, call in enumerate(found) if not index or call != found[index - 1]]
    return reading.faults == ("calls",) and kept != found and [*(reading.case.calls or ())] == kept


def _keeps_half_a_marker(reading: Reading) -> bool:
    """Half a marker at the end of the text is kept as text, or dropped."""
    half = next(reversed([*_TAG.finditer(reading.case.raw[-_HALF_CHARS:])]), None)
    if "calls" in reading.faults or half is None or not reading.case.raw.endswith(half.group()):
        return False
    wanted, read = (reading.case.content or "", reading.case.reasoning or ""), reading.parsed
    pairs = zip(wanted, (read.content or "", read.reasoning or ""), strict=True)
    return all(one.removesuffix(half.group()).strip() == two.removesuffix(half.group()).strip() for one, two in pairs)


def _renames_actions(reading: Reading) -> bool:
    """Every action becomes a call of one tool with the action's name among its arguments."""
    found = whole_calls(reading.parsed)
    wanted = [given.get("action") for name, given in reading.case.calls or () if isinstance(given, dict)]
    return bool(wanted) and wanted == [name for name, _ in found]


def _squeezed(text: str | None) -> str:
    return "".join((text or "").split())


def _untagged(text: str) -> str:
    return "".join(_TAG.sub("", text).split())


def _is_test(*names: str) -> Callable[[Reading], bool]:
    return lambda reading: any(name in reading.case.origin for name in names)


POLICIES = (
    Policy(
        "text around calls is thrown away",
        "the model wrote it; a client that never sees it lost it",
        _drops_text_around_calls,
    ),
    Policy(
        "a call that the parser refuses is left as text",
        "the model called: an unknown tool, a notation that is switched off or a schema broken is another finding",
        _leaves_refused_calls,
    ),
    Policy(
        "a reasoning parser alone leaves markup in the content",
        "the census reads the whole output at once",
        _is_half_a_parser,
    ),
    Policy(
        "cut and broken calls are handed on as calls",
        "the census lists them as cut or malformed, with name and text",
        _hands_on_broken_calls,
    ),
    Policy(
        "a call without all its tags, or in a list that is cut, is none",
        "its name and arguments are whole; the gap is told",
        _refuses_unclosed_calls,
    ),
    Policy(
        "reasoning is switched off in the parser's set-up",
        "neither output nor prompt says so",
        _is_begun_otherwise,
    ),
    Policy(
        "values are typed without a schema, or against what is written",
        "text stays text where no schema says otherwise, and a JSON string stays one",
        _types_without_schema,
    ),
    Policy(
        "arguments and names are fitted to the request's tools",
        "the census says what was written",
        _fits_to_schema,
    ),
    Policy(
        "a call in plain text that names no tool of the request is one",
        "an example in an answer looks the same",
        _takes_bare_json,
    ),
    Policy(
        "calls to tools that the request lacks are dropped",
        "the model called them; that they are unknown is another finding",
        _drops_unknown_tools,
    ),
    Policy("a call that comes again is dropped", "the model called twice", _drops_repeated_calls),
    Policy("actions are rewritten into calls of one tool", "the census says what was written", _renames_actions),
    Policy(
        "a call inside reasoning counts as one outside",
        "the census lists it with its place, which a finding speaks of",
        _promotes_calls,
    ),
    Policy(
        "pieces are joined with other whitespace",
        "whitespace between pieces is a matter of taste",
        _joins_blocks_otherwise,
    ),
    Policy(
        "reasoning in several blocks, nested or late, is cut otherwise",
        "the suites contradict one another, and the same text is read in two ways in one of them",
        _cuts_blocks_otherwise,
    ),
    Policy(
        "the whole output stays in the text beside its calls",
        "a client that shows it shows markup",
        _keeps_all_beside_calls,
    ),
    Policy(
        "escapes in a Python string stay as they are written",
        "the notation is Python's, and a model that writes it means the character",
        _leaves_escapes,
    ),
    Policy("reasoning is guessed by phrases", "no tag says where it ends", _guesses_by_words),
    Policy("a parser without its markers answers nothing", "the text is there", _answers_nothing),
    Policy("reasoning that was switched off is thrown away", "the model wrote it", _drops_reasoning),
    Policy("half a marker at the end is text, or dropped", "the census counts it as markup", _keeps_half_a_marker),
    Policy(
        "lines are closed up where a call stood",
        "whitespace around calls is a matter of taste",
        _closes_up_lines,
    ),
    Policy(
        "calls and text are cleaned beyond what the output says",
        "single decisions: a call whose id has another form dropped, noise between markers dropped, byte-level "
        "characters and reserved tokens repaired, a wrapper of the release before refused, reasoning that is not "
        "split at all, a name that swallows the next tag",
        _is_test(
            "test_invalid_funcall_id_skipped",
            "noise-between-markers",
            "test_thinking_only_sentencepiece_normalized",
            "test_reserved_markers_are_removed",
            "test_truncated_standard_reasoning_does_not_leak",
            "test_function_calls_wrapper_is_not_recognized",
            "non_streaming_forwards_input_verbatim",
            "test_malformed_xml_no_gt_delimiter",
        ),
    ),
)
