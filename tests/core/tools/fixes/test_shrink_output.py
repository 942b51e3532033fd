"""Shrinking a raw output for a parser: small, and still read wrongly in the same way."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest

from prompt_debugger.core.api import parse
from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.types import ParserOutcome
from prompt_debugger.core.tools.fixes.shrink_output import shrink_output
from prompt_debugger.core.tools.fixes.trial import Runner, try_test
from tests.conftest import ROOT
from tests.core.tools.plugin.test_streams import WEATHER, kimi_call
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

PROSE = "I will look at the weather now.\nIt may take a while: there are many places.\n"
SEARCH = {"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}


def long_output():
    """Prose, and a call whose header has no number: vLLM's own parser drops it."""
    return PROSE + kimi_call('{"city": "Paris", "days": 3}').replace("functions.get_weather:0", "get_weather")


def reader_that_drops(needle, calls=0):
    """A parser that gives no call of any output that holds a text, and every call of others."""
    asked = []

    def read(case):
        asked.append(case["raw"])
        held = parse(case["raw"], tools=case["tools"], format="kimi_k2", message={"role": "assistant", "content": ""})
        lost = (
            held.parse if needle in case["raw"] else replace(held.parse, ledger=replace(held.parse.ledger, matches=()))
        )
        return replace(lost, parsers={"mine": ParserOutcome(None, None, ())})

    return read, asked


async def test_what_has_no_part_in_the_fault_goes():
    read, asked = reader_that_drops("get_weather")

    shrunk = await shrink_output({"raw": long_output(), "tools": [WEATHER, SEARCH]}, "mine", read)

    assert (shrunk.fault, shrunk.call) == ("dropped", "get_weather")
    assert PROSE not in shrunk.raw
    assert shrunk.tools == (WEATHER,)
    assert len(shrunk.raw) * 3 < len(long_output())
    assert shrunk.size[1] < shrunk.size[0]
    assert shrunk.steps < len(set(asked)) + 5 < 600


async def test_an_output_that_is_read_as_it_should_is_not_shrunk():
    read, _ = reader_that_drops("nowhere in it")

    with pytest.raises(RequestError, match="correctly"):
        await shrink_output({"raw": long_output(), "tools": []}, "mine", read)


@pytest.mark.vllm
def test_the_command_shrinks_what_vllms_parser_drops_to_a_test_that_fails_there(tmp_path):
    raw, tools, test = tmp_path / "raw.txt", tmp_path / "tools.json", tmp_path / "test_smallest.py"
    raw.write_text(long_output(), encoding="utf-8")
    tools.write_text(json.dumps([WEATHER, SEARCH]), encoding="utf-8")
    options = ["--raw", str(raw), "--tools", str(tools), "--parser", "vllm:kimi_k2", "--json"]
    command = [sys.executable, "app.py", "shrink", *options]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment()
    )

    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert (document["fault"], document["call"]) == ("dropped", "get_weather")
    assert document["size"][1] < document["size"][0]
    test.write_text(document["test"], encoding="utf-8")
    assert try_test(test, Runner(vllm_python(), "vllm")).fails is True
