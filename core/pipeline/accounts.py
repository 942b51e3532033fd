"""What other parsers made of an output, compared with the census: decided once, counted by every face."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from prompt_debugger.core.base.account import count_calls, count_characters
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, Parse, ParserAccount, ParserOutcome
from prompt_debugger.core.parse import build_ledger
from prompt_debugger.core.pipeline.reread_calls import Believed, believe, families_of_name


def add_accounts(parse: Parse, outcomes: Mapping[str, ParserOutcome]) -> dict[str, ParserOutcome]:
    """Return the outcomes, each with its account; one that failed has none."""
    return {
        name: outcome if outcome.error is not None else replace(outcome, account=account_of(parse, outcome, name))
        for name, outcome in outcomes.items()
    }


def account_of(parse: Parse, outcome: ParserOutcome, name: str = "") -> ParserAccount:
    """Return what became of an output's calls and characters in the result of a parser of a name."""
    message = message_from_outcome(outcome)
    reading = Believed({**parse.format_scores}, parse.parsed)
    parsed = believe(parse.raw, reading, message, ReadContext(), families_of_name(name)).parsed
    ledger = build_ledger(parse.raw, parsed, message)
    calls, characters = count_calls(ledger), count_characters(parse.raw, ledger)
    missing = 0 if characters is None else characters.missing
    return ParserAccount(calls.dropped, calls.altered, calls.invented, calls.cut, missing)


def message_from_outcome(outcome: ParserOutcome) -> JSONObject:
    """Return what a parser made of a raw text as an assistant message."""
    message: JSONObject = {"role": "assistant", "content": outcome.content}
    if outcome.reasoning is not None:
        message["reasoning"] = outcome.reasoning
    if outcome.tool_calls:
        message["tool_calls"] = [dict(call) for call in outcome.tool_calls]
    return message
