"""Each known defect of the published verifiers as a case in which ours differs, by its name."""

from typing import Any, NamedTuple

import pytest
from tokenizers import Tokenizer

from tests.conftest import ROOT
from tests.core.tools.verify import k2vv
from tests.core.tools.verify.counting_server import answer, body, call, counting_server
from tests.core.tools.verify.running import Verification

LAB = ROOT / "assets" / "lab-model"
BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
PARIS = '{"city": "Paris"}'
INSIDE = f'{{"city": "a {END} b"}}'
NOTHING = answer({"role": "assistant", "content": ""}, "stop")


def written(call_id: str, arguments: str = PARIS, *, end: str = "<|tool_call_end|>") -> str:
    return f"<|tool_call_begin|>{call_id}<|tool_call_argument_begin|>{arguments}{end}"


class Defect(NamedTuple):
    """What a model wrote.

    Attributes:
        raw: The text.
        theirs: Names of the calls that K2VV's raw mode finds.
        ours: Names of those that were written.
    """

    raw: str
    theirs: list[str]
    ours: list[str]


DEFECTS = {
    "a hyphen in a name drops the call": Defect(
        f"{BEGIN}{written('functions.get-weather:0')}{END}", [], ["get-weather"]
    ),
    "a dotted name loses its end": Defect(f"{BEGIN}{written('functions.ns.get:0')}{END}", ["ns"], ["ns.get"]),
    "an id without the prefix `functions.` drops the call": Defect(
        f"{BEGIN}{written('get_weather:0')}{END}", [], ["get_weather"]
    ),
    "only the first section is read": Defect(
        f"{BEGIN}{written('functions.get_weather:0')}{END}And:{BEGIN}{written('functions.search:1')}{END}",
        ["get_weather"],
        ["get_weather", "search"],
    ),
    "a section without its end drops all calls": Defect(
        f"{BEGIN}{written('functions.get_weather:0')}", [], ["get_weather"]
    ),
    "a call without its end drops all calls": Defect(
        f"{BEGIN}{written('functions.get_weather:0', end='')}{END}", [], ["get_weather"]
    ),
    "an end marker inside a string drops all calls": Defect(
        f"{BEGIN}{written('functions.get_weather:0', INSIDE)}{END}", [], ["get_weather"]
    ),
}


def answer_of_ids(raw: str) -> Any:
    """An answer whose message holds nothing, with the ids of what was written."""
    tokenizer = Tokenizer.from_file(str(LAB / "tokenizer.json"))
    document: Any = {**NOTHING, "choices": [dict(NOTHING["choices"][0])]}  # type: ignore[index,arg-type]
    document["prompt_token_ids"] = tokenizer.encode("hello", add_special_tokens=False).ids
    ids = tokenizer.encode(f"{raw}<|im_end|>", add_special_tokens=False).ids
    document["choices"][0]["token_ids"] = ids
    n_prompt = len(document["prompt_token_ids"])
    document["usage"] = {"prompt_tokens": n_prompt, "completion_tokens": len(ids), "total_tokens": n_prompt + len(ids)}
    return document


@pytest.mark.parametrize("name", DEFECTS)
def test_calls_that_raw_extraction_misses_are_counted_as_written(tmp_path, name):
    raw, theirs, ours = DEFECTS[name]
    with counting_server(lambda _: answer_of_ids(raw)) as server:
        run = Verification(tmp_path / "run", [body("call")], ["--tokenizer", str(LAB)])
        run.run(server.base_url)

    own = run.rows[0]["debugger"]
    assert [found for found, _ in k2vv.extract_calls(raw)] == theirs
    assert (own["written"], own["dropped"], sorted(own["tools"])) == (len(ours), len(ours), sorted(ours))


def test_calls_are_extracted_from_whole_answers_too_not_in_streams_alone(tmp_path):
    raw = f"{BEGIN}{written('functions.get_weather:0')}{END}"
    with counting_server(lambda _: answer_of_ids(raw)) as server:
        run = Verification(tmp_path / "run", [body("call", stream=False)], ["--tokenizer", str(LAB)])
        run.run(server.base_url)

    assert run.rows[0]["debugger"]["written"] == 1


def test_a_call_left_in_the_content_under_stop_is_flagged_and_one_that_is_quoted_is_not(tmp_path):
    leaked = f"{BEGIN}{written('functions.get_weather:0')}{END}"
    contents = {"leaked": leaked, "quoted": f"The format is `{leaked}`, I think.", "prose": "It is warm."}
    with counting_server(lambda text: answer({"role": "assistant", "content": contents[text]}, "stop")) as server:
        bodies = [body(text) for text in contents]
        theirs = k2vv.verify_rows(server.base_url, bodies, "m")
        run = Verification(tmp_path / "run", bodies)
        run.run(server.base_url)

    assert [row["tool_calls_valid"] for row in theirs] == [None, None, None]
    assert [row["debugger"]["leaked"] for row in run.rows] == [1, 0, 0]


def test_the_usage_of_a_stream_is_counted_though_its_chunk_has_no_choices(tmp_path):
    with counting_server() as server:
        run = Verification(tmp_path / "run", [body("say", stream=True)])
        run.run(server.base_url)

    assert run.summary["usage"] == {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}


def test_template_kwargs_reach_the_raw_render(tmp_path):
    template = tmp_path / "template.jinja"
    template.write_text("{{ messages[0].content }}|{{ thinking }}|{{ effort }}")
    with counting_server() as server:
        server.raw = lambda _: "It is warm."
        kwargs = {"thinking": True, "effort": "high"}
        run = Verification(
            tmp_path / "run",
            [body("say", temperature=0, chat_template_kwargs=kwargs)],
            ["--chat-template", str(template)],
        )
        run.run(server.base_url)

    assert server.prompts == ["say|True|high"]


def test_retries_bound_the_attempts_also_when_the_server_has_too_much(tmp_path):
    with counting_server() as server:
        server.faults = {"say": [429] * 9}
        run = Verification(tmp_path / "run", [body("say")], ["--retries", "2"])
        run.run(server.base_url)

    assert server.asked["say"] == 3
    assert run.rows[0]["status"] == "failed"


def test_no_calls_among_finished_calls_is_null_not_a_division_by_zero(tmp_path):
    with counting_server() as server:
        run = Verification(tmp_path / "run", [body("say")])
        run.run(server.base_url)

    assert run.summary["debugger"]["rates"]["schema_accuracy"] == {"value": None, "low": None, "high": None, "n": 0}


def test_an_error_inside_a_stream_is_tried_again(tmp_path):
    broken = [True, False]

    def respond(text: str) -> Any:
        document = answer({"role": "assistant", "content": None, "tool_calls": [call()]}, "tool_calls")
        return {**document, "stream_error": "out of memory"} if broken.pop(0) else document

    with counting_server(respond) as server:
        run = Verification(tmp_path / "run", [body("call", stream=True)])
        run.run(server.base_url)

    row = run.rows[0]
    assert (row["status"], row["debugger"]["attempts"], row["tool_calls_valid"]) == ("success", 2, True)


@pytest.mark.parametrize("field", ["reasoning", "reasoning_content"])
@pytest.mark.parametrize("stream", [False, True])
def test_an_answer_that_only_reasons_is_counted_under_either_name_streamed_or_not(tmp_path, field, stream):
    with counting_server(lambda _: answer({"role": "assistant", "content": "", field: "Hm."}, "stop")) as server:
        run = Verification(tmp_path / "run", [{**body("say", stream=stream), "check_type": ["tool_calls"]}])
        run.run(server.base_url)

    assert run.summary["debugger"]["minimax"]["error_only_reasoning_rate"]["value"] == 1.0
