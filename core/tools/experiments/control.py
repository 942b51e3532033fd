"""A healthy call that a release's parser must read before it means anything that it does not read another."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.json_values import as_object, decoded
from prompt_debugger.core.base.types import JSONObject, ParserOutcome
from prompt_debugger.core.complete import parser_names_of
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.engines import ParserPair, RawOutput, VllmReleases, write_parser_name

_TOOL: JSONObject = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def samples_for(pair: ParserPair) -> tuple[str, ...]:
    """Return healthy outputs of the families that a tool parser is made for, the one that names it first in front.

    >>> samples_for(ParserPair("no_such_parser", None))
    ()
    """
    made = {
        family: tools.index(pair.tool)
        for family, one in FORMATS.items()
        if one.facts.sample and pair.tool in (tools := parser_names_of(pair.engine, family).tools)
    }
    return tuple(FORMATS[family].facts.sample for family in sorted(made, key=lambda family: made[family]))


async def reads_healthy_call(source: VllmReleases, pair: ParserPair) -> bool | None:
    """Return whether a release's tool parser reads a healthy call; `None` if there is none to try.

    The reasoning parser stays out of it: some take everything for reasoning until its end tag comes.

    Raises:
        EngineError: The release cannot be asked.
    """
    samples = samples_for(pair)
    if pair.tool is None or not samples:
        return None
    name = write_parser_name(pair.tool, None, pair.version, pair.engine)
    for raw in samples:
        output = RawOutput(raw, tools=(_TOOL,), finish_reason="stop")
        if _is_read(await source.parse_with([name], output, streaming=False), name):
            return True
    return False


def _is_read(outcomes: Mapping[str, ParserOutcome], name: str) -> bool:
    calls = [as_object(call.get("function")) for call in outcomes[name].tool_calls]
    return [(call.get("name"), decoded(call.get("arguments"))) for call in calls] == [
        ("get_weather", {"city": "Paris"})
    ]
