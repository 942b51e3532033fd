"""`lab --where`, `--install`, `--uninstall`: what they print, what they leave, and whose folders they leave alone."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.interpreter import MARKER_NAME
from prompt_debugger.core.tools.lab.environment import install as installing
from prompt_debugger.core.tools.lab.environment import plan as planning
from prompt_debugger.ui.cli.main import main
from tests.core.tools.lab.environment.conftest import PACKAGES, home, wheels  # noqa: F401  # fixtures


def document(capsys, *arguments):
    assert main(["lab", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_before_there_is_anything_the_place_is_reported_and_nothing_is_made(capsys, home):  # noqa: F811
    found = document(capsys, "--where")

    assert found == {"home": str(home), "installed": False, "python": None, "vllm": None, "bytes": 0}
    assert main(["lab", "--where"]) == 0
    said = capsys.readouterr()
    assert (said.out, "Not installed" in said.err) == (f"{home}\n", True)
    assert document(capsys, "--uninstall") == {"home": str(home), "removed": False, "freed_bytes": 0}
    assert not home.exists()


def test_a_folder_of_ones_own_choice_is_installed_into_found_and_removed(
    capsys,
    monkeypatch,
    tmp_path,
    home,  # noqa: F811
    wheels,  # noqa: F811
):
    monkeypatch.setattr(planning, "read_lock", lambda: PACKAGES)
    monkeypatch.setattr(planning, "is_supported", lambda: True)
    monkeypatch.setattr(installing, "DEFAULT_CHECK", ("import tiny_a",))
    chosen = tmp_path / "chosen"

    made = document(capsys, "--install", "--into", str(chosen))

    assert (made["home"], made["installed"], made["vllm"]) == (str(chosen), True, "0.32.0")
    assert made["bytes"] > 1_000_000
    assert document(capsys, "--where")["installed"], "the usual place leads there"
    assert document(capsys, "--uninstall")["freed_bytes"] > 1_000_000
    assert not (chosen / MARKER_NAME).exists()
    assert not chosen.exists()


def test_a_folder_of_someone_else_is_an_error_with_status_2(capsys, tmp_path):
    (tmp_path / "mine").write_text("dear")

    assert main(["lab", "--install", "--into", str(tmp_path), "--json"]) == 2
    assert "did not put there" in json.loads(capsys.readouterr().out)["error"]["message"]
    assert main(["lab", "--uninstall", "--into", str(tmp_path)]) == 2
    assert (tmp_path / "mine").read_text() == "dear"


def test_one_thing_at_a_time(capsys):
    with pytest.raises(SystemExit):
        main(["lab", "--install", "--uninstall"])
    assert "not allowed with" in capsys.readouterr().err
