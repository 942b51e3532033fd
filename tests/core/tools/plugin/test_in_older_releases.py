"""The written file inside older vLLM releases, through their servers' own code: nothing is lost, streamed or not.

Those releases do not tell a parser of the end of a stream, forget reasoning that comes in one delta with what follows,
or take a parser's content only where it found calls. The outputs here were each read otherwise in one of them.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.parse.engines import EngineLimits, RawOutput, VllmEngine
from prompt_debugger.core.parse.engines.fetch import find_release
from prompt_debugger.core.tools.plugin.write import write_plugin
from tests.core.tools.plugin.outputs import differences, outputs
from tests.core.tools.plugin.test_in_vllm import PARSER, whole_of
from tests.core.tools.plugin.test_streams import WEATHER

pytestmark = pytest.mark.vllm
NAMES = (
    "apertus/reasoning-text-two-calls",
    "deepseek_v3/reasoning-text-two-calls",
    "functiongemma/text-two-calls",
    "glm45/reasoning-text-two-calls",
    "hermes/answer-with-thinking-closed-by-the-prompt",
    "hermes/thinking-opened-by-the-prompt",
    "around_calls: Kimi, an empty section",
    "around_calls: Kimi, reasoning open in the prompt, then a call",
    "around_calls: Mistral, an empty list",
    "messages: Apriel, reasoning begun by the prompt",
)
OUTPUTS = {name: rest for name, *rest in outputs() if name in NAMES}


@pytest.mark.parametrize("version", ["0.11.0", "0.17.0", "0.26.0"])
async def test_an_older_server_gives_what_the_census_says(version, need_release, tmp_path):
    file = tmp_path / "prompt_debugger_parser.py"
    file.write_text(write_plugin("all"), encoding="utf-8")
    folder = find_release(need_release(version))
    assert folder is not None
    engine = VllmEngine(plugins=[file], overlay=(folder,), limits=EngineLimits(request_s=600.0, parser_s=120.0))
    try:
        found = {name: await _differs(engine, *OUTPUTS[name]) for name in NAMES}
    finally:
        engine.close()

    assert {name: one for name, one in found.items() if one} == {}


async def _differs(engine, family, raw, given):
    """Return in what the message and its stream differ from the census."""
    given = replace(given, tools=given.tools or (WEATHER,))
    more = {"prompt_text": given.prompt_tail or None, "finish_reason": given.finish_reason}
    outcome = (await engine.parse_with([PARSER], RawOutput(raw, tools=given.tools, **more)))[PARSER]
    assert isinstance(outcome, VllmOutcome)
    assert (outcome.error, outcome.log) == (None, ())
    found = differences(whole_of(outcome), raw, family, given)
    return found if outcome.stream_equal else [*found, outcome.first_unequal]
