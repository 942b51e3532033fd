"""A pip that knows nothing but a folder of small wheels."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.tools.lab.environment.packages import Package
from tests.core.tools.lab.environment.wheels import make_wheel

BIG_MB = 400.0  # each in a lot of its own
PACKAGES = tuple(Package(f"tiny-{letter}", "1.0", BIG_MB - number) for number, letter in enumerate("abc"))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that pip looks into; it holds a wheel of each of `PACKAGES`."""
    folder = tmp_path / "wheels"
    for package in PACKAGES:
        make_wheel(folder, package.name, package.version)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_RETRIES", "0")  # pip waits longer and longer in front of a place where no one is
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The usual place of the lab's environment."""
    monkeypatch.delenv("PROMPT_DEBUGGER_LAB", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "prompt-debugger" / "lab-0.32.0"
