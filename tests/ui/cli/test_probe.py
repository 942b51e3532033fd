"""`render --probe`: what a template supports, without any request."""

import json
import subprocess
import sys

from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment

TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    "<{{ m.role }}>{{ m.content }}\n{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)


def run(*arguments, text=""):
    command = [sys.executable, "app.py", "render", *map(str, arguments)]
    return subprocess.run(
        command, cwd=ROOT, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
        env=warm_environment(),
    )  # fmt: skip


def test_probing_a_template_file_needs_no_request(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(TEMPLATE)

    done = run("--probe", "--chat-template", path, "--json")

    document = json.loads(done.stdout)
    assert done.returncode == 0, done.stderr
    assert document["probe"]["system-role"]["support"] == "refused"
    assert document["probe"]["system-role"]["detail"] == "The template refuses this request: no system."
    assert document["probe"]["generation-prompt"]["support"] == "supported"
    assert document["schema_version"] == 1


def test_probing_in_words_next_to_a_render():
    request = json.dumps({"messages": [{"role": "user", "content": "hi"}]})

    done = run("-", "--probe", text=request)

    assert done.returncode == 0, done.stderr
    assert "what the template supports (26 probes)" in done.stdout
    assert "changed    Tool calls in the history: The call's id is printed instead of its name" in done.stdout


def test_a_request_given_with_probe_keeps_its_render(tmp_path):
    path = tmp_path / "t.jinja"
    path.write_text(TEMPLATE)
    request = json.dumps({"messages": [{"role": "user", "content": "hi"}]})

    document = json.loads(run("-", "--probe", "--chat-template", path, "--json", text=request).stdout)

    assert document["text"] == "<user>hi\n<assistant>"
    assert document["probe"]["system-role"]["template_line"] == 1
