"""Templates that print no calls of the history: judged by what their tool instructions teach, and by their markers."""

import pytest

from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.render.traced_render import run_job
from prompt_debugger.core.tools.check import Checker, Wanted
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.recommend import family_of
from prompt_debugger.core.tools.check.run import write_answers
from prompt_debugger.core.tools.check.taught import add_taught_calls
from tests.core.tools.check.templates import HERMES, changed

LOOP = HERMES[HERMES.index("{%- for call") : HERMES.index("{% endfor %}<|im_end|>") + len("{% endfor %}")]
SILENT = changed(HERMES, LOOP, "")
TEACHING = changed(
    SILENT,
    "{{ tools | tojson }}",
    "{{ tools | tojson }}\nAnswer each call within these tags:\n"
    '<tool_call>\n{"name": <function-name>, "arguments": <args-json-object>}\n</tool_call>',
)
LISTING = changed(SILENT, "{{ tools | tojson }}", "<|tool_list_start|>{{ tools | tojson }}<|tool_list_end|>")


def written(template):
    model = CheckedModel("ours", template)
    ideals, notation = add_taught_calls(write_answers(model, is_thorough=False, renderer=run_job)[1], model)
    return {ideal.answer.name: ideal for ideal in ideals}, notation


def test_calls_are_written_as_the_instructions_teach():
    ideals, notation = written(TEACHING)
    printed, _ = written(HERMES)

    assert ideals["two-calls"].raw.strip() == printed["two-calls"].raw.strip()
    assert ideals["text-and-call"].raw.strip() == printed["text-and-call"].raw.strip()
    assert all("calls" not in ideal.lost for ideal in ideals.values())
    assert family_of(ideals.values()) == "hermes"
    assert "teach `<tool_call> {" in notation.evidence
    assert "That is inferred" in notation.evidence


def test_python_calls_are_written_where_a_marker_of_theirs_is_known():
    ideals, notation = written(LISTING)

    raw = ideals["null"].raw
    assert raw.startswith("<|tool_call_start|>[")
    assert raw.rstrip().endswith(")]<|tool_call_end|><|im_end|>")
    assert "None" in raw
    assert family_of(ideals.values()) == "lfm2"
    assert "`<|tool_list_start|>` in the template is a marker of LFM2" in notation.evidence


def test_a_list_of_tools_named_as_lfm25_does_teaches_its_python_calls():
    named = changed(SILENT, "{{ tools | tojson }}", "List of tools: {{ tools | tojson }}")
    ideals, notation = written(named)

    assert ideals["null"].raw.startswith("<|tool_call_start|>[")
    assert "is how LFM2.5 names tools" in notation.evidence
    assert "That is inferred" in notation.evidence
    assert written(changed(named, "List of tools: ", "These are tools: "))[1] is None


@pytest.mark.parametrize(
    "template",
    [
        HERMES,  # it prints its calls
        SILENT,  # nothing shows how they are written
        changed(TEACHING, "\n</tool_call>", "\n</other>"),
        changed(TEACHING, '"arguments": <args-json-object>', "the arguments"),
    ],
)
def test_nothing_is_written_where_nothing_teaches_it(template):
    ideals, notation = written(template)
    model = CheckedModel("ours", template)

    assert notation is None
    assert tuple(ideals.values()) == write_answers(model, is_thorough=False, renderer=run_job)[1]


@pytest.mark.vllm
async def test_what_is_taught_is_recommended_and_said_to_be_inferred(engine: VllmEngine):
    check = await Checker([engine]).check(CheckedModel("ours", TEACHING), Wanted(("hermes",)))

    assert check.recommendation.tool_parser == "hermes"
    assert "That is inferred" in check.recommendation.reasons[0]
    assert any(finding.code == "PD801" for finding in check.findings)


@pytest.mark.vllm
async def test_where_nothing_shows_how_calls_are_written_no_parser_is_judged(engine: VllmEngine):
    untold = changed(SILENT, "{{ tools | tojson }}", "")
    shown = await Checker([engine]).check(CheckedModel("ours", SILENT), Wanted(("hermes",)))
    check = await Checker([engine]).check(CheckedModel("ours", untold), Wanted(("hermes",)))

    assert shown.recommendation.verdict == check.recommendation.verdict == "unknown"
    assert "so no parser was judged" in check.recommendation.reasons[0]
    assert any("does not print the tools of a request" in reason for reason in check.recommendation.reasons)
    assert not any("does not print the tools of a request" in reason for reason in shown.recommendation.reasons)
