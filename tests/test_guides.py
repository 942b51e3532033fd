"""The tutorial and the guides: every link leads somewhere, every name exists, the tutorial's story is a real run's."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import prompt_debugger
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject, Span
from prompt_debugger.core.diagnose import RULES, index_rules
from prompt_debugger.core.formats import FORMATS, TABLES, TextFormat
from prompt_debugger.core.pipeline.recordings import load_recording
from prompt_debugger.core.tools.fixes.try_fixes import fixed_message
from tests.conftest import ROOT

GUIDES = sorted((ROOT / "docs" / "guides").glob("*.md"))
TUTORIAL = ROOT / "docs" / "tutorial" / "README.md"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SENTENCES = re.findall(r"^> (.+)$", TUTORIAL.read_text(encoding="utf-8"), re.M)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_to_a_file(page) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if "://" not in target and "`" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_names_findings_that_exist(page) -> None:
    names = {rule.name for rule in RULES.values()}
    for name in re.findall(r"\*([a-z]+(?:-[a-z]+)+)\*", page.read_text(encoding="utf-8")):
        assert name in names, name


@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_a_guide_names_files_that_exist(page) -> None:
    for name in re.findall(r"`((?:core|tests|docs|ui)/[\w./]+)`", page.read_text(encoding="utf-8")):
        assert (ROOT / name).exists() or "NAME" in name or "CODE" in name, name


def defined_names(path: Path) -> set[str]:
    """Return the functions and classes of a file, methods as `Class.method`."""
    defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, defining):
            names |= {node.name, *(f"{node.name}.{one.name}" for one in node.body if isinstance(one, defining))}
    return names


def test_the_functions_of_a_run_are_where_the_walk_says() -> None:
    page = (ROOT / "docs" / "start-to-finish.md").read_text(encoding="utf-8")
    stages = page.split("\n## ")
    named = [re.findall(r"([\w/]+\.py):([\w.]+\w)", stage) for stage in stages]

    assert len(stages) == 7
    assert all(named), "each stage names the functions that do it"
    gone = [f"{file}:{name}" for stage in named for file, name in stage if name not in defined_names(ROOT / file)]
    assert gone == [], "say in docs/start-to-finish.md where this is done now"


def test_the_family_of_the_guide_reads_its_output() -> None:
    block = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "guides" / "extend.md").read_text("utf-8"), re.S)
    assert block is not None
    names: dict[str, object] = {}
    exec(block[1], names)
    family = names["FORMAT"]
    assert isinstance(family, TextFormat)

    call = '<|lantern_call|>{"name": "f", "arguments": {"a": 1}}<|/lantern_call|>'
    message = family.read(f"{call}Done.<|lantern_end|>", ReadContext())

    assert [(call.name, call.arguments_json) for call in message.calls] == [("f", {"a": 1})]
    assert message.content == "Done."
    assert isinstance(names["_END"], str)
    assert names["_END"] in {mark.text for mark in family.marks}, "an end token is one of the marks"
    known = {mark.text for one in FORMATS.values() for mark in one.marks}
    assert not {mark.text for mark in family.marks} & known, "it takes outputs from no family"
    parsers = {name for of_format in TABLES.tool_parsers.values() for name in of_format}
    assert set(family.facts.tool_parsers) <= parsers, (
        "the suite refuses a family that names a parser vLLM does not have"
    )


def test_each_reader_of_the_guide_finds_the_call() -> None:
    page = (ROOT / "docs" / "guides" / "extend.md").read_text("utf-8")
    block = next(one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "READERS = {" in one)
    names: dict[str, Any] = {}
    exec(block, names)

    found = {raw: reader.scan(raw, Span(0, len(raw)), ReadContext()).calls for raw, reader in names["READERS"].items()}

    assert len(found) == 6
    for raw, calls in found.items():
        assert [call.name for call in calls] == ["f"], raw
        assert calls[0].arguments_json in ({"a": 1}, {"a": "1"}), raw


def test_each_fix_of_the_guide_makes_its_change() -> None:
    page = (ROOT / "docs" / "guides" / "extend.md").read_text("utf-8")
    block = next(one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "FIXES = (" in one)
    names: dict[str, Any] = {}
    exec(block, names)
    rule = index_rules({"example": names["RULE"]})["PD598"]
    recording = load_recording("polluted-content")
    assert recording is not None
    trace = recording.trace
    finding = next(one for one in trace.findings if one.code == "PD205")

    made: list[Any] = [fix.change(trace, finding) for fix in rule.fixes]

    assert [fix.kind for fix in rule.fixes] == ["request", "request", "template", "flags", "client", "plugin"]
    assert [None if change is None else change.kind for change in made][:3] == ["request", "request", "template"]
    assert made[0].body["seed"] == 7
    assert made[1].body["stream"] is False
    assert "message['content'] | trim" in made[2].template
    assert fixed_message(made[4].source, {"content": " x "}) == {"content": "x"}


def _drop_generation_prompt_switch(body: dict[str, Any]) -> None:
    del body["add_generation_prompt"]


def _write_null(body: dict[str, Any]) -> None:
    body["messages"][2]["content"] = None


def _number_ids(body: dict[str, Any]) -> None:
    body["messages"][2]["tool_calls"][0]["id"] = "functions.search:0"
    body["messages"][3]["tool_call_id"] = "functions.search:0"


FIXES: list[Callable[[dict[str, Any]], None]] = [_drop_generation_prompt_switch, _write_null, _number_ids]


@pytest.mark.lab
def test_each_fix_of_the_tutorial_gives_the_verdict_that_it_tells(lab_url: str) -> None:
    body = json.loads((TUTORIAL.parent / "request.json").read_text(encoding="utf-8"))
    shown = []
    for fix in (None, *FIXES):
        if fix is not None:
            fix(body)
        trace = prompt_debugger.run(body, lab_url)
        assert trace.verdict is not None
        shown.append(trace.verdict.sentence)

    assert len(SENTENCES) == len(shown)
    for sentence, verdict in zip(SENTENCES, shown, strict=True):
        assert verdict.startswith(sentence)


def test_the_tool_of_the_guide_measures_a_request() -> None:
    page = (ROOT / "docs" / "guides" / "extend.md").read_text("utf-8")
    blocks = [one for one in re.findall(r"```python\n(.*?)```", page, re.S) if "Lengths" in one or "lengths" in one]
    names: dict[str, Any] = {}
    exec(blocks[0], names)
    body: JSONObject = {"messages": [{"role": "user", "content": "Hi"}, {"role": "tool"}]}

    assert len(blocks) == 2
    assert names["measure"](body).to_json() == {"characters": [2, 0]}
    compile(blocks[1], "ui/cli/lengths.py", "exec")
