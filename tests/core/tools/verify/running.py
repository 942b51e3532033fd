"""A verification as the command line runs it, in this process or in one of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from prompt_debugger.ui.cli.main import main
from tests.conftest import ROOT
from tests.patience import PATIENCE_S
from tests.warm.program import warm_environment


@dataclass
class Verification:
    """The files of one.

    Attributes:
        folder: Where they lie.
        bodies: The dataset.
        options: Further arguments.
    """

    folder: Path
    bodies: list[Any]
    options: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = (body if isinstance(body, str) else json.dumps(body) for body in self.bodies)
        self.dataset.write_text("".join(f"{line}\n" for line in lines))

    @property
    def dataset(self) -> Path:
        return self.folder / "rows.jsonl"

    @property
    def arguments(self) -> list[str]:
        files = ("--output", str(self.folder / "results.jsonl"), "--summary", str(self.folder / "summary.json"))
        return ["verify", str(self.dataset), *files, "--backoff", "0.01", *self.options]

    def run(self, url: str, *more: str) -> int:
        return main([*self.arguments, "--endpoint", url, *more])

    def start(self, url: str, *more: str, is_cold: bool = False) -> subprocess.Popen[str]:
        command = [sys.executable, "app.py", *self.arguments, "--endpoint", url, *more]
        return subprocess.Popen(
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env=None if is_cold else warm_environment(),
        )  # fmt: skip

    def finish(self, process: subprocess.Popen[str]) -> tuple[int, str, str]:
        out, err = process.communicate(timeout=PATIENCE_S)
        return process.returncode, out, err

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.folder / "results.jsonl").read_text().splitlines()]

    @property
    def summary(self) -> dict[str, Any]:
        read: dict[str, Any] = json.loads((self.folder / "summary.json").read_text())
        return read
