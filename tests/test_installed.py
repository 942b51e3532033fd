"""What `pip install prompt-debugger` brings: one name, every command, from any folder."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import threading
import zipfile
from pathlib import Path

import httpx
import pytest

import prompt_debugger
from tests.attacks.page import echoing
from tests.conftest import ROOT
from tests.patience import PATIENCE_S

REQUEST = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
# Names of ours in the checkout, of libraries that we import, and of the standard library.
TRAPS = ("core", "ui", "app", "assets", "prompt_debugger", "transformers", "gradio", "jinja2", "httpx", "json", "html")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, through a source distribution, as a release is made."""
    folder = tmp_path_factory.mktemp("wheel")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)], ROOT)
    (packed,) = folder.glob("*.tar.gz")
    _run(["tar", "xzf", str(packed)], folder)
    source = folder / packed.name.removesuffix(".tar.gz")
    _run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)], source)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel, and of the checkout nothing."""
    folder = tmp_path_factory.mktemp("environment")
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder)], folder)
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python")]
    _run([*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)], folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, full of modules that raise when they are imported."""
    folder = tmp_path_factory.mktemp("traps")
    for name in TRAPS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('{name} of the working directory was imported')")
    (folder / "request.json").write_text(json.dumps(REQUEST))
    return folder


def _run(command: list[str], folder: Path, text: str = "", status: int = 0) -> str:
    done = subprocess.run(
        command, cwd=folder, input=text, capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == status, done.stderr + done.stdout
    return done.stdout


def test_the_wheel_brings_exactly_one_name(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {name for name in names if not name.endswith(".dist-info")} == {"prompt_debugger"}


def test_it_holds_all_code_and_all_assets_of_the_checkout(wheel: Path) -> None:
    tracked = _run(["git", "ls-files", "core", "ui", "assets"], ROOT).split()

    packed = zipfile.ZipFile(wheel).namelist()

    assert {f"prompt_debugger/{name}" for name in tracked} <= set(packed)


def test_it_tells_its_version(environment: Path, traps: Path) -> None:
    told = _run([str(environment / "bin" / "prompt-debugger"), "--version"], traps)

    assert told.startswith(f"prompt-debugger {prompt_debugger.__version__}\n")
    assert f"Python {sys.version.split()[0]}" in told


def test_it_renders_and_parses_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    program = str(environment / "bin" / "prompt-debugger")

    rendered = json.loads(_run([program, "render", "request.json", "--json"], traps))
    cases = json.loads(
        _run([program, "render", "--cases", "-"], traps, json.dumps({"request": REQUEST, "tokenizer": "lab-model"}))
    )
    parsed = json.loads(_run([program, "parse", "-", "--json"], traps, CALL))

    assert rendered["text"].endswith("<|im_assistant|>assistant<|im_middle|>")
    assert cases["text"] == rendered["text"]
    assert parsed["calls"][0]["name"] == "get_weather"


def test_it_runs_against_an_endpoint_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    with echoing() as url:
        command = [str(environment / "bin" / "prompt-debugger"), "run", "request.json", "--endpoint", url, "--json"]
        command += ["--tokenizer", str(ROOT / "assets" / "lab-model")]
        done = json.loads(_run(command, traps))

    assert done["chat"]["message"]["content"] == "ECHO hi"
    assert done["local_prompt"]["text"].endswith("<|im_middle|>")


def test_its_page_opens_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    page = subprocess.Popen(
        [str(environment / "bin" / "prompt-debugger"), "ui", "--port", "0", "--no-lab", "--endpoint", "http://[::1]:9"],
        cwd=traps, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
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


def test_it_is_a_library_there(environment: Path, traps: Path) -> None:
    code = f"""
import prompt_debugger, sys
assert not {{"torch", "vllm", "gradio", "transformers"}} & set(sys.modules)
print(prompt_debugger.parse({CALL!r}).parse.parsed.format)
print(prompt_debugger.__file__)
"""

    told = _run([str(environment / "bin" / "python"), "-P", "-c", code], traps).split()

    assert told[0] == "hermes"
    assert Path(told[1]).is_relative_to(environment)


def test_all_names_of_the_library_are_there_and_no_others() -> None:
    for name in prompt_debugger.__all__:
        assert getattr(prompt_debugger, name).__doc__, name
    assert set(prompt_debugger.__all__) <= set(dir(prompt_debugger))
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = prompt_debugger.no_such_thing
