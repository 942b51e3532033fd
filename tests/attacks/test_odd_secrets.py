"""Keys that are written oddly are in nothing that leaves the machine: files, links, captures, results, logs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import ChatResult, Completion
from prompt_debugger.core.report.redact import redact_text
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.verify.results import write_rows
from prompt_debugger.ui.cli.output import report_error
from prompt_debugger.ui.report import link_state
from tests.attacks.growth import grows_linearly
from tests.attacks.test_secrets import forms_of, run_of
from tests.core.report.written_secrets import LIKE, ODD, shows
from tests.core.tools.capture.test_record import record

GROUPS = [dict(list(ODD.items())[start : start + 12]) for start in range(0, len(ODD), 12)]


@pytest.mark.parametrize("group", GROUPS)
def test_none_of_a_message_or_an_answer_leaves_the_machine(group: dict[str, str]) -> None:
    text = "\n---\n".join(group.values())
    body = {"model": "m", "messages": [{"role": "user", "content": text}], "tools": []}
    trace = run_of(read_request(json.dumps(body)))
    answered = replace(trace, raw=Completion(text, None, "stop"), chat=ChatResult({"content": text}, "stop"))
    state, _ = link_state(json.dumps(body), {})
    written = {"link": json.dumps(state, ensure_ascii=False), **forms_of(answered)}

    assert [(form, name) for form, shown in written.items() for name in group if shows(shown)] == []


def test_none_is_captured() -> None:
    for name, odd in ODD.items():
        body = {"model": "m", "messages": [{"role": "user", "content": odd}]}
        excerpt = {"answered": f"<html>{odd}</html>".encode(), "content_type": "text/html"}

        for text, _ in (record(body), record(**excerpt)):  # type: ignore[arg-type]
            assert not shows(json.dumps(json.loads(text), ensure_ascii=False)), name


def test_none_is_in_results(tmp_path: Path) -> None:
    rows = [{"data_index": n, "request": {"messages": [{"content": t}]}} for n, t in enumerate(ODD.values())]
    write_rows(tmp_path / "rows.jsonl", rows)  # type: ignore[arg-type]

    for line in (tmp_path / "rows.jsonl").read_text().splitlines():
        assert not shows(json.dumps(json.loads(line), ensure_ascii=False))


def test_none_is_in_the_words_of_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    for name, odd in ODD.items():
        report_error(BackendError("the server said no", body=odd), as_json=True)

        said = capsys.readouterr()
        assert not shows(json.dumps(json.loads(said.out), ensure_ascii=False) + said.err), name


def test_what_only_looks_like_one_is_captured_as_it_is() -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": text} for text in LIKE]}

    _, written = record(body)

    assert written["request"] == body


FLOODS = (
    "a\n", 'a"+"', "%41", "a\u200b", "\uff41", "bearer \n", "http://a:b@", "https://h/key/", "sk-a1\n", "eyJabcdefgh\n",
    " \n", "1 \n> ", "wandb login ", "\"'", "a\\n", "sk-a_", "-----BEGIN PRIVATE KEY-----x-----END PRIVATE KEY-----",
    "-----END PRIVATE KEY-----", "%2", "\u200b", "c2stcHJv", "c2stcHJv" * 8 + "\n", "6162", "\\u0061", "&#x61;", "a ",
    "api_key | ", "api_key", "token: a1", "name: A_KEY\n value: ", "<password>a", "host=a b=c ",
    "a\tTRUE\t/\tTRUE\t1\ta\t",
    "a_tok_", "MaaaaaaaaaaaaaaaaaaaaaaaA.", "$2b$", "=3D=\n", "\x1b[1m", "password is ",
    "Passwort ", "Passwort ist ", "密码是", "Bearer {'", "bearer%s", "a:5432:", "*:5432:a:b:", "x-a-auth-", "x-auth: ",
    "A_PASS: '", "pass = ", "psk='", "cmdkey /pass:", "sip:a:", "{SHA}", "my password is 'a1",
)  # fmt: skip


@pytest.mark.parametrize("unit", FLOODS)
def test_looking_for_them_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: redact_text(unit * size), first=2_000)
