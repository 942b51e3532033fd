"""What a Hugging Face Space reads: the settings in README.md, requirements.txt, and the environment."""

from __future__ import annotations

import argparse
import gc
import json
import re
import tomllib
from contextlib import nullcontext
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.ui.cli import page
from prompt_debugger.ui.cli.main import build_parser
from prompt_debugger.ui.web.settings import PageSettings

ROOT = Path(__file__).resolve().parents[3]
LOCK = dict(line.split(" ")[0].split("==") for line in (ROOT / "requirements.lock").read_text().splitlines())
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LINES = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and not line.startswith("#")]
REQUIRED = {requirement.name: requirement for requirement in map(Requirement, LINES)}
LEFT_OPEN = ("huggingface-hub", "markupsafe", "pydantic", "starlette", "uvicorn")


@pytest.fixture(scope="module")
def front():
    found = re.match(r"---\n(.*?)\n---\n", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found is not None
    return yaml.safe_load(found[1])


def test_the_space_installs_what_the_project_needs_and_nothing_else():
    assert sorted(REQUIRED) == sorted(Requirement(line).name for line in PROJECT["dependencies"])


@pytest.mark.parametrize("name", REQUIRED)
def test_a_version_of_the_space_is_that_of_the_lock(name):
    own = next(one for line in PROJECT["dependencies"] if (one := Requirement(line)).name == name)
    locked = Version(LOCK[name])

    assert REQUIRED[name].specifier.contains(locked)
    assert own.specifier.contains(locked)
    if str(REQUIRED[name].specifier) != f"=={locked}":
        assert name in LEFT_OPEN, "gradio needs it itself, and the Space's own packages may want another"
        assert REQUIRED[name].specifier == own.specifier


def test_requirements_are_names_and_versions_only():
    assert [line for line in LINES if re.search(r"://|@|--|\[", line)] == []


def test_the_settings_of_the_space_agree_with_the_project(front):
    assert (front["sdk"], front["app_file"], front["license"]) == ("gradio", "app.py", PROJECT["license"].lower())
    assert front["sdk_version"] == LOCK["gradio"]
    assert (ROOT / front["app_file"]).is_file()
    assert isinstance(front["python_version"], str), "3.10 without quotes would be 3.1"
    assert PROJECT["requires-python"] == ">=3.11"
    assert Version(front["python_version"]) >= Version("3.11")


def test_the_card_of_the_space_is_one_that_the_hub_takes(front):
    colors = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}

    assert len(front["short_description"]) <= 60
    assert {front["colorFrom"], front["colorTo"]} <= colors
    assert front["title"]
    assert len(front["emoji"]) <= 2
    assert all(re.fullmatch(r"[a-z0-9-]+", tag) for tag in front["tags"])


def _launched(monkeypatch, *argv):
    """Return what the page would be launched with."""
    seen: list[PageSettings] = []
    monkeypatch.setattr("prompt_debugger.ui.web.launch.launch_app", seen.append)
    monkeypatch.setattr("prompt_debugger.ui.cli.page.listen_on", lambda _host, _port: nullcontext())
    options = build_parser().parse_args(["ui", *argv])
    assert options.run(options) == 0
    return seen[0]


@pytest.fixture
def space(monkeypatch):
    monkeypatch.setenv("SPACE_ID", "me/debugger")
    monkeypatch.setenv("SPACE_HOST", "me-debugger.hf.space")


def test_in_a_space_the_page_is_public_by_itself(monkeypatch, space):
    seen = _launched(monkeypatch)

    assert (seen.public, seen.host, seen.trusted_hosts) == (True, "0.0.0.0", ("me-debugger.hf.space",))
    assert (seen.target.base_url, seen.target.api_key, seen.endpoints) == (None, None, ())


def test_what_was_imported_is_never_looked_through_for_garbage_and_all_else_is(monkeypatch):
    gc.unfreeze()

    _launched(monkeypatch)

    frozen = gc.get_freeze_count()
    gc.unfreeze()  # the rest of the suite is no page
    assert frozen > 0
    assert gc.isenabled()


def test_elsewhere_it_is_private_unless_asked(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)

    assert (_launched(monkeypatch).public, _launched(monkeypatch).host) == (False, "127.0.0.1")
    assert _launched(monkeypatch, "--public").public


def test_listed_servers_come_from_options_or_the_environment(monkeypatch):
    monkeypatch.setenv(page.ENDPOINTS_VARIABLE, "https://a.example/v1 b.example")

    assert _launched(monkeypatch).endpoints == ("https://a.example/v1", "http://b.example/v1")
    assert _launched(monkeypatch, "--allow-endpoint", "https://c.example").endpoints == ("https://c.example/v1",)
    with pytest.raises(BackendError, match="not a server address"):
        _launched(monkeypatch, "--allow-endpoint", "ftp://c.example")


def test_a_public_page_starts_without_any_server(monkeypatch):
    assert _launched(monkeypatch, "--public", "--no-lab").lab is False


def test_the_options_are_documented():
    parser = argparse.ArgumentParser()
    page.add_arguments(parser)
    text = (ROOT / "docs" / "public-mode.md").read_text()

    assert [
        option for option in ("--public", "--allow-endpoint", "--host-name") if option not in parser.format_help()
    ] == []
    assert [
        option
        for option in ("--public", "--allow-endpoint", "--host-name", page.ENDPOINTS_VARIABLE)
        if option not in text
    ] == []


@pytest.mark.parametrize(
    ("options", "is_warned"),
    [
        (["--host", "0.0.0.0"], True),
        (["--host", "::"], True),
        (["--host", "192.168.1.5"], True),
        (["--host", "my-machine"], True),
        (["--host", "0.0.0.0", "--public"], False),
        (["--host", "127.0.0.1"], False),
        (["--host", "::1"], False),
        (["--host", "localhost"], False),
        ([], False),
    ],
)
def test_a_private_page_for_the_network_is_warned_of(monkeypatch, capsys, options, is_warned):
    """Anyone who reaches it uses it with the rights of its owner."""
    monkeypatch.delenv("SPACE_ID", raising=False)

    _launched(monkeypatch, *options)

    assert ("add --public" in capsys.readouterr().err) == is_warned


def test_the_image_is_made_of_what_is_there_runs_as_no_one_special_and_is_watched():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    copied = [line.split()[2:-1] for line in lines if line.startswith("COPY")]
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().split() if line.startswith("!")}
    user, lab = lines.index("USER debugger"), lines.index("RUN python app.py lab --install")

    assert {name for names in copied for name in names} == allowed
    assert [name for name in allowed if not (ROOT / name).exists()] == []
    assert user < lab, "whoever installs the lab is whoever runs it"
    assert [line for line in lines if line.startswith("HEALTHCHECK")]
    assert json.loads(lines[-1].removeprefix("ENTRYPOINT "))[:3] == ["python", "app.py", "ui"]
    assert build_parser().parse_args(json.loads(lines[-1].removeprefix("ENTRYPOINT "))[2:]).public


def test_a_page_without_a_lab_and_without_a_server_starts_too(monkeypatch):
    started = _launched(monkeypatch, "--no-lab")

    assert (started.lab, started.target.base_url, started.public) == (False, None, False)
