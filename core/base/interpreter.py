"""Which Python runs vLLM: our own, or that of the lab's own environment. Decided here and nowhere else.

    our own environment has the module     sys.executable
    `lab --install` made an environment    its bin/python
    neither                                sys.executable; who starts it says what is missing and how to get it

Asked at each start of a helper or lab, never kept: the environment may come while the page is open.
The environment is in the user's data folder (XDG), or where `PROMPT_DEBUGGER_LAB` says.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from prompt_debugger.core.base.types import JSON

VLLM_VERSION = "0.32.0"  # the release that the lab's environment holds, as in requirements.lock
HOME_VARIABLE = "PROMPT_DEBUGGER_LAB"
MARKER_NAME = "prompt-debugger-lab.json"  # written last: an environment without it is incomplete


@dataclass(frozen=True, slots=True)
class LabEnvironment:
    """An environment that `lab --install` made, whole.

    Attributes:
        vllm: Version of its vLLM.
        requirements: Digest of the list of packages it was made from.
        made_on: Day on which it was made, as ISO text.
    """

    home: Path
    python: Path
    vllm: str
    requirements: str = ""
    made_on: str = ""


def lab_home() -> Path:
    """Return the folder of the lab's environment; it may not be there."""
    if named := os.environ.get(HOME_VARIABLE):
        return Path(named).expanduser().absolute()
    base = os.environ.get("XDG_DATA_HOME", "")
    data = Path(base) if Path(base).is_absolute() else Path.home() / ".local" / "share"
    return data / "prompt-debugger" / f"lab-{VLLM_VERSION}"


def python_in(home: Path) -> Path:
    """Return the interpreter of an environment."""
    return home / "bin" / "python"


def find_environment(home: Path | None = None) -> LabEnvironment | None:
    """Return the lab's environment if it is complete, `None` if it is not there or half made. Reads one file."""
    home = home or lab_home()
    try:
        marker: JSON = json.loads((home / MARKER_NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    python = python_in(home)
    if not isinstance(marker, dict) or not os.access(python, os.X_OK):
        return None
    facts = {name: str(marker.get(name, "")) for name in ("vllm", "requirements", "made_on")}
    return LabEnvironment(home, python, **facts)


def python_with(module: str) -> str:
    """Return the Python that is to run a module which only vLLM's environment is sure to have."""
    if importlib.util.find_spec(module) is not None:
        return sys.executable
    environment = find_environment()
    return sys.executable if environment is None else str(environment.python)


def python_that_has(package: str) -> str | None:
    """Return the Python in which a package is installed, this one or the lab's; `None` if it is in neither."""
    if importlib.util.find_spec(package) is not None:
        return sys.executable
    environment = find_environment()
    if environment is None:
        return None
    places = (f"lib/python*/site-packages/{package}{end}" for end in ("/__init__.py", ".py"))
    return str(environment.python) if any(any(environment.home.glob(place)) for place in places) else None


def vllm_python() -> str:
    """Return the Python that is to run vLLM."""
    return python_with("vllm")
