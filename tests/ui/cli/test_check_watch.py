"""`check --watch`: a parser and a template under edit, checked anew in one warm helper whenever they change."""

import json
import subprocess
import sys
import threading

import pytest

from tests.conftest import ROOT
from tests.core.tools.check.templates import HERMES, changed
from tests.patience import PATIENCE_S

PLUGIN = ROOT / "tests" / "core" / "tools" / "check" / "plugins" / "half_deaf.py"
REASONING = "{%- if m.reasoning_content %}<think>\n{{ m.reasoning_content }}\n</think>{{ '\n\n' }}{% endif %}"
OPENING = "{%- if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
BUG = PLUGIN.read_text()
SOUND = BUG.replace(
    BUG[BUG.index("        self.given, one = ") : BUG.index("\n\n\nToolParserManager")],
    """\
        calls = [
            DeltaToolCall(
                index=index,
                function=DeltaFunctionCall(name=one["name"], arguments=json.dumps(one["arguments"])).model_dump(),
            )
            for index, one in enumerate(found)
            if index >= self.given
        ]
        self.given = len(found)
        return DeltaMessage(tool_calls=calls)""",
)


@pytest.fixture
def watching(tmp_path):
    """Start a watching check in a folder; returns what reads its next document."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, ROOT / "app.py", "check", *arguments, "--watch", "--json"],
            cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        limit = threading.Timer(PATIENCE_S, process.kill)
        limit.start()
        started.append((process, limit))
        return lambda: json.loads(process.stdout.readline())

    yield start
    for process, limit in started:
        limit.cancel()
        process.kill()
        process.wait()
        process.stdout.close()


def save(file, text):
    """Replace a file in one step, as editors do."""
    draft = file.with_suffix(".draft")
    draft.write_text(text)
    draft.replace(file)


def two_calls(document):
    return document["parsers"]["vllm:half_deaf"]["cells"]["two-calls"]


@pytest.mark.vllm
@pytest.mark.slow
def test_each_saved_change_of_parser_and_template_is_checked(watching, tmp_path):
    parsers, template = tmp_path / "zq_parsers.py", tmp_path / "ours.jinja"
    parsers.write_text(SOUND)
    template.write_text(changed(HERMES, REASONING, ""))

    next_check = watching("--chat-template", "ours.jinja", "--parser-module", "zq_parsers")
    sound = next_check()

    assert sound["error"] is None
    assert two_calls(sound)["streamed"] is True, two_calls(sound)
    assert f"--tool-parser-plugin {parsers}" in sound["recommended"]["command"]

    save(parsers, BUG)
    buggy = next_check()
    assert buggy["parsers"]["vllm:half_deaf"]["cells"]["one-call"]["streamed"] is True
    assert two_calls(buggy)["streamed"] is False
    assert len(two_calls(buggy)["split"]) == 1  # both calls in one delta

    save(parsers, "import no_such_module_anywhere\n")
    assert "no_such_module_anywhere" in next_check()["error"]["message"]

    save(parsers, SOUND)
    assert two_calls(next_check())["streamed"] is True

    save(template, changed(changed(HERMES, REASONING, ""), OPENING, ""))
    assert "missing-generation-prompt" in [one["name"] for one in next_check()["findings"]]
