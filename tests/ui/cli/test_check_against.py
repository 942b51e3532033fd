"""`check --against`: a lock or another model; and the pipeline that docs/check.md shows is one that runs."""

import argparse
import json
import re
import shlex
import subprocess
import sys

import pytest
import yaml

from prompt_debugger.core.tools.check import Change
from prompt_debugger.ui.cli.check import add_arguments, is_model
from prompt_debugger.ui.cli.check_text import check_to_terminal
from tests.conftest import ROOT
from tests.core.tools.check.checks import check_of
from tests.core.tools.check.templates import HERMES, changed
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment


def test_a_folder_a_template_and_a_hub_id_are_models_and_a_json_file_is_a_lock(tmp_path):
    (tmp_path / "locked").write_text("{}")

    models = (str(tmp_path), "old.jinja", "org/model", "org/model@v1.0", "org/model@refs/pr/3")
    locks = ("-", "check.lock.json", "models/check.lock.json", str(tmp_path / "locked"), "absent")

    assert [is_model(name) for name in models] == [True] * len(models)
    assert [is_model(name) for name in locks] == [False] * len(locks)


def test_against_a_model_the_report_names_it():
    text = check_to_terminal(check_of(), [Change("It broke.", True)], since="org/model@v1.0")

    assert "\ncompared with org/model@v1.0:\n  worse   It broke." in text
    assert "compared with org/model@v1.0 nothing has changed" in check_to_terminal(
        check_of(), (), since="org/model@v1.0"
    )


@pytest.mark.vllm
@pytest.mark.slow
def test_two_templates_are_held_against_each_other(tmp_path):
    old, new = tmp_path / "old.jinja", tmp_path / "new.jinja"
    old.write_text(HERMES)
    longer = changed(HERMES, "<|im_start|>system\n", "<|im_start|>system\nBe kind.\n")
    new.write_text(changed(longer, "{{ tools | tojson }}", "{{ tools | selectattr('function.description') | list }}"))
    command = [sys.executable, "app.py", "check", str(new), "--against", str(old), "--tool-parser", "hermes", "--json"]

    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False, env=warm_environment()
    )

    changes = {one["sentence"]: one["is_worse"] for one in json.loads(done.stdout)["changes"]}
    assert done.returncode == 1
    assert changes["Tools with no description are now dropped from the prompt."] is True
    assert any(re.search(r"The prompt of cases? .*`tools`.* by \d+ characters? at line 2\.", one) for one in changes)


def workflow():
    page = (ROOT / "docs" / "check.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```yaml\n(.*?)```", page, re.DOTALL)
    return yaml.safe_load(block)


def test_the_pipeline_of_the_documents_is_a_workflow():
    flow = workflow()

    assert set(flow[True]) == {"push", "pull_request"}  # YAML 1.1 reads `on` as true
    (job,) = flow["jobs"].values()
    assert job["runs-on"]
    assert all(("run" in step) is not ("uses" in step) for step in job["steps"])
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)


def test_its_command_is_one_that_this_program_takes_and_its_files_fit_together():
    (job,) = workflow()["jobs"].values()
    (command,) = [step["run"] for step in job["steps"] if "app.py" in step.get("run", "")]
    words = shlex.split(command)
    parser = argparse.ArgumentParser()
    add_arguments(parser)

    options = parser.parse_args(words[words.index("check") + 1 :])

    (kept,) = [
        step["with"]["path"] for step in job["steps"] if step.get("uses", "").startswith("actions/upload-artifact")
    ]
    assert options.junit == kept
    assert options.against.startswith(f"{options.model.removeprefix('./')}/")
    assert not is_model(options.against)
