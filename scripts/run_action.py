"""Run the action on this machine as GitHub does: its steps in order, each in bash, with the files that GitHub gives.

    python scripts/run_action.py FOLDER templates='**/chat_template*.jinja' template-only=true install=

What GitHub would show is printed: what the steps say, annotations among it, then the summary. The exit status is that
of the first step that fails.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

ROOT = Path(__file__).parents[1]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
_BASH = ["bash", "--noprofile", "--norc", "-eo", "pipefail"]
_INPUT = re.compile(r"\$\{\{ inputs\.([\w-]+) \}\}")
_IS_GIVEN = re.compile(r"inputs\.([\w-]+) != ''")


class Ran(NamedTuple):
    """What came of the action.

    Attributes:
        status: Of the first step that failed, else 0.
        log: What the steps said, annotations among it.
        summary: What they wrote for the step's summary.
        steps: Those that ran.
    """

    status: int
    log: str
    summary: str
    steps: tuple[str, ...]


def run_action(folder: Path, inputs: Mapping[str, str], environment: Mapping[str, str] = os.environ) -> Ran:
    """Run the action in a folder, which is the repository that uses it.

    Raises:
        ValueError: The action has no such input.
    """
    if unknown := inputs.keys() - ACTION["inputs"]:
        raise ValueError(f"The action has no input {', '.join(sorted(unknown))}.")
    given = {name: str(one["default"]) for name, one in ACTION["inputs"].items()} | dict(inputs)
    log, steps, status = "", list[str](), 0
    with tempfile.TemporaryDirectory() as files:
        summary, output = Path(files) / "summary.md", Path(files) / "output"
        summary.touch()
        output.touch()
        told = {"GITHUB_STEP_SUMMARY": str(summary), "GITHUB_OUTPUT": str(output), "GITHUB_ACTIONS": "true"}
        for step in ACTION["runs"]["steps"]:
            if not any(given[name] for name in _IS_GIVEN.findall(step["if"])):
                continue
            variables = {name: _INPUT.sub(lambda found: given[found[1]], text) for name, text in step["env"].items()}
            script = Path(files) / "step.sh"
            script.write_text(step["run"], encoding="utf-8")
            done = subprocess.run(
                [*_BASH, str(script)], cwd=folder, env={**environment, **told, **variables},
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            )  # fmt: skip
            log += done.stdout
            steps.append(step["name"])
            status = done.returncode
            if status:
                break
        return Ran(status, log, summary.read_text(encoding="utf-8"), tuple(steps))


def main(arguments: list[str]) -> int:
    """Run it with the inputs of a command line."""
    ran = run_action(Path(arguments[0]), dict(text.split("=", 1) for text in arguments[1:]))
    print(ran.log, end="")
    print(f"\n--- summary of {', '.join(ran.steps) or 'no step'}, status {ran.status} ---\n{ran.summary}", end="")
    return ran.status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
