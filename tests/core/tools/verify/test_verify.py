"""Whole verifications against a server that fails, hangs up and is left: rows, counters, what is asked and what not."""

import json
import signal
from collections import Counter
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.report.wire import trace_from_json
from prompt_debugger.core.tools.verify import Journal
from prompt_debugger.ui.cli.main import main
from scripts.json_schemas import json_schema_of
from tests.core.tools.verify.counting_server import answer, body, call, counting_server
from tests.core.tools.verify.running import Verification

TEXTS = ["call 0", "say 1", "call 2", "say 3"]


@pytest.fixture
def server():
    with counting_server() as running:
        yield running


def verification(tmp_path, texts=TEXTS, *options, **fields):
    return Verification(tmp_path / "run", [body(text, **fields) for text in texts], list(options))


def test_rows_and_summary_have_k2vvs_names_and_ours_under_one_key(server, tmp_path):
    run = verification(tmp_path)

    status = run.run(server.base_url)

    assert status == 0
    row = run.rows[0]
    assert list(row) == [
        "data_index", "request", "extra_body", "response", "status", "finish_reason", "tool_calls_valid",
        "last_run_at", "duration_ms", "hash", "debugger",
    ]  # fmt: skip
    assert (row["data_index"], row["status"], row["finish_reason"]) == (1, "success", "tool_calls")
    assert row["tool_calls_valid"] is True
    assert row["response"]["choices"][0]["message"]["tool_calls"] == [call()]
    assert list(run.summary) == [
        "model", "success_count", "failure_count", "finish_stop", "finish_tool_calls", "finish_others",
        "finish_others_detail", "schema_validation_error_count", "successful_tool_call_count", "usage",
        "eval_started_at", "eval_finished_at", "eval_duration_ms", "debugger",
    ]  # fmt: skip
    assert [run.summary[name] for name in ("finish_stop", "finish_tool_calls", "successful_tool_call_count")] == [2] * 3
    assert run.summary["usage"] == {"prompt_tokens": 20, "completion_tokens": 12, "total_tokens": 32}


def test_rows_and_summary_keep_to_their_schemas(server, tmp_path):
    run = verification(tmp_path)
    run.bodies += ["{broken"]
    run.__post_init__()

    run.run(server.base_url)

    for name, documents in (("verify-row", run.rows), ("verify", [run.summary])):
        validator = Draft202012Validator(json_schema_of(name))
        assert [error.message for document in documents for error in validator.iter_errors(document)] == []


@pytest.mark.parametrize("stream", [False, True])
def test_a_stream_counts_as_the_whole_answer_does(server, tmp_path, stream):
    run = verification(tmp_path, stream=stream)

    run.run(server.base_url)

    summary = run.summary
    assert (summary["finish_tool_calls"], summary["successful_tool_call_count"]) == (2, 2)
    assert summary["usage"]["total_tokens"] == 32
    assert all(("stream_options" in sent) == stream for sent in server.bodies)


CALLS = {
    "valid": ([call()], True),
    "no list at all": ([], False),
    "an unknown tool": ([call(name="get_wether")], False),
    "arguments that are no JSON": ([call("{")], False),
    "arguments against the schema": ([call('{"town": 1}')], False),
    "one of two": ([call(), call("{}")], False),
}


@pytest.mark.parametrize("case", CALLS)
def test_calls_are_valid_by_the_published_definition(tmp_path, case):
    calls, is_valid = CALLS[case]
    with counting_server(lambda _: answer({"role": "assistant", "tool_calls": calls}, "tool_calls")) as server:
        run = verification(tmp_path, ["call"])
        run.run(server.base_url)

    assert run.rows[0]["tool_calls_valid"] is is_valid
    assert run.summary["schema_validation_error_count"] == (not is_valid)


def test_validity_is_not_said_of_an_answer_that_did_not_finish_with_calls(tmp_path):
    with counting_server(lambda _: answer({"role": "assistant", "tool_calls": [call("{")]}, "stop")) as server:
        run = verification(tmp_path, ["call"])
        run.run(server.base_url)

    assert run.rows[0]["tool_calls_valid"] is None
    assert run.summary["schema_validation_error_count"] == 0


def test_nothing_is_reported_of_loss_where_the_raw_output_is_not_known(server, tmp_path):
    run = verification(tmp_path)

    run.run(server.base_url)

    own = run.summary["debugger"]
    assert run.rows[0]["debugger"]["dropped"] is None
    assert own["rates"]["dropped_rate"] == {"value": None, "low": None, "high": None, "n": 0}
    assert (own["compared"], own["evidence"]) == (0, {"none": 4})


def test_a_call_left_in_the_text_is_a_leak_and_a_fault(tmp_path):
    text = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
    quoted = f"Write `{text}` to call."
    contents = {"leak": text, "quote": quoted, "say": "It is warm."}
    with counting_server(lambda asked: answer({"role": "assistant", "content": contents[asked]}, "stop")) as server:
        run = verification(tmp_path, ["leak", "quote", "say"])
        status = run.run(server.base_url)

    assert [row["debugger"]["leaked"] for row in run.rows] == [1, 0, 0]
    assert ["PD426" in row["debugger"]["codes"] for row in run.rows] == [True, False, False]
    assert run.summary["debugger"]["by_stage"] == {"parse": 1}
    assert run.summary["debugger"]["rates"]["leaked_rate"]["n"] == 3
    assert status == 1


def test_failures_that_pass_are_tried_again_and_counted(server, tmp_path):
    server.faults = {"call 0": [503, 0], "say 1": [500]}
    run = verification(tmp_path)

    run.run(server.base_url)

    own = run.summary["debugger"]
    assert [row["debugger"]["attempts"] for row in run.rows] == [3, 2, 1, 1]
    assert (run.summary["success_count"], own["attempts"], own["first_attempt_success"]) == (4, 7, 2)
    assert own["rates"]["first_attempt_success_rate"]["value"] == 0.5


def test_retries_are_bounded_and_the_row_is_kept_as_failed(server, tmp_path):
    server.faults = {"say 1": [500] * 9}
    run = verification(tmp_path, TEXTS, "--retries", "2")

    status = run.run(server.base_url)

    failed = run.rows[1]
    assert (failed["status"], failed["finish_reason"], failed["tool_calls_valid"]) == ("failed", None, None)
    assert "500" in failed["response"]["error"]
    assert server.asked["say 1"] == 3
    assert (run.summary["failure_count"], status) == (1, 1)


def test_the_same_command_asks_again_only_for_what_failed(server, tmp_path):
    server.faults = {"say 1": [500] * 2}
    run = verification(tmp_path, TEXTS, "--retries", "1")
    run.run(server.base_url)

    status = run.run(server.base_url)

    assert Counter(server.asked) == {"call 0": 1, "say 1": 3, "call 2": 1, "say 3": 1}
    assert (status, run.summary["failure_count"]) == (0, 0)
    assert run.rows[1]["debugger"]["attempts"] == 3


def test_a_word_against_the_request_is_not_tried_again(server, tmp_path):
    server.faults = {"say 1": [413]}
    run = verification(tmp_path)

    run.run(server.base_url)

    assert server.asked["say 1"] == 1
    assert run.rows[1]["status"] == "failed"


def test_a_refused_row_says_why_and_keeps_its_run(server, tmp_path):
    server.faults = {"call 2": [400] * 9, "say 3": [500] * 4}
    run = verification(tmp_path)

    run.run(server.base_url)

    refused, given_up = run.rows[2], run.rows[3]
    assert (refused["status"], refused["response"]["error"]) == (
        "failed", "the server refused it with status 400: fault 400"
    )  # fmt: skip
    assert refused["debugger"]["codes"] == refused["debugger"]["errors"] == ["PD100"]
    assert refused["debugger"]["stage"] == "request"
    assert given_up["debugger"]["codes"] == []
    assert run.summary["debugger"]["by_code"] == {"PD100": 1}
    assert run.summary["debugger"]["by_stage"] == {"request": 1}
    assert run.summary["debugger"]["rates"]["fault_rate"]["n"] == 2
    with Journal(run.folder / "results.sqlite") as journal:
        document = journal.trace(0, 3)
    assert document is not None
    assert trace_from_json(document).refusal == Refusal(400, "fault 400")


def test_what_the_request_has_wrong_is_named_with_its_refusal(server, tmp_path):
    server.faults = {"call": [400] * 9}
    wrong = {"type": "function", "function": {"name": "f", "parameters": {"type": "dict", "properties": {}}}}
    run = Verification(tmp_path / "run", [body("call", tools=[wrong])])

    run.run(server.base_url)

    assert run.rows[0]["debugger"]["codes"] == ["PD100", "PD101"]


def test_a_refused_row_is_asked_again_by_the_next_session(server, tmp_path):
    server.faults = {"call 2": [400] * 9}
    run = verification(tmp_path)
    run.run(server.base_url)
    server.faults = {}

    status = run.run(server.base_url)

    assert (status, run.rows[2]["status"], run.rows[2]["debugger"]["codes"]) == (0, "success", [])
    assert [server.answered[text] for text in TEXTS] == [1, 1, 1, 1]


def test_a_wrong_key_ends_it_and_no_row_is_given_up(server, tmp_path, capsys):
    server.faults = {"call 0": [401]}
    run = verification(tmp_path, TEXTS, "--concurrency", "1")

    status = run.run(server.base_url)

    assert status == 2
    assert "401" in capsys.readouterr().err
    assert run.summary["failure_count"] == 0
    assert run.summary["debugger"]["remaining"] == 4


def test_a_pause_that_the_server_asks_for_is_kept(server, tmp_path):
    server.faults = {"call 0": [429]}
    server.fault_headers = {"retry-after": "1"}
    run = verification(tmp_path, ["call 0"], "--backoff", "0")

    run.run(server.base_url)

    assert run.summary["debugger"]["attempts"] == 2
    assert run.summary["eval_duration_ms"] >= 1000


def test_a_bad_line_is_a_failed_row(server, tmp_path):
    run = Verification(tmp_path / "run", [body("say 0"), "{broken"])

    run.run(server.base_url)

    assert [row["status"] for row in run.rows] == ["success", "failed"]
    assert run.rows[1]["response"]["error"].startswith("line 2: ")


def test_a_changed_request_is_asked_anew(server, tmp_path):
    run = verification(tmp_path)
    run.run(server.base_url)
    changed = verification(tmp_path, ["call 0", "say 1", "call changed", "say 3"])

    changed.run(server.base_url)

    assert server.asked == {"call 0": 1, "say 1": 1, "call 2": 1, "say 3": 1, "call changed": 1}
    assert len(changed.rows) == 4


def test_a_journal_of_another_server_is_refused(server, tmp_path, capsys):
    run = verification(tmp_path)
    run.run(server.base_url)

    with counting_server() as other:
        refused = run.run(other.base_url)
        anew = run.run(other.base_url, "--fresh")

    assert (refused, anew) == (2, 0)
    assert "another verification" in capsys.readouterr().err
    assert other.asked.total() == 4


def test_an_address_that_was_mistyped_can_be_corrected(server, tmp_path, capsys):
    run = verification(tmp_path)

    mistyped = run.run("http://127.0.0.1:1/v1")
    corrected = run.run(server.base_url)

    assert (mistyped, corrected) == (2, 0)
    assert "no connection" in capsys.readouterr().err


def test_a_dataset_that_is_not_there_leaves_nothing(server, tmp_path, capsys):
    run = verification(tmp_path)
    run.dataset.unlink()

    status = run.run(server.base_url)

    assert status == 2
    assert "There is no dataset" in capsys.readouterr().err
    assert list(run.folder.iterdir()) == []


@pytest.mark.parametrize("spelling", ["--use_raw_completions", "--use-raw-completions"])
def test_the_options_of_k2vv_are_read(server, tmp_path, spelling):
    run = verification(tmp_path, TEXTS, "--incremental", spelling, "--extra-body", '{"top_p": 0.9}')

    status = main([*run.arguments, "--base-url", server.base_url])

    assert status == 0
    assert all(sent["top_p"] == 0.9 for sent in server.bodies)


def test_no_more_is_asked_than_the_budget_has(server, tmp_path):
    run = verification(tmp_path, TEXTS, "--budget-requests", "2", "--concurrency", "1")

    run.run(server.base_url)
    left = run.summary["debugger"]["remaining"], server.asked.total()
    run.run(server.base_url)

    assert left == (2, 2)
    assert run.summary["debugger"]["remaining"] == 0
    assert max(server.asked.values()) == 1


@pytest.mark.slow
def test_no_more_is_under_way_than_asked_for(server, tmp_path):
    texts = [f"say {number}" for number in range(24)]
    run = verification(tmp_path, texts, "--concurrency", "3")
    server.let_answer(0)
    process = run.start(server.base_url)
    for answered in range(len(texts) - 2):  # one by one, so that one too many would be seen beside those that wait
        server.wait_until_asked(answered + 3)
        server.let_answer(answered + 1)
    server.let_answer(None)

    run.finish(process)

    assert server.most_at_once == 3


def test_json_prints_the_summary_and_nothing_else(server, tmp_path, capsys):
    run = verification(tmp_path)

    run.run(server.base_url, "--json")

    assert json.loads(capsys.readouterr().out) == run.summary


def test_labels_of_minimax_are_counted(server, tmp_path):
    labels = [{"expected_tool_call": True}, {"expected_tool_call": True}, {}, {"expected_tool_call": False}]
    bodies = [{**body(text), "check_type": ["tool_calls"], **more} for text, more in zip(TEXTS, labels, strict=True)]
    run = Verification(tmp_path / "run", bodies)

    run.run(server.base_url)

    rates = run.summary["debugger"]["minimax"]
    assert (rates["tool_calls_match_rate"]["value"], rates["tool_calls_match_rate"]["n"]) == (2 / 3, 3)
    assert not any("check_type" in sent for sent in server.bodies)


def test_gates_decide_the_exit_status(server, tmp_path):
    server.faults = {"say 1": [413]}
    run = verification(tmp_path)

    fails = run.run(server.base_url, "--fail-if", "failure_count > 0", "--fail-if", "dropped_rate > 0")
    server.faults = {"say 1": [413]}
    passes = run.run(server.base_url, "--fail-if", "failure_count > 1")

    assert (fails, passes) == (1, 0)
    assert run.summary["debugger"]["gates"] == {"failure_count > 1": False}


def test_a_gate_that_names_nothing_is_refused_before_anything_is_asked(server, tmp_path, capsys):
    status = verification(tmp_path).run(server.base_url, "--fail-if", "droped_rate > 1%")

    assert (status, server.asked.total()) == (2, 0)
    assert "dropped_rate" in capsys.readouterr().err


@pytest.mark.slow
def test_official_results_give_the_paired_figures(server, tmp_path):
    official = tmp_path / "official.jsonl"
    reasons = ["tool_calls", "tool_calls", "stop", "stop"]
    official.write_text("".join(
        json.dumps({"data_index": i, "status": "success", "finish_reason": reason}) + "\n"
        for i, reason in enumerate(reasons, 1)
    ))  # fmt: skip
    run = verification(tmp_path)

    run.run(server.base_url, "--baseline", str(official))

    pairs = run.summary["debugger"]["baseline"]
    assert [pairs[name] for name in ("tp", "fp", "fn", "tn")] == [1, 1, 1, 1]
    assert pairs["source"] == "official.jsonl"


def test_a_second_server_is_asked_the_same_and_compared_with(server, tmp_path):
    with counting_server(lambda _: answer({"role": "assistant", "content": "No."}, "stop")) as other:
        run = verification(tmp_path)
        run.run(server.base_url, "--baseline-endpoint", other.base_url)

    pairs = run.summary["debugger"]["baseline"]
    assert [pairs[name] for name in ("tp", "fp", "fn", "tn")] == [0, 2, 0, 2]
    assert server.asked == other.asked == dict.fromkeys(TEXTS, 1)
    assert len((tmp_path / "run" / "results-baseline.jsonl").read_text().splitlines()) == 4


def test_junit_names_the_rows_that_failed(server, tmp_path):
    server.faults = {"say 1": [413]}
    run = verification(tmp_path)
    file = tmp_path / "junit.xml"

    run.run(server.base_url, "--junit", str(file), "--fail-if", "failure_count > 0")

    suite = ElementTree.parse(file).getroot()[0]
    problems = {case.get("name"): [child.tag for child in case] for case in suite}
    assert problems == {
        "row 1": [], "row 2": ["error"], "row 3": [], "row 4": [], "failure_count > 0": ["failure"]
    }  # fmt: skip


def test_shards_put_together_are_the_whole(server, tmp_path):
    whole = verification(tmp_path / "a")
    whole.run(server.base_url)
    results = []
    for number in (1, 2):
        part = Verification(tmp_path / f"part{number}", whole.bodies, ["--shard", f"{number}/2"])
        part.run(server.base_url)
        results.append(str(part.folder / "results.jsonl"))
    merged = Verification(tmp_path / "merged", [])

    status = main(["verify", "merge", *results, *merged.arguments[2:]])

    assert status == 0
    assert [row["data_index"] for row in merged.rows] == [1, 2, 3, 4]
    both = (whole.summary, merged.summary)
    assert len({summary["successful_tool_call_count"] for summary in both}) == 1
    assert both[0]["debugger"]["rates"] == both[1]["debugger"]["rates"]


@pytest.mark.slow
def test_killed_twice_no_row_is_lost_and_none_is_asked_again_after_its_answer(server, tmp_path):
    texts = [f"call {number}" for number in range(20)]
    run = verification(tmp_path, texts, "--concurrency", "2")
    in_flight: Counter[str] = Counter()
    for answered in (5, 14):
        # With two places, two questions beyond the answered ones mean that those stand in the journal.
        server.let_answer(answered)
        process = run.start(server.base_url, is_cold=True)
        server.wait_until_asked(answered + 2)
        process.kill()
        run.finish(process)
        in_flight.update(sent["messages"][-1]["content"] for sent in server.bodies[answered : answered + 2])
    server.let_answer(None)

    status, _, errors = run.finish(run.start(server.base_url))

    assert status == 0, errors
    assert [row["data_index"] for row in run.rows] == list(range(1, 21))
    assert all(row["status"] == "success" for row in run.rows)
    assert Counter(server.asked) == Counter(texts) + in_flight
    assert run.summary["debugger"]["first_attempt_success"] == 20


@pytest.mark.slow
def test_an_interrupt_leaves_a_valid_summary_and_the_rest_for_the_next_time(server, tmp_path):
    texts = [f"call {number}" for number in range(12)]
    run = verification(tmp_path, texts, "--concurrency", "2")
    server.let_answer(4)
    process = run.start(server.base_url)
    server.wait_until_asked(6)
    process.send_signal(signal.SIGINT)
    status, _, errors = run.finish(process)
    stopped = run.summary
    server.let_answer(None)

    again, _, _ = run.finish(run.start(server.base_url))

    assert status == 130
    assert "Stopping" in errors
    assert (stopped["success_count"], stopped["debugger"]["remaining"]) == (4, 8)
    assert stopped["debugger"]["stopped"] == "interrupted"
    assert (again, run.summary["success_count"]) == (0, 12)


@pytest.mark.slow
def test_a_termination_waits_for_nothing_and_loses_nothing(server, tmp_path):
    """Anyone who sends SIGTERM wants an end at once; what was answered is in the journal."""
    texts = [f"call {number}" for number in range(12)]
    run = verification(tmp_path, texts, "--concurrency", "2")
    server.let_answer(4)
    process = run.start(server.base_url)
    server.wait_until_asked(6)
    process.send_signal(signal.SIGTERM)
    status, _, errors = run.finish(process)
    server.let_answer(None)

    again, _, _ = run.finish(run.start(server.base_url))

    assert status == 130
    assert "Stopping at once" in errors
    assert (again, run.summary["success_count"]) == (0, 12)
    assert max(Counter(server.asked).values()) <= 2


@pytest.mark.slow
def test_a_server_that_is_down_for_a_while_is_waited_for(tmp_path):
    with counting_server() as first:
        port = first.server_address[1]
        run = verification(tmp_path, TEXTS, "--concurrency", "1", "--retries", "0")
        first.let_answer(2)
        process = run.start(first.base_url)
        first.wait_until_asked(3)
        first.shutdown()
        first.server_close()
    with counting_server(port=port) as second:
        status, _, errors = run.finish(process)

    assert status == 0, errors
    assert run.summary["success_count"] == 4
    assert first.asked + second.asked == Counter(TEXTS)


@pytest.mark.slow
def test_a_server_that_stays_away_ends_it(tmp_path):
    with counting_server() as server:
        run = verification(tmp_path, TEXTS, "--concurrency", "1", "--outage", "0.1")
        server.let_answer(1)
        process = run.start(server.base_url)
        server.wait_until_asked(2)
        server.shutdown()
        server.server_close()
    status, _, errors = run.finish(process)

    assert status == 2
    assert "no connection" in errors
    assert run.summary["debugger"]["remaining"] == 2
    assert run.summary["failure_count"] == 0
