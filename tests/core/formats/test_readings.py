"""Raw outputs whose right reading is written down: what models really write, one line each.

tests/readings/*.yml    name, raw, and what it is read as: content, reasoning, calls (name, arguments, status);
                        also format, tail, finish, tools (name → key → type) or schema (name → properties)
"""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.formats import FORMATS, pick_format
from tests.conftest import ROOT
from tests.core.formats.scenarios import Written, written
from tests.yaml_files import read_yaml

READINGS = [
    (path.stem, reading) for path in sorted((ROOT / "tests" / "readings").glob("*.yml")) for reading in read_yaml(path)
]
IDS = [f"{forkserver}: {reading['name']}" for forkserver, reading in READINGS]
WRITTEN: dict[str, list[Written]] = {}
# Nested values have no types of their own there; a tag without a line break is Qwen's as well.
_UNTYPED = {("minimax_m3", "nested values"), ("minimax_m3", "all types"), ("mimo", "code with indents")}
for _case in written():
    if (_case.format, _case.scenario.title) not in _UNTYPED:
        WRITTEN.setdefault(_case.format, []).append(_case)


def context_of(reading):
    schemas = {
        name: {key: {"type": kind} for key, kind in keys.items()} for name, keys in reading.get("tools", {}).items()
    }
    schemas |= reading.get("schema", {})
    tools = tuple(
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in schemas.items()
    )
    return ReadContext(tools, reading.get("tail", ""), reading.get("finish"))


def reading_of(parsed):
    calls = [(call.name, call.arguments_json, str(call.status)) for call in parsed.calls]
    return {"content": parsed.content, "reasoning": parsed.reasoning, "calls": calls}


def expected(reading):
    calls = [(name, given, *(rest or ["complete"])) for name, given, *rest in reading.get("calls", [])]
    return {"content": reading.get("content"), "reasoning": reading.get("reasoning"), "calls": calls}


@pytest.mark.parametrize("reading", [reading for _, reading in READINGS], ids=IDS)
@pytest.mark.parametrize("detected", [False, True], ids=["named", "detected"])
def test_an_output_is_read_as_it_is_meant(reading, detected):
    context = context_of(reading)
    named = FORMATS.get(reading.get("format", ""))
    reader = pick_format(reading["raw"], context) if detected or named is None else named

    parsed = reader.read(reading["raw"], context)

    assert expected(reading) == reading_of(parsed)


@pytest.mark.parametrize("family", WRITTEN)
@pytest.mark.parametrize("detected", [False, True], ids=["named", "detected"])
def test_each_scenario_is_read_back_exactly(family, detected):
    meant, read = {}, {}
    for case in WRITTEN[family]:
        scenario, context = case.scenario, ReadContext(case.tools)
        reader = pick_format(case.raw, context) if detected else FORMATS[family]

        parsed = reader.read(case.raw, context)

        calls = [(name, dict(given)) for name, given in scenario.calls]
        meant[scenario.title] = (scenario.content or None, scenario.reasoning, calls)
        calls = [(call.name, call.arguments_json) for call in parsed.calls]
        read[scenario.title] = (parsed.content, parsed.reasoning, calls)
    assert read == meant
