"""`verify --api all`: rates of each API, paired differences, and which causes differ."""

import json

import pytest

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

    assert "== Messages" in said.out
    assert "1 tool_calls" in said.out


def test_an_api_that_the_server_lacks_fails_its_rows_alone(tmp_path, capsys):
    without = {path: behaviour for path, behaviour in ALIKE.items() if path != "/v1/responses"}

    _, said = verify(tmp_path, capsys, without, "--api", "all", "--json")

    summaries = json.loads(said.out)["apis"]
    assert [summaries[api]["failure_count"] for api in ("chat", "responses", "messages")] == [0, 1, 0]


def test_a_server_that_is_not_there_is_reported_once(tmp_path, capsys):
    data = tmp_path / "rows.jsonl"
    data.write_text(json.dumps(BODY), encoding="utf-8")

    assert main(["verify", str(data), "--endpoint", "http://127.0.0.1:9/v1", "--api", "all"]) == 2
    assert "127.0.0.1:9" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--baseline", "--ray", "--report"])
def test_what_is_for_chat_completions_alone_is_refused(tmp_path, capsys, option):
    status, said = verify(tmp_path, capsys, ALIKE, "--api", "all", option, "x")

    assert status == 2
    assert f"cannot be combined with `{option}`" in said.err
