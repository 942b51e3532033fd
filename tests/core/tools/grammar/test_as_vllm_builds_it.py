"""The grammars are those of vLLM itself: its own builders are run beside ours."""

import json
import os
import subprocess
import sys

import pytest

from prompt_debugger.core.tools.grammar import FAMILIES, LEVELS, Enforcement, enforcement_named, enforcement_of_request
from prompt_debugger.core.tools.grammar.enforcement import plan_grammar
from prompt_debugger.core.tools.grammar.matcher import GrammarMatcher
from tests.core.tools.grammar.outputs import SEARCH, TOOLS, WEATHER, tool
from tests.warm.labs import FORKED

pytestmark = pytest.mark.vllm

_LEVELS = (*(name for name in LEVELS if name != "off"), "forced:mcp-search", "forced:mcp-search+strict")
_REQUESTS = {
    "strict": TOOLS,
    "mixed": [tool("get_weather", WEATHER), tool("mcp-search", SEARCH, strict=None), tool("ping", None, strict=None)],
    "plain": [tool("get_weather", WEATHER, strict=None), tool("mcp-search", SEARCH, strict=False)],
}
_ASK_VLLM = """
import json, sys
from types import SimpleNamespace
import vllm.parser.harmony  # registers its tag
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.tool_parsers.structural_tag_registry import get_model_structural_tag, limit_to_single_tool_call
from vllm.tool_parsers.abstract_tool_parser import ToolParserManager
from vllm.tool_parsers.tool_strict_level import ToolStrictLevel
tags = {}
for key, name, parser, body, level in json.load(sys.stdin):
    kind = ToolParserManager.get_tool_parser(parser)
    assert kind.structural_tag_model == name, (parser, kind.structural_tag_model)
    request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "x"}], **body)
    strict = ToolStrictLevel.from_name(level)
    if strict == ToolStrictLevel.AUTO and kind.default_tool_strict_level is not None:
        strict = kind.default_tool_strict_level
    if request.parallel_tool_calls is False:
        strict = max(strict, ToolStrictLevel.FUNCTION)
    if name == "hy_v4":  # its parser decides before it asks for the tag
        stand_in = SimpleNamespace(structural_tag_model=name, _extractor=SimpleNamespace(token_suffix=""))
        tag = kind.get_structural_tag(stand_in, request, reasoning=False, strict_level=strict)
    else:
        tag = get_model_structural_tag(name, request.tools, request.tool_choice, reasoning=False, strict_level=strict)
    if tag is not None and request.parallel_tool_calls is False:
        limit_to_single_tool_call(tag)
    tags[key] = tag and tag.model_dump()
print("TAGS" + json.dumps(tags))
"""


def _body(tools, level: Enforcement):
    choice = {"type": "function", "function": {"name": level.forced_tool}} if level.forced_tool else level.choice
    return {"tools": tools, "tool_choice": choice, "parallel_tool_calls": level.parallel}


def _plain(node: object) -> object:
    """Drop what says no more than the default."""
    if isinstance(node, list):
        return [_plain(item) for item in node]
    if isinstance(node, dict):
        kept = {key: value if key == "json_schema" else _plain(value) for key, value in node.items()}
        return {key: value for key, value in kept.items() if value is not None and value is not False and value != []}
    return node


@pytest.fixture(scope="module")
def vllm_tags():
    order = [
        [
            f"{family.name}/{case}/{name}",
            family.grammar.structural_tag,
            family.grammar.parser,
            _body(tools, level),
            level.strict_level,
        ]
        for family in FAMILIES.values()
        for case, tools in _REQUESTS.items()
        for name in _LEVELS
        for level in [enforcement_named(name)]
    ]
    environment = os.environ | {"VLLM_TARGET_DEVICE": "cpu", "CUDA_VISIBLE_DEVICES": "", "VLLM_LOGGING_LEVEL": "ERROR"}
    environment |= FORKED
    done = subprocess.run(
        [sys.executable, "-c", _ASK_VLLM],
        input=json.dumps(order),
        text=True,
        capture_output=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.split("TAGS", 1)[1])


@pytest.mark.parametrize("family", FAMILIES.values(), ids=lambda family: family.name)
@pytest.mark.parametrize("case", _REQUESTS)
@pytest.mark.parametrize("level", _LEVELS)
def test_the_structural_tag_is_the_one_that_vllm_builds(engine, vllm_tags, family, case, level):
    plan = plan_grammar(family, _REQUESTS[case], enforcement_named(level))

    ours = None if plan is None else GrammarMatcher(engine, family).tag(plan)

    assert _plain(ours) == _plain(vllm_tags[f"{family.name}/{case}/{level}"])


@pytest.mark.parametrize("name", [name for name in LEVELS if name != "off"])
def test_a_request_reads_as_the_level_that_its_fields_make(name):
    level = LEVELS[name]

    read = enforcement_of_request(_body(TOOLS, level), level.strict_level)

    assert (level.choice, level.strict_level, level.parallel) == (read.choice, read.strict_level, read.parallel)
    assert read.name == name
