"""What a model may mean, from which every family's renderer makes a raw output whose right reading is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from prompt_debugger.core.base.types import JSONObject
from tests import strategies
from tests.core.formats.renderers import RENDERERS, Call

WEATHER = {"city": "Beijing", "days": 3}
CODE = "def f(x):\n    if x:\n        return [1, 2]\n\n    return {}\n"


@dataclass(frozen=True)
class Scenario:
    """One message, whatever family writes it.

    Attributes:
        title: What is special about it.
        reasoning: `None` for none.
        content: "" for none.
        calls: Names and arguments.
    """

    title: str
    reasoning: str | None = None
    content: str = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True)
class Written:
    """A scenario as a family writes it.

    Attributes:
        format: The family.
        scenario: What was meant.
        raw: The raw output.
        tools: Tools whose schemas fit.
    """

    format: str
    scenario: Scenario
    raw: str
    tools: tuple[JSONObject, ...]


SCENARIOS = (
    Scenario("answer", content="It is sunny in Beijing."),
    Scenario("answer of several lines", content="First line.\n\n- a\n- b\n\nLast line."),
    Scenario("reasoned answer", "They ask about the weather.\nI know it.", "It is sunny."),
    Scenario("call", calls=(("get_weather", WEATHER),)),
    Scenario("text and call", content="Let me check.", calls=(("get_weather", WEATHER),)),
    Scenario("reasoning and call", "I need the tool.", calls=(("get_weather", WEATHER),)),
    Scenario("all three", "I need the tool.", "Let me check.", (("get_weather", WEATHER),)),
    Scenario("two calls", calls=(("get_weather", WEATHER), ("search", {"query": "x", "limit": 2}))),
    Scenario("the same tool three times", calls=tuple(("search", {"query": q}) for q in ("a", "b", "c"))),
    Scenario("no arguments", calls=(("ping", {}),)),
    Scenario("no arguments, then some", calls=(("ping", {}), ("get_weather", WEATHER))),
    Scenario("unicode", content="好的。", calls=(("search", {"query": "北京 é 🌦 \u200d"}),)),
    Scenario("quotes and backslashes", calls=(("search", {"query": 'say "hi" \\ C:\\new it\'s'}),)),
    Scenario("code with indents", calls=(("write", {"path": "a.py", "text": CODE}),)),
    Scenario("leading and trailing spaces", calls=(("write", {"path": "a", "text": "  two  "}),)),
    Scenario("braces in a string", calls=(("search", {"query": "}} ]) {[ <b>"}),)),
    Scenario("nested values", calls=(("order", {"items": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}], "to": {}}),)),
    Scenario(
        "all types", calls=(("set", {"s": "1", "i": 1, "f": 1.5, "t": True, "n": None, "l": [1], "o": {"a": 1}}),)
    ),
    Scenario("text that looks like other types", calls=(("set", {"a": "true", "b": "10", "c": "null", "d": "[1]"}),)),
    Scenario("empty string", calls=(("search", {"query": ""}),)),
    Scenario("tags in a string", calls=(("search", {"query": "a <br> b </p> c"}),)),
    Scenario("long text", calls=(("write", {"path": "a", "text": "The quick brown fox. " * 500}),)),
)


def written(names: tuple[str, ...] = ()) -> Iterator[Written]:
    """Yield every scenario as every family (or those named) writes it, where it can."""
    for name in names or sorted(RENDERERS):
        renderer = RENDERERS[name]
        for scenario in SCENARIOS:
            if scenario.reasoning is not None and not renderer.has_reasoning:
                continue
            if renderer.one_call and len(scenario.calls) > 1:
                continue
            tools = tuple(
                {tool: strategies.tool_for(tool, dict(given)) for tool, given in scenario.calls}.values()
            ) or (strategies.tool_for("get_weather", WEATHER),)
            raw = renderer.render(scenario.reasoning, scenario.content, scenario.calls)
            yield Written(name, scenario, raw, tools)
