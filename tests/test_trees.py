"""The program starts from trees in which the links of `prompt_debugger` were lost in transit."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.programs import CALL, PAGE, REQUEST, check_page_opens, output_in

LINKS = ("core", "ui", "assets")
PARTS = ("app.py", "prompt_debugger", *LINKS)


def _files() -> list[str]:
    """Return the files of the product in this checkout, links among them."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *PARTS],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.splitlines()  # fmt: skip
    return [name for name in listed if os.path.lexists(ROOT / name)]


def _unzipped_by_python(folder: Path) -> None:
    """Write an archive with links, as `git archive` does, and unpack it with Python, which knows no links."""
    packed = folder.with_suffix(".zip")
    with zipfile.ZipFile(packed, "w") as archive:
        for name in _files():
            path = ROOT / name
            if path.is_symlink():
                entry = zipfile.ZipInfo(name)
                entry.create_system, entry.external_attr = 3, 0o120777 << 16
                archive.writestr(entry, str(path.readlink()))
            else:
                archive.write(path, name)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder)


def _uploaded_as_a_space(folder: Path) -> None:
    """Copy what `HfApi.upload_folder` sends: the files, and no link to a folder."""
    for name in _files():
        if not (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def _checked_out_on_windows(folder: Path) -> None:
    """Copy the files, and for each link a text file with a line end that names where it led."""
    _uploaded_as_a_space(folder)
    for link in LINKS:
        (folder / "prompt_debugger" / link).write_text(f"../{link}\r\n", encoding="utf-8")


@pytest.fixture(
    name="tree", scope="module", params=[_unzipped_by_python, _uploaded_as_a_space, _checked_out_on_windows]
)
def fixture_tree(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A tree of the product without working links."""
    folder = tmp_path_factory.mktemp("tree") / "checkout"
    folder.mkdir()
    request.param(folder)
    assert not any((folder / "prompt_debugger" / link).is_dir() for link in LINKS)
    (folder / "request.json").write_text(json.dumps(REQUEST), encoding="utf-8")
    yield folder
    shutil.rmtree(folder)


def _run(tree: Path, *arguments: str, text: str = "") -> str:
    return output_in(tree, [sys.executable, "app.py", *arguments], text)


def test_commands_run_there(tree: Path) -> None:
    rendered = json.loads(_run(tree, "render", "request.json", "--json"))
    parsed = json.loads(_run(tree, "parse", "-", "--json", text=CALL))

    assert rendered["text"].endswith("<|im_assistant|>assistant<|im_middle|>")
    assert parsed["calls"][0]["name"] == "get_weather"
    assert _run(tree, "inspect", "request.json")


@pytest.mark.vllm
def test_parsers_of_vllm_are_asked_there(tree: Path) -> None:
    parsed = json.loads(_run(tree, "parse", "-", "--parser", "vllm:hermes", "--json", text=CALL))

    assert [call["function"]["name"] for call in parsed["parsers"]["vllm:hermes"]["tool_calls"]] == ["get_weather"]


def test_the_page_opens_there(tree: Path) -> None:
    check_page_opens(tree, [sys.executable, "app.py", *PAGE])
