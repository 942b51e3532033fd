"""`verify --api all`: rates of each API, paired differences, and which causes differ."""

import json
from xml.etree import ElementTree

import pytest

from prompt_debugger.core.tools.verify import open_stored
from prompt_debugger.ui.cli.main import main
from tests.core.complete.faulty_server import FaultyServer, answer
from tests.core.tools.apis.test_side_by_side import ALIKE, BODY, messages
from tests.threads import in_thread


def verify(tmp_path, capsys, behaviours, *options, rows=(BODY,)):
    data = tmp_path / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = ["--output", str(tmp_path / "out.jsonl"), "--summary", str(tmp_path / "summary.json")]
    with in_thread(FaultyServer("", {**behaviours, "*": answer(404)})) as url:
        status = main(["verify", str(data), "--endpoint", url, *files, *options])
    return status, capsys.readouterr()


def test_answers_that_are_alike_have_the_same_rates_and_no_difference(tmp_path, capsys):
    status, said = verify(tmp_path, capsys, ALIKE, "--api", "all", "--json", rows=(BODY, BODY))
    document = json.loads(said.out)

    assert [document["apis"][api]["finish_tool_calls"] for api in ("chat", "responses", "messages")] == [2, 2, 2]
    assert document["apis"]["messages"]["debugger"]["baseline"]["n_compared"] == 2
    assert [one for one in document["differences"] if one["where"] != "stream"] == []  # this server streams nothing
    assert list(document["rows_that_differ"]) == ["responses", "messages"]
    assert document == json.loads((tmp_path / "summary.json").read_text("ascii"))
    rows = [json.loads(line) for line in (tmp_path / "out-messages.jsonl").read_text("utf-8").splitlines()]
    assert [row["data_index"] for row in rows] == [1, 2]
    assert status in (0, 1)


def test_a_difference_is_counted_by_cause_with_its_rows(tmp_path, capsys):
    others = {**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"})}

    status, said = verify(tmp_path, capsys, others, "--api", "all", "--json", rows=(BODY, BODY))

    (one,) = [one for one in json.loads(said.out)["differences"] if one["where"] == "message"]
    assert (one["between"], one["rows"], one["first_row"], one["cause"]) == (["chat", "messages"], 2, 1, None)
    assert "`content`" in one["example"]
    assert status == 1


def test_one_api_alone_is_asked(tmp_path, capsys):
    _, said = verify(tmp_path, capsys, {"/v1/messages": messages()}, "--api", "messages")

    assert "1 tool_calls" in said.out
    summary = json.loads((tmp_path / "summary.json").read_text("ascii"))
    assert summary["debugger"]["api"] == "messages"
    (row,) = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text("utf-8").splitlines()]
    assert row["response"]["choices"][0]["finish_reason"] == "tool_calls"


def test_an_api_that_the_server_lacks_fails_its_rows_alone(tmp_path, capsys):
    without = {path: behaviour for path, behaviour in ALIKE.items() if path != "/v1/responses"}

    _, said = verify(tmp_path, capsys, without, "--api", "all", "--json")

    summaries = json.loads(said.out)["apis"]
    assert [summaries[api]["failure_count"] for api in ("chat", "responses", "messages")] == [0, 1, 0]


def test_a_server_that_is_not_there_is_reported_once(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(BODY), encoding="utf-8")

    files = ["--output", str(tmp_path / "out.jsonl"), "--summary", str(tmp_path / "summary.json"), "--outage", "0"]

    assert main(["verify", str(data), "--endpoint", "http://127.0.0.1:9/v1", "--api", "all", *files]) == 2
    assert "127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--baseline", "--baseline-endpoint"])
def test_a_second_thing_to_compare_with_is_refused(tmp_path, capsys, option):
    status, said = verify(tmp_path, capsys, ALIKE, "--api", "all", option, "x")

    assert status == 2
    assert f"cannot be combined with `{option}`" in said.err


def test_what_was_answered_is_not_asked_again_by_any_api(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(BODY) + "\n" + json.dumps(BODY) + "\n", encoding="utf-8")
    server = FaultyServer("", {**ALIKE, "*": answer(404)})
    command = ["verify", str(data), "--output", str(tmp_path / "out.jsonl"), "--summary", str(tmp_path / "s.json")]

    with in_thread(server) as url:
        main([*command, "--endpoint", url, "--api", "all", "--limit", "1"])
        asked = asks(server)
        main([*command, "--endpoint", url, "--api", "all"])

    assert asked == {"/v1/chat/completions": 1, "/v1/responses": 1, "/v1/messages": 1}
    assert asks(server) == {"/v1/chat/completions": 2, "/v1/responses": 2, "/v1/messages": 2}


def asks(server):
    paths = [one.path for one in server.received]
    return {path: paths.count(path) for path in ALIKE}


def test_the_journal_of_other_apis_is_refused(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(BODY), encoding="utf-8")
    with in_thread(FaultyServer("", {**ALIKE, "*": answer(404)})) as url:
        command = ["verify", str(data), "--endpoint", url, "--output", str(tmp_path / "out.jsonl")]
        command += ["--summary", str(tmp_path / "s.json")]
        main(command)

        assert main([*command, "--api", "all"]) == 2
    assert "belongs to another verification" in capsys.readouterr().err


def test_a_gate_triggers_by_the_figures_of_any_api(tmp_path, capsys):
    others = {**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"})}
    junit = tmp_path / "junit.xml"

    status, said = verify(
        tmp_path, capsys, others, "--api", "all", "--json", "--fail-if", "rows_that_differ > 0", "--junit", str(junit)
    )

    summaries = json.loads(said.out)["apis"]
    held = {api: summary["debugger"]["gates"]["rows_that_differ > 0"] for api, summary in summaries.items()}
    assert held == {"chat": False, "responses": False, "messages": True}
    assert status == 1
    suites = ElementTree.parse(junit).getroot().findall("testsuite")
    assert [len(suite.findall("testcase/failure")) for suite in suites] == [0, 0, 1]
    assert [suite.get("name", "").rpartition(" by ")[2] for suite in suites[1:]] == ["Responses", "Messages"]


def test_a_gate_that_does_not_trigger_passes_although_answers_differ(tmp_path, capsys):
    others = {**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"})}

    status, _ = verify(tmp_path, capsys, others, "--api", "all", "--fail-if", "failure_count > 0")

    assert status == 0


def test_the_report_has_a_page_of_each_api_and_one_of_what_differs(tmp_path, capsys):
    others = {**ALIKE, "/v1/messages": messages({"type": "text", "text": "<b>Well</b>"})}

    verify(tmp_path, capsys, others, "--api", "all", "--report", str(tmp_path / "report"))

    page = (tmp_path / "report" / "index.html").read_text("utf-8")
    assert '<a href="messages/index.html">Messages</a>: 1 answered' in page
    assert "not explained" in page
    assert "&lt;b&gt;Well" in page
    assert "<b>Well" not in page
    for api in ("chat", "responses", "messages"):
        assert "against http" in (tmp_path / "report" / api / "index.html").read_text("utf-8")


def test_a_row_of_an_api_is_shown_as_its_run(tmp_path, capsys):
    verify(tmp_path, capsys, ALIKE, "--api", "all")

    main(["verify", "row", "1", "--journal", str(tmp_path / "out.sqlite"), "--api", "messages", "--json"])

    run = json.loads(capsys.readouterr().out)
    assert run["api"] == "messages"
    assert run["sent_native"]["tools"][0]["input_schema"] == {"type": "object", "properties": {}}


def test_the_sides_of_a_journal_are_called_by_their_apis(tmp_path, capsys):
    verify(tmp_path, capsys, ALIKE, "--api", "all")

    opened = open_stored(str(tmp_path / "out.sqlite"))

    assert [one.name.partition(", ")[2] for one in opened] == ["chat completions", "Responses", "Messages"]


def test_a_row_that_is_a_body_of_an_api_goes_out_to_it_as_it_is(tmp_path, capsys):
    block = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    native = {"model": "m", "max_tokens": 9, "system": "S", "messages": [{"role": "user", "content": [block]}]}
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(native) + "\n" + json.dumps({"body": native}) + "\n", encoding="utf-8")
    server = FaultyServer("", {**ALIKE, "*": answer(404)})
    with in_thread(server) as url:
        files = ["--output", str(tmp_path / "out.jsonl"), "--summary", str(tmp_path / "summary.json")]
        main(["verify", str(data), "--endpoint", url, "--api", "messages", "--max-tokens", "7", *files])

    sent = [one.json for one in server.received if one.path == "/v1/messages"]
    assert sent == [{**native, "max_tokens": 7}] * 2


def test_the_limit_of_a_responses_row_is_set_by_its_own_name(tmp_path, capsys):
    native = {"model": "m", "input": "hi", "max_output_tokens": 9}
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(native), encoding="utf-8")
    server = FaultyServer("", {**ALIKE, "*": answer(404)})
    with in_thread(server) as url:
        files = ["--output", str(tmp_path / "out.jsonl"), "--summary", str(tmp_path / "summary.json")]
        main(["verify", str(data), "--endpoint", url, "--api", "responses", "--max-tokens", "7", *files])

    (sent,) = [one.json for one in server.received if one.path == "/v1/responses"]
    assert (sent["max_output_tokens"], "max_tokens" in sent) == (7, False)
