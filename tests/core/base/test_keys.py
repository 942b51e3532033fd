"""Keys leave the environment of a page, also what the system shows of it; who needs one asks."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from prompt_debugger.core.base import keys
from tests.conftest import ROOT
from tests.patience import PATIENCE_S

SECRETS = {
    "OPENAI_API_KEY": "sk-first-secret",
    "HF_TOKEN": "hf_second_secret",
    "AWS_SECRET_ACCESS_KEY": "third-secret",
    "MY_SERVER": "fourth-secret",
}
KEPT = {"TOKENIZERS_PARALLELISM": "false", "KEYBOARD": "de", "MONKEY": "here", "TOKEN_LIMIT": "12"}

PROGRAM = """
import json, os
from pathlib import Path
from prompt_debugger.core.base import keys
taken = keys.take_keys(["MY_SERVER", "NOT_SET"])
system = Path("/proc/self/environ")
print(json.dumps({
    "taken": sorted(taken), "left": dict(os.environ), "asked": [keys.variable(name) for name in sorted(taken)],
    "system": system.read_text() if system.exists() else "",
    "child": keys.environment_with(["HF_TOKEN"]).get("HF_TOKEN"), "not child": "OPENAI_API_KEY" in
    keys.environment_with(["HF_TOKEN"]), "kept": keys.variable("KEYBOARD"), "none": keys.variable("NOT_SET"),
}))
"""


@pytest.fixture(scope="module")
def found() -> dict[str, object]:
    environment = {"PATH": os.environ["PATH"]} | SECRETS | KEPT
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE_S
    )
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def test_keys_are_taken_and_nothing_else(found):
    assert found["taken"] == sorted(SECRETS)
    assert found["asked"] == [SECRETS[name] for name in sorted(SECRETS)]
    left = found["left"]
    assert isinstance(left, dict)
    assert {name: left.get(name) for name in KEPT} == KEPT
    assert not set(SECRETS) & set(left)
    assert (found["kept"], found["none"]) == ("de", None)


def test_the_system_shows_no_key_any_more(found):
    shown = str(found["system"])

    assert not [value for value in SECRETS.values() if value in shown]
    assert sys.platform != "linux" or "KEYBOARD=de" in shown


def test_a_child_gets_the_key_it_needs_and_no_other(found):
    assert (found["child"], found["not child"]) == (SECRETS["HF_TOKEN"], False)


def test_nothing_is_taken_before_it_is_asked_for(monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "here")

    assert keys.variable("SOME_API_KEY") == "here"
