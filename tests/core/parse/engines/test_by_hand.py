"""What our helper says of another engine's parsers is what they give when they are called by hand."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.parse.engines import WHEELS, bring_wheel, fetch
from tests.warm.labs import ADDRESS, FORKED

pytestmark = pytest.mark.vllm

ROOT = Path(__file__).parents[4]
BY_HAND = Path(__file__).with_name("by_hand.py")


def cases() -> list[JSONObject]:
    """Return the outputs of every family's cases, with the tools that they call."""
    found: list[JSONObject] = []
    for file in sorted((ROOT / "tests" / "cases").glob("*/*/raw.txt")):
        context = file.with_name("context.json")
        tools = json.loads(context.read_text(encoding="utf-8")).get("tools") if context.is_file() else None
        calls = json.loads(file.with_name("parsed.json").read_text(encoding="utf-8"))["calls"]
        names = dict.fromkeys(call["name"] for call in calls if call["name"]) or ("any_tool",)
        called: list[JSON] = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names
        ]
        found.append({"raw": file.read_text(encoding="utf-8"), "tools": tools or called})
    return found + made_outputs()


def made_outputs() -> list[JSONObject]:
    """Return the healthy call of each family in ways that no case has: in text, twice, cut, with marks in its value."""
    tool: JSONObject = {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
        },
    }
    samples = [one.facts.sample for one in FORMATS.values() if one.facts.sample]
    changes: tuple[Callable[[str], str], ...] = (
        str,
        lambda raw: f"Let me see.\n\n{raw}",
        lambda raw: raw + raw,
        lambda raw: raw[: len(raw) * 2 // 3],
        lambda raw: raw.replace("Paris", "São </b> [1] {x} Paulo"),
        lambda raw: raw.replace("Paris", "</tool_call>"),
    )
    return [{"raw": change(raw), "tools": [tool]} for raw in samples for change in changes]


def _warm_environment() -> dict[str, str]:
    """Return the environment in which a process finds our code and is forked from one with PyTorch and transformers."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {"PYTHONPATH": path, ADDRESS: os.environ.get(ADDRESS, ""), **FORKED}


@pytest.mark.parametrize("engine", WHEELS)
def test_every_parser_says_the_same_by_hand_whole_and_by_token(engine: str) -> None:
    try:
        wheel = WHEELS[engine]
        folder = bring_wheel(engine, None) if wheel.comes_with_vllm else fetch(f"{engine}=={wheel.example}")[0]
    except EngineError as error:
        pytest.skip(f"{engine} cannot be had: {error.message}")
    command = [sys.executable, str(BY_HAND), WHEELS[engine].package, str(folder)]
    done = subprocess.run(
        command,
        input=json.dumps(cases()),
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": "", "HOME": str(ROOT), **_warm_environment()},
    )

    assert done.returncode == 0, done.stderr[-2000:]
    compared = json.loads(done.stdout)
    assert compared["differing"] == []
    assert compared["count"] > 400
