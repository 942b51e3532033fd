"""One row of a verification, opened again from the journal."""

import json
import re
import shlex
from html import unescape

import pytest

from prompt_debugger.core.report import read_bundle
from prompt_debugger.ui.cli.main import main
from tests.core.tools.verify.counting_server import answer, body, counting_server
from tests.core.tools.verify.running import Verification

LEAK = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Three rows: one as it has to be, one with its call in the text, one refused; and one that is no request."""
    contents = {"say": "It is warm.", "leak": LEAK}
    with counting_server(lambda text: answer({"role": "assistant", "content": contents[text]}, "stop")) as server:
        server.faults = {"refused": [400] * 9}
        made = Verification(tmp_path_factory.mktemp("rows"), [body("say"), body("leak"), body("refused"), "{broken"])
        made.run(server.base_url)
    return made


def show(run, *more):
    return main(["verify", "row", *more, "--output", str(run.folder / "results.jsonl")])


@pytest.mark.parametrize(("number", "status", "code"), [(1, 0, None), (2, 1, "PD426"), (3, 1, "PD100")])
def test_a_row_is_shown_as_a_run_is(run, capsys, number, status, code):
    assert show(run, str(number), "--json") == status

    document = json.loads(capsys.readouterr().out)
    assert document["data_index"] == number
    assert code is None or code in [finding["code"] for finding in document["findings"]]


def test_its_bundle_opens_again(run, tmp_path):
    show(run, "2", "--report", str(tmp_path))

    bundles = [path for path in tmp_path.iterdir() if path.suffix == ".json"]
    found = [read_bundle(path.read_text()).trace for path in bundles if '"bundle"' in path.read_text()]
    assert found[0].chat is not None
    assert found[0].chat.message["content"] == LEAK


@pytest.mark.parametrize(
    ("number", "said"), [("4", "line 4"), ("9", "no run of row 9"), ("x", "one row"), ("0", "no run of row 0")]
)
def test_what_cannot_be_shown_is_reported(run, capsys, number, said):
    assert show(run, number) == 2
    assert said in capsys.readouterr().err


def test_a_journal_that_is_not_there_is_not_made(tmp_path, capsys):
    status = main(["verify", "row", "1", "--journal", str(tmp_path / "none.sqlite")])

    assert status == 2
    assert "no journal" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_the_report_names_the_command_that_opens_a_row(tmp_path, capsys):
    with counting_server(lambda _: answer({"role": "assistant", "content": LEAK}, "stop")) as server:
        made = Verification(tmp_path / "a run", [body(f"leak {number}") for number in range(8)])
        made.run(server.base_url, "--report", str(tmp_path / "report"))
    capsys.readouterr()

    text = unescape((tmp_path / "report" / "index.html").read_text())
    commands = re.findall(r"<code>prompt-debugger (verify row .*?)</code>", text)

    assert [shlex.split(one)[2] for one in commands] == [str(index) for index in range(1, 9)]
    assert main([*shlex.split(commands[-1]), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["data_index"] == 8
