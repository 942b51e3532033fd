"""Our counters against K2VV's published definitions, written down once more (`k2vv`), over the same answers."""

import json
import random
from typing import Any

import pytest

from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify import k2vv
from tests.core.tools.verify.counting_server import TOOL, answer, body, call, counting_server
from tests.core.tools.verify.running import Verification

pytestmark = pytest.mark.slow  # a verification of 160 rows


def tool(name: str, parameters: Any) -> Any:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    TOOL,
    tool("empty", {}),
    tool("any", {"properties": {"x": {"type": "integer"}}}),
    tool("draft7", {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}),
    tool("draft4", {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 3, "exclusiveMinimum": True}),
    tool("broken", {"type": "dict"}),
    tool("closed", {"type": "object", "additionalProperties": False, "properties": {"a": {"enum": [1, "1", None]}}}),
    tool("refers", {"$defs": {"n": {"type": "number"}}, "type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}}),
    {"type": "function", "function": {"name": "bare"}},
    tool("Größe", {"type": "object", "required": ["ß"]}),
    tool("ns.get-it", {"type": "object"}),
]
NAMES = [one["function"]["name"] for one in TOOLS] + ["unknown", "", "get_weather "]
ARGUMENTS = [
    "{}", "null", "[]", "[1]", '["1"]', "3", "4", '"x"', "", " ", "{", "{}{}", "{'a': 1}", '{"city": "Paris"}',
    '{"city": null}', '{"city": 5}', '{"x": 1}', '{"x": "1"}', '{"a": 1}', '{"a": "1"}', '{"a": null}', '{"b": 1}',
    '{"n": 1.5}', '{"n": "1"}', '{"ß": 1}', '{"\\u00df": 1}', "NaN", '{"a": 1, "a": 2}', "\n{}\n", "true",
]  # fmt: skip
REASONS = ["tool_calls", "tool_calls", "tool_calls", "tool_calls", "stop", "stop", "length", "content_filter", "odd"]


def make_answers(count: int) -> list[Any]:
    """Return as many answers, no two drawn alike: what a server may say with a good status."""
    chance = random.Random(13)
    made = []
    for _ in range(count):
        calls: Any = [
            call(chance.choice(ARGUMENTS), chance.choice(NAMES)) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))
        ]
        if not calls and chance.random() < 0.5:
            calls = chance.choice(([], None))
        message = {"role": "assistant", "content": chance.choice(("", None, "It is warm.")), "tool_calls": calls}
        made.append(answer(message, chance.choice(REASONS)))
    return made


def make_bodies(count: int) -> list[Any]:
    """Return as many requests: streamed and not, with and without tools, with K2VV's own role."""
    chance = random.Random(31)
    made = []
    for number in range(count):
        fields: Any = {"stream": chance.random() < 0.3, "temperature": chance.choice((0, 0.6, 1)), "tools": TOOLS}
        if chance.random() < 0.1:
            fields["tools"] = chance.choice(([], None, [TOOL]))
        row: Any = body(str(number), **fields)
        if chance.random() < 0.3:
            row["messages"] = [{"role": "_input", "content": "Grüß Gott"}, *row["messages"]]
        made.append(row)
    return made


def refuse_some(server: Any, count: int, *, every: int) -> None:
    server.faults = {str(number): [400] * 9 for number in range(0, count, every)}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The rows of the definitions and of ours, over the same answers, some refused."""
    count = 160
    answers, bodies = make_answers(count), make_bodies(count)
    with counting_server(lambda text: answers[int(text)]) as server:
        refuse_some(server, count, every=23)
        theirs = k2vv.verify_rows(server.base_url, bodies, "m")
        refuse_some(server, count, every=23)
        run = Verification(tmp_path_factory.mktemp("ours"), bodies, ["--model", "m"])
        run.run(server.base_url)
    return theirs, run


def test_the_set_is_varied(both):
    counted = k2vv.count(both[0])

    assert min(value for value in counted.values() if isinstance(value, int)) >= 5
    assert set(counted["named_others"]) == {"length", "content_filter", "odd"}


def test_every_row_says_what_the_definitions_say(both):
    theirs, run = both

    names = ("data_index", "hash", "status", "finish_reason", "tool_calls_valid")
    ours = [{name: row[name] for name in names} for row in run.rows]
    assert ours == theirs


def test_every_counter_is_that_of_the_definitions(both):
    theirs, run = both

    counted = k2vv.count(theirs)
    named = counted.pop("named_others")
    assert {name: run.summary[name] for name in counted} == counted
    assert run.summary["finish_others_detail"] == named


def test_every_refused_row_is_explained(both):
    rows = [row for row in both[1].rows if row["status"] == "failed"]

    assert len(rows) == 7
    assert all("PD100" in row["debugger"]["codes"] for row in rows)


def test_f1_and_its_table_are_those_of_the_rows_that_both_answered(both, tmp_path):
    theirs, run = both
    chance = random.Random(7)
    official = [
        {**row, "finish_reason": chance.choice(REASONS), "status": chance.choice(("success", "success", "failed"))}
        for row in theirs
    ]
    chance.shuffle(official)  # rows belong together by number, not by order
    file = tmp_path / "official.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in official))
    summary = tmp_path / "summary.json"
    files = ["--baseline", str(file), "--output", str(tmp_path / "rows.jsonl"), "--summary", str(summary)]

    main(["verify", "merge", str(run.folder / "results.jsonl"), *files])

    expected = k2vv.f1(theirs, official)
    pairs = json.loads(summary.read_text())["debugger"]["baseline"]
    assert [pairs[name] for name in ("tp", "fp", "fn", "tn")] == [expected[name] for name in ("tp", "fp", "fn", "tn")]
    assert pairs["tool_call_f1"]["value"] == pytest.approx(expected["f1"])
    assert pairs["precision"]["value"] == pytest.approx(expected["precision"])
    assert pairs["recall"]["value"] == pytest.approx(expected["recall"])
