"""A dataset from recorded requests: what is read, what is folded, what is kept."""

import json

import pytest

from prompt_debugger.core.base.types import Request, Trace
from prompt_debugger.core.report import write_bundle
from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify.counting_server import TOOL, answer, body, call


def chat(text, **fields):
    return {**body(text), **fields}


def har(*bodies):
    def entry(sent):
        text = json.dumps(answer({"role": "assistant", "tool_calls": [call()]}, "tool_calls"))
        return {
            "startedDateTime": "2026-01-01T00:00:00Z",
            "request": {
                "method": "POST", "url": "http://localhost/v1/chat/completions", "headers": [],
                "postData": {"mimeType": "application/json", "text": json.dumps(sent)},
            },
            "response": {"status": 200, "headers": [], "content": {"mimeType": "application/json", "text": text}},
        }  # fmt: skip

    return json.dumps({"log": {"version": "1.2", "entries": [entry(sent) for sent in bodies]}})


@pytest.fixture
def make(tmp_path, capsys):
    """Makes a dataset of texts; gives its bodies and what was said."""

    def run(**texts):
        files = []
        for name, text in texts.items():
            files.append(tmp_path / name.replace("_", "."))
            files[-1].write_text(text)
        output = tmp_path / "out" / "made.jsonl"
        status = main(["verify", "--make-dataset", str(output), *map(str, files), "--json"])
        said = capsys.readouterr()
        made = [json.loads(line) for line in output.read_text().splitlines()] if output.exists() else []
        return status, made, json.loads(said.out), said.err

    return run


def test_every_exchange_of_a_har_is_a_row(make):
    first, second = chat("Where is Paris?"), chat("Where is Rome?")

    status, made, said, _ = make(a_har=har(first, second))

    assert (status, made) == (0, [first, second])
    assert (said["requests"], said["rows"], said["folded"], said["left_out"]) == (2, 2, 0, 0)


def test_a_saved_run_and_lines_of_json_are_read_next_to_each_other(make):
    saved, one, two = chat("saved"), chat("one"), chat("two")
    bundle = write_bundle(Trace(request=Request(saved, json.dumps(saved))))
    lines = "\n".join(json.dumps(line) for line in (one, {"custom_id": "a", "body": two}, {"other": 1}))

    _, made, said, err = make(run_json=bundle, log_jsonl=lines + "\n")

    assert made == [saved, one, two]
    assert said["left_out"] == 1
    assert "line 3" in err


NEAR = {
    "a number": ("Where is order 17?", "Where is order 4711?"),
    "an id": (
        "See 0b9f1c5e-6f1a-4c3f-9f60-0d6c2b0a7b11.", "See 7a9f1c5e-6f1a-4c3f-9f60-0d6c2b0a7bff."
    ),
    "whitespace and case": ("Where  is\nParis?", "where is paris?"),
}  # fmt: skip


@pytest.mark.parametrize("difference", NEAR)
def test_near_duplicates_are_folded(make, difference):
    first, second = (chat(text) for text in NEAR[difference])

    _, made, said, _ = make(a_har=har(first, second))

    assert made == [first]
    assert said["folded"] == 1


OTHER_TOOL = {**TOOL, "function": {**TOOL["function"], "name": "search"}}  # type: ignore[dict-item]
FAR = {
    "a word": chat("Where is Rome?"),
    "a tool": chat("Where is Paris?", tools=[OTHER_TOOL]),
    "a parameter": chat("Where is Paris?", temperature=0.6),
    "streaming": chat("Where is Paris?", stream=True),
    "a role": {**chat("Where is Paris?"), "messages": [{"role": "system", "content": "Where is Paris?"}]},
}


@pytest.mark.parametrize("difference", FAR)
def test_what_may_show_another_fault_is_kept(make, difference):
    _, made, said, _ = make(a_har=har(chat("Where is Paris?"), FAR[difference]))

    assert len(made) == 2
    assert said["folded"] == 0


def test_files_without_a_request_are_refused(make):
    status, made, said, _ = make(a_txt="It is warm.")

    assert (status, made) == (2, [])
    assert "error" in said
