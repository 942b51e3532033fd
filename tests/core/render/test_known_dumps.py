"""A serialised value of the request is taken apart once; its spans are those that taking it apart again gives."""

from __future__ import annotations

from datetime import datetime

import pytest

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, Variable
from prompt_debugger.core.render.trace import rows
from prompt_debugger.core.render.trace.shelf import Shelf
from prompt_debugger.core.render.traced_render import run_job
from tests.core.render.shapes import SHAPES

NOW = datetime(2025, 1, 2, 3, 4, 5)
TEMPLATES = (
    "{{ tools | tojson }}{{ tools | tojson }}",
    "<tools>{% for tool in tools %}\n{{ tool | tojson(indent=2) }}{% endfor %}</tools>{{ messages }}",
    "{{ tools | tojson(ensure_ascii=True, sort_keys=True) }}{{ (tools | tojson)[3:] }}{{ tools }}",
    "{% set all = tools | tojson %}{{ all | replace('name', 'title') }}{{ all }}{{ messages | tojson | upper }}",
    "{% for m in messages %}{{ m | tojson(separators=(',', ':')) }}{{ m }}{% endfor %}{{ messages | pprint }}",
)


def render(template: str, tools: JSON, messages: JSON = None) -> RenderOutcome:
    variables = (Variable("messages", messages or [], ("messages",)), Variable("tools", tools, ("tools",)))
    return run_job(RenderJob(template, variables), now=NOW)


def tool(number: JSON, text: str = "What it is: 'a' \"b\" é\n") -> JSON:
    return {"type": "function", "function": {"name": "f", "description": text * 20, "parameters": {"maximum": number}}}


@pytest.fixture
def forgetful(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Start with nothing known."""
    monkeypatch.setattr(rows, "_KNOWN", Shelf[tuple[str, rows._Found]](10_000_000))
    return monkeypatch


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_spans_are_those_of_taking_it_apart(template: str, forgetful: pytest.MonkeyPatch) -> None:
    shapes = [(body.get("tools") or [tool(1)], body.get("messages")) for body in SHAPES.values()]
    first, again = ([render(template, *shape) for shape in shapes] for _ in range(2))
    forgetful.setattr(rows, "_is_long_dump", lambda _: False)
    apart = [render(template, *shape) for shape in shapes]

    assert first == apart
    assert again == apart
    assert any(outcome.spans for outcome in apart)


def test_values_that_are_equal_in_python_are_not_the_same_in_json(forgetful: pytest.MonkeyPatch) -> None:
    odd: list[JSON] = [tool(1), tool(1.0), tool(True), tool(None), {"b": 1, "a": "x" * 300}, {"a": "x" * 300, "b": 1}]
    known = [render("{{ tools | tojson }}", [one]) for one in odd]
    forgetful.setattr(rows, "_is_long_dump", lambda _: False)

    assert known == [render("{{ tools | tojson }}", [one]) for one in odd]


def test_a_value_elsewhere_in_the_request_has_its_own_fields(forgetful: pytest.MonkeyPatch) -> None:
    del forgetful
    fields = [
        {span.field for span in render("{% for one in tools %}{{ one | tojson }}{% endfor %}", tools).spans}
        for tools in ([tool(1)], [tool(2), tool(1)])
    ]

    assert {"tools[0].function.parameters.maximum", "tools[1].function.parameters.maximum"} <= fields[1] - {None}
    assert "tools[1]" not in "".join(field or "" for field in fields[0])


def test_a_shelf_keeps_what_was_asked_for_last() -> None:
    shelf = Shelf[str](10)
    for key in "abcd":
        shelf.keep(key, key.upper(), 2)
    assert shelf.get("a") == "A"
    shelf.keep("e", "E", 2)
    shelf.keep("f", "F", 2)  # one too many

    assert [shelf.get(key) for key in "abcdef"] == ["A", None, "C", "D", "E", "F"]


def test_a_shelf_does_not_keep_what_is_too_heavy_and_counts_a_value_once() -> None:
    shelf = Shelf[str](10)
    shelf.keep("big", "x", 3)
    for _ in range(20):
        shelf.keep("a", "A", 2)
    shelf.keep("b", "B", 2)

    assert (shelf.get("big"), shelf.get("a"), shelf.get("b")) == (None, "A", "B")
