"""Which other parsers read an output, in one sentence: the same on the page, in the terminal and in reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prompt_debugger.core.base.account import readable_calls, tally_parsers
from prompt_debugger.core.base.text import first_of
from prompt_debugger.core.base.types import JSONObject, Parse, ParserOutcome, VllmOutcome

_NAMED = 6
_CONTENT = 60
_OPEN = 5  # parsers of one engine that return other calls and are shown


def parsers_sentence(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> str:
    """Return how many of the parsers that could run read the calls, which, and how many could not run.

    Args:
        parse: Our reading of the output.
        outcomes: Results by name, best first, their accounts filled in.
    """
    tally, written = tally_parsers(outcomes), readable_calls(parse)
    names = [f"`{name.removeprefix('vllm:')}`" for name in tally.reading]
    shown = first_of(names, _NAMED)
    of = f"{tally.ran} parser{'' if tally.ran == 1 else 's'}"
    failed = tally.asked - tally.ran
    note = f" {failed} more could not be run." if failed else ""
    if not names:
        return f"None of {of} {reading_words(written, is_several=False)}.{note}"
    return f"{len(names)} of {of} {reading_words(written, is_several=len(names) > 1)}: {shown}.{note}"


def engines_sentence(parse: Parse, outcomes: Mapping[str, ParserOutcome], title_of: Callable[[str], str] = str) -> str:
    """Return which engines read the calls, with which of their parsers; of one engine which of its parsers do.

    Args:
        parse: Our reading of the output.
        outcomes: Results by name, best first, their accounts filled in.
        title_of: Says what people call an engine.
    """
    groups, written = by_engine(outcomes), readable_calls(parse)
    if len(groups) < 2 or not written:
        return parsers_sentence(parse, outcomes)
    subject = "the call" if written == 1 else f"all {written} calls"
    reading, others = [], []
    for engine, every in groups.items():
        tally = tally_parsers(every)
        names = [f"`{name.partition(':')[2]}`" for name in tally.reading]
        named = f"{title_of(engine)} {_release(every)}".strip()
        if names:
            reading.append(f"{named} with {first_of(names, 3)} (of {tally.ran})")
        else:
            others.append(f"{named} ({tally.ran})")
    if not reading:
        parsers = f"none of the parsers of {', '.join(others)} returns what was written"
        return f"No engine reads {subject}, of the {len(groups)} that answered: {parsers}."
    rest = f"; no parser of {', '.join(others)} does" if others else ""
    return f"Engines that read {subject}: {'; '.join(reading)}{rest}."


def by_engine(outcomes: Mapping[str, ParserOutcome]) -> dict[str, dict[str, ParserOutcome]]:
    """Return the outcomes of parsers that ran offline, by their engine, in the order given."""
    groups: dict[str, dict[str, ParserOutcome]] = {}
    for name, outcome in outcomes.items():
        if isinstance(outcome, VllmOutcome):
            groups.setdefault(outcome.engine, {})[name] = outcome
    return groups


def matrix_lines(parse: Parse, title_of: Callable[[str], str] = str) -> Iterator[str]:
    """Yield what the parsers of several engines made of an output: the headline, then engine by engine.

    For each engine, its first parser is listed, those that read the output, and some that return other calls.
    """
    yield engines_sentence(parse, parse.parsers, title_of)
    for engine, every in by_engine(parse.parsers).items():
        yield ""
        layers = {outcome.layer for outcome in every.values() if isinstance(outcome, VllmOutcome)}
        alone = ", only its parsers, without its server's code" if layers == {"parser"} else ""
        yield f"{title_of(engine)} {_release(every)}{alone}:"
        reading = tally_parsers(every).reading
        near = [name for name, outcome in every.items() if outcome.tool_calls and name not in reading]
        shown = {*reading, *near[:_OPEN], next(iter(every))}
        yield from (f"  {name}: {_reported(outcome)}" for name, outcome in every.items() if name in shown)
        if len(every) > len(shown):
            yield f"  {len(every) - len(shown)} others do not read it (--json has all)"


def _reported(outcome: ParserOutcome) -> str:
    """Return one result on a line: what came back, how it differs from what was written, the engine's own words."""
    account = outcome.account
    if outcome.error is not None or account is None:
        return f"failed: {outcome.error}"
    faults = ((account.dropped, "dropped"), (account.altered, "altered"), (account.invented, "invented"))
    differs = ", ".join(f"{count} {word}" for count, word in faults if count)
    calls = ", ".join(_named(call) for call in outcome.tool_calls)
    streamed = {True: "streamed the same", False: "streamed differently", None: "not streamed"}[outcome.stream_equal]
    parts = [
        "reads it" if account.is_right else f"does not read it ({differs})",
        f"calls {calls}" if calls else "no call",
        None if outcome.content is None else f"content {outcome.content[:_CONTENT]!r}",
        None if outcome.reasoning is None else f"reasoning {outcome.reasoning[:_CONTENT]!r}",
        None if outcome.finish_reason is None else f"finish reason {outcome.finish_reason}",
        streamed,
        f"it says: {outcome.words}" if isinstance(outcome, VllmOutcome) and outcome.words else None,
    ]
    return "; ".join(filter(None, parts))


def _named(call: JSONObject) -> str:
    function = call.get("function")
    return str(function.get("name")) if isinstance(function, dict) else "?"


def _release(outcomes: Mapping[str, ParserOutcome]) -> str:
    releases = {outcome.release for outcome in outcomes.values() if isinstance(outcome, VllmOutcome)}
    return releases.pop() if len(releases) == 1 else ""


def reading_words(written: int, *, is_several: bool) -> str:
    """Return what parsers do that give every call as it was written."""
    verb, find = ("read", "find") if is_several else ("reads", "finds")
    if not written:
        return f"{find} no complete call, as none was written"
    return f"{verb} the call" if written == 1 else f"{verb} all {written} calls"
