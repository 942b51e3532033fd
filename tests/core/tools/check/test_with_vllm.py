"""Checks with the parsers of a real vLLM, in one warm helper."""

from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.tools.check import CheckedModel, Checker, Wanted, check_to_json
from tests.core.tools.check.templates import HARMONY, HERMES, changed

pytestmark = pytest.mark.vllm

PLUGIN = Path(__file__).parent / "plugins" / "half_deaf.py"
REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"


async def test_one_parser_alone_on_a_template_without_reasoning_works_without_limits(engine):
    model = CheckedModel("ours", changed(HERMES, REASONING, ""))

    check = await Checker([engine]).check(model, Wanted(("hermes",)))

    assert (check.recommendation.verdict, check.recommendation.tool_parser) == ("works", "hermes")
    assert set(check.cells) == {"vllm:hermes"}
    assert all(cell.streamed for cell in check.cells["vllm:hermes"].values())


async def test_a_parser_for_another_family_works_for_nothing(engine):
    check = await Checker([engine]).check(CheckedModel("ours", changed(HERMES, REASONING, "")), Wanted(("kimi_k2",)))

    assert check.recommendation.verdict == "unknown"  # the vocabulary was approximate
    assert check.cells["vllm:kimi_k2"]["one-call"].problem.startswith("0 of 1 call come back (they are left in")


async def test_harmony_s_parsers_have_its_vocabulary_for_a_template_alone(engine):
    wanted = Wanted(("openai",), "openai_gptoss")

    check = await Checker([engine]).check(CheckedModel("ours", HARMONY), wanted)

    assert (check.recommendation.verdict, check.recommendation.name) == ("works", "vllm:openai+openai_gptoss")
    assert check.has_vocabulary


async def test_the_streaming_bug_of_a_parser_file_is_found_with_its_smallest_chunking(engine):
    names = await engine.plugin_parsers([PLUGIN])
    model = CheckedModel("ours", changed(HERMES, REASONING, ""))

    check = await Checker([engine]).check(model, Wanted(names, parser_file="half_deaf.py"))

    document = check_to_json(check)
    row = document["parsers"]["vllm:half_deaf"]["cells"]
    assert names == ("half_deaf",)
    assert check.recommendation.verdict == "works-with-limits"
    assert "--tool-parser-plugin half_deaf.py" in document["recommended"]["command"]
    assert {"two-calls", "same-tool-twice"} <= {answer for answer, cell in row.items() if cell["streamed"] is False}
    assert row["one-call"]["streamed"] is True
    assert len(row["two-calls"]["split"]) == 1  # both calls in one delta


async def test_a_parser_file_that_cannot_be_imported_is_reported(engine, tmp_path):
    broken = tmp_path / "broken.py"
    broken.write_text("import nothing_of_that_name\n")

    with pytest.raises(EngineError, match="nothing_of_that_name"):
        await engine.plugin_parsers([broken])

    assert (await engine.plugin_parsers([PLUGIN])) == ("half_deaf",)  # the helper goes on
