"""The program run as people run it: a process of its own, in some folder; its output, and the page that it opens."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

import httpx

from tests.patience import PATIENCE_S

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
PAGE = ("--port", "0", "--no-lab", "--endpoint", "http://[::1]:9")


def run_in(
    folder: Path, command: Sequence[str], text: str = "", packages: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end.

    Args:
        folder: Where.
        command: Its words.
        text: What it reads.
        packages: A folder of installed packages that it has besides.
    """
    environment = os.environ if packages is None else {**os.environ, "PYTHONPATH": str(packages)}
    return subprocess.run(
        command,
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
        env=environment,
    )


def output_in(folder: Path, command: Sequence[str], text: str = "") -> str:
    """Return what a command prints that ends well."""
    done = run_in(folder, command, text)
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def check_page_opens(folder: Path, command: Sequence[str]) -> None:
    """Start the page and open it once."""
    page = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert page.stdout is not None
    guard = threading.Timer(PATIENCE_S, page.kill)
    guard.start()
    try:
        line = next(line for line in page.stdout if " is at http" in line)
        assert "Prompt Debugger" in httpx.get(line.split()[-1], timeout=PATIENCE_S).text
    finally:
        guard.cancel()
        page.terminate()
        page.communicate()
