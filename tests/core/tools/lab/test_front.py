"""The command `lab`, as a program of its own that gets signals."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import httpx
import pytest

from prompt_debugger.core.tools.lab import Lab, LabSpec, run_lab
from tests.patience import PATIENCE_S

WaitGone = Callable[[Iterable[int]], set[int]]

ROOT = Path(__file__).resolve().parents[4]
FRONT = """
import sys
from prompt_debugger.core.tools.lab import LabSpec, run_lab
sys.exit(run_lab(LabSpec(model_dir=sys.argv[1], kind="renderer"), as_json=True))
"""
# Says the pid as soon as vLLM runs, long before it is ready.
BOOTING = """
import sys
from prompt_debugger.core.tools.lab import Lab, LabSpec
lab = Lab(LabSpec(model_dir=sys.argv[1], kind="renderer"))
lab.boot(lambda _: print(lab.pid, flush=True))
"""


def start(source: str, folder: Path) -> subprocess.Popen[str]:
    # A suite that runs in the background has SIGINT ignored; its children would have, too.
    source = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n" + source
    command = [sys.executable, "-c", source, str(folder)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_a_lab_that_cannot_start_says_so_on_both_streams(tmp_path: Path) -> None:
    out, log = io.StringIO(), io.StringIO()

    status = run_lab(LabSpec(model_dir=tmp_path / "nowhere"), as_json=True, out=out, log=log)

    assert status == 2
    assert json.loads(out.getvalue())["error"]["type"] == "LabError"
    assert log.getvalue().startswith("error: There is no model folder")


@pytest.mark.lab
@pytest.mark.timeout(900)
def test_a_lab_that_dies_ends_the_command_with_the_reason(tokenizer_dir: Path) -> None:
    out, log = io.StringIO(), io.StringIO()
    labs: list[Lab] = []

    def kill(lab: Lab) -> None:
        labs.append(lab)
        assert lab.pid is not None
        os.kill(lab.pid, signal.SIGKILL)

    status = run_lab(LabSpec(model_dir=tokenizer_dir, kind="renderer"), kill, out=out, log=log)

    assert status == 2
    assert out.getvalue() == f"{labs[0].base_url}\n"
    assert log.getvalue().splitlines()[-1].startswith("error: The lab server was killed from outside")


@pytest.mark.lab
@pytest.mark.timeout(900)
@pytest.mark.usefixtures("cold_labs")
def test_the_lab_serves_until_ctrl_c_and_leaves_nothing(tokenizer_dir: Path, wait_gone: WaitGone) -> None:
    with start(FRONT, tokenizer_dir) as program:
        assert program.stdout is not None
        lab = json.loads(program.stdout.readline())
        models = httpx.get(f"{lab['base_url']}/models", timeout=PATIENCE_S).json()

        program.send_signal(signal.SIGINT)

        assert program.wait() == 0
        assert wait_gone([lab["pid"]]) == set()
        assert program.stdout.read() == ""
        assert [model["id"] for model in models["data"]] == [lab["model"]]
        assert lab["tool_parser"] == "kimi_k2"
        assert program.stderr is not None
        assert "The lab is ready" in program.stderr.read()


@pytest.mark.lab
@pytest.mark.usefixtures("cold_labs")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_vllm_that_still_boots_goes_with_its_program(
    number: signal.Signals, tokenizer_dir: Path, wait_gone: WaitGone
) -> None:
    with start(BOOTING, tokenizer_dir) as program:
        assert program.stdout is not None
        pid = int(next(line for line in program.stdout if line.strip().isdigit()))

        program.send_signal(number)

        assert wait_gone([pid]) == set()
