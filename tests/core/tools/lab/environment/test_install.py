"""The lab's environment made by real pip: whole or not at all, resumed after a kill, taken away again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import find_environment, lab_home, python_that_has, python_with
from prompt_debugger.core.tools.lab.environment import Installation, link_home, plan_install, remove_environment
from prompt_debugger.core.tools.lab.environment.packages import Package, installed_keys
from tests.conftest import ROOT
from tests.core.tools.lab.environment.conftest import PACKAGES
from tests.core.tools.lab.environment.wheels import make_wheel

CHECK = tuple(f"import {package.name.replace('-', '_')}" for package in PACKAGES)
KEYS = [package.key for package in PACKAGES]


def install(home: Path | None = None, report=None):
    return Installation(plan_install(home, packages=PACKAGES), check=CHECK).run(report)


@pytest.mark.slow
def test_an_environment_is_made_found_used_and_removed(home, wheels):
    plan = plan_install(packages=PACKAGES)
    assert (plan.home, home.exists(), find_environment()) == (home, False, None), "a plan changes nothing"

    reports = []
    made = Installation(plan, check=CHECK).run(reports.append)

    fractions = [report.fraction for report in reports]
    assert fractions == sorted(fractions)
    assert (fractions[0], fractions[-1]) == (0.0, 1.0)
    assert [report.sentence for report in reports if "tiny-b" in report.sentence]
    assert find_environment() == made
    assert python_with("tiny_a") == str(home / "bin" / "python")
    assert python_with("json") == sys.executable, "what is here is used from here"
    found = [python_that_has(name) for name in ("json", "tiny_a", "no_such_package")]
    assert found == [sys.executable, str(home / "bin" / "python"), None]
    asked = subprocess.run([made.python, "-c", "import tiny_c; print(tiny_c.version)"], capture_output=True, text=True)
    assert asked.stdout.strip() == "1.0"
    assert plan_install(packages=PACKAGES).environment == made
    assert "is installed" in plan_install(packages=PACKAGES).sentence

    assert remove_environment(home) > 1_000_000
    assert (home.exists(), find_environment(), python_with("tiny_a")) == (False, None, sys.executable)
    assert remove_environment(home) == 0


_INSTALLER = """
import sys
from pathlib import Path
from prompt_debugger.core.tools.lab.environment import Installation, plan_install
from tests.core.tools.lab.environment.conftest import PACKAGES
Installation(plan_install(packages=PACKAGES)).run(lambda now: print(now.sentence, flush=True))
"""


@pytest.mark.slow
def test_what_was_done_before_a_kill_is_kept_and_the_rest_follows(home, wheels):
    with subprocess.Popen(
        [sys.executable, "-c", _INSTALLER], cwd=ROOT, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as installer:
        for sentence in installer.stdout:
            if "tiny-b" in sentence:
                os.kill(installer.pid, signal.SIGKILL)
                break
    assert find_environment(home) is None, "a half must not be taken for a whole"
    assert KEYS[0] in installed_keys(home)
    plan = plan_install(packages=PACKAGES)
    assert PACKAGES[0] not in plan.missing
    assert plan.sentence.startswith("Continues installing")
    (wheels / "tiny_a-1.0-py3-none-any.whl").unlink()  # a second request for it would fail

    install()

    assert installed_keys(home) >= set(KEYS)
    assert list(home.glob(".pip-*")) == []


@pytest.mark.slow
def test_a_half_installed_package_is_fixed_and_cancelling_keeps_what_is_done(home, wheels):
    first = Installation(plan_install(packages=PACKAGES), check=CHECK)
    with pytest.raises(LabError, match="was cancelled"):
        first.run(lambda now: first.cancel() if "tiny-c" in now.sentence else None)
    assert find_environment(home) is None
    assert KEYS[1] in installed_keys(home)
    site = next(home.glob("lib/python3*/site-packages"))
    (site / "tiny_b.py").unlink()
    for name in ("REQUESTED", "INSTALLER"):  # pip writes them last
        (site / "tiny_b-1.0.dist-info" / name).unlink()

    install()

    assert (site / "tiny_b.py").is_file()

    newer = (*PACKAGES[:2], Package("tiny-c", "2.0"))
    make_wheel(wheels, "tiny-c", "2.0")
    assert [package.name for package in plan_install(packages=newer).missing] == ["tiny-c"]
    Installation(plan_install(packages=newer), check=("import tiny_c; assert tiny_c.version == '2.0'",)).run()
    assert plan_install(packages=newer).environment is not None


@pytest.mark.slow
def test_what_goes_wrong_is_reported_without_addresses_and_may_be_tried_again(home, wheels, monkeypatch):
    monkeypatch.setenv("PIP_FIND_LINKS", f"{wheels} http://user:secret@127.0.0.1:9/")
    (wheels / "tiny_b-1.0-py3-none-any.whl").unlink()
    with pytest.raises(LabError, match=r"tiny-b==1\.0") as caught:
        install()
    assert "secret" not in caught.value.message + caught.value.log_tail
    assert find_environment(home) is None

    make_wheel(wheels, "tiny-b", source="raise ImportError('no such thing')")
    with pytest.raises(LabError, match="does not start: ImportError: no such thing"):
        install()
    assert find_environment(home) is None


def test_a_folder_of_someone_else_is_neither_used_nor_removed(tmp_path, home):
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "letters.txt").write_text("dear")

    with pytest.raises(LabError, match="did not put there"):
        plan_install(mine, packages=PACKAGES)
    with pytest.raises(LabError, match="was not created by Prompt Debugger"):
        remove_environment(mine)
    with pytest.raises(LabError, match="is a file"):
        plan_install(mine / "letters.txt", packages=PACKAGES)
    assert (mine / "letters.txt").read_text() == "dear"


def test_two_installers_of_one_folder_do_not_meet(home, wheels):
    import fcntl

    home.mkdir(parents=True)
    plan = plan_install(packages=PACKAGES)
    with (home / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(LabError, match="Another process is installing"):
            Installation(plan).run()


def test_a_full_disk_is_refused_before_anything_is_done(home):
    huge = (Package("tiny-a", "1.0", 1e12),)

    with pytest.raises(LabError, match="but the lab needs about") as caught:
        plan_install(packages=huge)
    assert "--into" in caught.value.hint
    assert not home.exists()


def test_a_folder_of_ones_choice_is_found_at_the_usual_place(tmp_path, home):
    chosen = tmp_path / "chosen"
    (chosen / "bin").mkdir(parents=True)
    (chosen / ".made-by-prompt-debugger").touch()
    (chosen / "bin" / "python").symlink_to(sys.executable)
    (chosen / "prompt-debugger-lab.json").write_text('{"vllm": "0.32.0"}')

    assert link_home(chosen)
    assert find_environment().vllm == "0.32.0"
    remove_environment(lab_home())
    assert (chosen.exists(), home.is_symlink()) == (False, False)


def test_a_folder_at_the_usual_place_is_not_displaced(tmp_path, home):
    home.mkdir(parents=True)

    assert not link_home(tmp_path / "chosen")
    assert home.is_dir()
    assert not home.is_symlink()


def test_a_marker_that_is_torn_or_without_its_python_counts_for_nothing(home):
    home.mkdir(parents=True)
    (home / "prompt-debugger-lab.json").write_text('{"vllm": "0.3')
    assert find_environment() is None
    (home / "prompt-debugger-lab.json").write_text('{"vllm": "0.32.0"}')
    assert find_environment() is None
