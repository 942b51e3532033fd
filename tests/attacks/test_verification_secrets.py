"""What a verification, or a command that failed, leaves behind holds no key of the dataset's or the server's words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.tools.verify import About, Tally, summary_of
from prompt_debugger.core.tools.verify.junit import Suite, write_junit
from prompt_debugger.core.tools.verify.results import write_rows
from prompt_debugger.ui.cli.output import report_error

KEY = "sk-proj-" + "Zq7" * 12
ERROR = BackendError(f"answered 401: Incorrect API key provided: {KEY}", status=401, body=f'{{"error": "{KEY}"}}')


def test_results_of_a_verification_hold_no_key(tmp_path: Path) -> None:
    """They are published; the dataset, or the server, may say a key."""
    request: JSONObject = {
        "messages": [{"role": "user", "content": f"mine is {KEY}"}], "extra_headers": {"X-Team": "blue-17"},
        "api_key": "plain", "max_tokens": 5,
    }  # fmt: skip
    response: JSONObject = {"choices": [{"message": {"content": f"Authorization: Bearer {KEY}"}}]}
    rows: list[JSONObject] = [
        {"data_index": 1, "status": "success", "hash": "17", "request": request, "response": response},
        {"data_index": 2, "status": "failed", "request": {"messages": []}, "response": {"error": ERROR.message}},
    ]

    write_rows(tmp_path / "results.jsonl", rows)
    write_junit(tmp_path / "junit.xml", [Suite("rows", rows, {})])

    text = (tmp_path / "results.jsonl").read_text(encoding="utf-8")
    shown = [json.loads(line) for line in text.splitlines()]
    assert not any(secret in text for secret in (KEY, "blue-17", "plain"))
    assert shown[0]["request"]["max_tokens"] == 5
    assert shown[0]["request"]["messages"][0]["content"].startswith("mine is ")
    assert shown[0]["hash"] == "17"
    assert KEY not in (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert rows[0]["request"] == request


def test_what_ended_a_verification_is_reported_without_a_key() -> None:
    about = About("d.jsonl", "http://127.0.0.1:9/v1", "1/1", 2, 2, ERROR.message, "2026-01-01", 5, ERROR)

    shown = json.dumps(summary_of(Tally(), about))

    assert "Incorrect API key provided" in shown
    assert KEY not in shown


@pytest.mark.parametrize("as_json", [True, False])
def test_why_a_command_could_not_run_is_reported_without_a_key(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    report_error(ERROR, as_json=as_json)

    said = capsys.readouterr()
    assert "Incorrect API key provided" in said.err
    assert KEY not in said.out + said.err
