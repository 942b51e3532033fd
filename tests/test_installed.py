"""What `pip install prompt-debugger` brings: one name, every command, from any folder."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import prompt_debugger
from tests.attacks.page import echoing
from tests.conftest import ROOT
from tests.programs import CALL, PAGE, REQUEST, check_page_opens, output_in, run_in

OWN_UV = ROOT / ".venv-uv" / "bin" / "uv"
# What uv says where no package index answers it: that is no fault of the wheel.
UNREACHED = ("error sending request", "Failed to fetch", "Could not connect", "dns error", "network connectivity")

# Names of ours in the checkout, of libraries that we import, and of the standard library.
TRAPS = ("core", "ui", "app", "assets", "prompt_debugger", "transformers", "gradio", "jinja2", "httpx", "json", "html")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, through a source distribution, as a release is made."""
    folder = tmp_path_factory.mktemp("wheel")
    output_in(ROOT, [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder)])
    (packed,) = folder.glob("*.tar.gz")
    output_in(folder, ["tar", "xzf", str(packed)])
    source = folder / packed.name.removesuffix(".tar.gz")
    output_in(source, [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)])
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment that has the wheel, and of the checkout nothing."""
    folder = tmp_path_factory.mktemp("environment")
    output_in(folder, [sys.executable, "-m", "venv", "--without-pip", str(folder)])
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", str(folder / "bin" / "python")]
    output_in(folder, [*pip, "install", "--quiet", "--no-deps", "--no-index", str(wheel)])
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def uvx(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """The command that starts the wheel's program by `uvx`, with what the wheel says it needs and nothing else."""
    uv = str(OWN_UV) if OWN_UV.exists() else shutil.which("uv")
    if uv is None:
        pytest.skip("uv is not installed: `make .venv-uv/.ready`, which `make test` does where it can be had")
    folder = tmp_path_factory.mktemp("uv")
    command = [uv, "tool", "run", "--quiet", "--no-config", "--no-python-downloads", "--python", sys.executable]
    command += ["--from", str(wheel), "prompt-debugger"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_CACHE_DIR", str(folder / "cache"))
        patch.setenv("UV_TOOL_DIR", str(folder / "tools"))
        for name in ("PYTHONPATH", "VIRTUAL_ENV"):
            patch.delenv(name, raising=False)
        done = run_in(folder, [*command, "--version"])
        if done.returncode and any(words in done.stderr for words in UNREACHED):
            pytest.skip("no package index answers uv here")
        assert done.returncode == 0, done.stderr
        yield command


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder to work in, full of modules that raise when they are imported."""
    folder = tmp_path_factory.mktemp("traps")
    for name in TRAPS:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(f"raise SystemExit('{name} of the working directory was imported')")
    (folder / "request.json").write_text(json.dumps(REQUEST))
    return folder


def test_the_wheel_brings_exactly_one_name(wheel: Path) -> None:
    names = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert {name for name in names if not name.endswith(".dist-info")} == {"prompt_debugger"}


def test_it_contains_all_code_and_all_assets_of_the_checkout(wheel: Path) -> None:
    tracked = output_in(ROOT, ["git", "ls-files", "core", "ui", "assets"]).split()

    packed = zipfile.ZipFile(wheel).namelist()

    assert {f"prompt_debugger/{name}" for name in tracked} <= set(packed)


def test_it_reports_its_version(environment: Path, traps: Path) -> None:
    shown = output_in(traps, [str(environment / "bin" / "prompt-debugger"), "--version"])

    assert shown.startswith(f"prompt-debugger {prompt_debugger.__version__}\n")
    assert f"Python {sys.version.split()[0]}" in shown


def test_it_renders_and_parses_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    program = str(environment / "bin" / "prompt-debugger")

    rendered = json.loads(output_in(traps, [program, "render", "request.json", "--json"]))
    cases = json.loads(
        output_in(
            traps, [program, "render", "--cases", "-"], json.dumps({"request": REQUEST, "tokenizer": "lab-model"})
        )
    )
    parsed = json.loads(output_in(traps, [program, "parse", "-", "--json"], CALL))

    assert rendered["text"].endswith("<|im_assistant|>assistant<|im_middle|>")
    assert cases["text"] == rendered["text"]
    assert parsed["calls"][0]["name"] == "get_weather"


def test_it_runs_against_an_endpoint_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    with echoing() as url:
        command = [str(environment / "bin" / "prompt-debugger"), "run", "request.json", "--endpoint", url, "--json"]
        command += ["--tokenizer", str(ROOT / "assets" / "lab-model")]
        done = json.loads(output_in(traps, command))

    assert done["chat"]["message"]["content"] == "ECHO hi"
    assert done["local_prompt"]["text"].endswith("<|im_middle|>")


def test_its_page_opens_in_a_folder_full_of_traps(environment: Path, traps: Path) -> None:
    check_page_opens(traps, [str(environment / "bin" / "prompt-debugger"), "ui", *PAGE])


@pytest.mark.network
@pytest.mark.slow
def test_uvx_starts_it_in_an_empty_folder(uvx: list[str], tmp_path: Path) -> None:
    shown = output_in(tmp_path, [*uvx, "--version"])
    rendered = json.loads(
        output_in(tmp_path, [*uvx, "render", "-", "--tokenizer", "lab-model", "--json"], json.dumps(REQUEST))
    )
    parsed = json.loads(output_in(tmp_path, [*uvx, "parse", "-", "--json"], CALL))
    check_page_opens(tmp_path, [*uvx, "ui", *PAGE])

    assert shown.startswith(f"prompt-debugger {prompt_debugger.__version__}\n")
    assert rendered["text"].endswith("<|im_assistant|>assistant<|im_middle|>")
    assert parsed["calls"][0]["name"] == "get_weather"
    assert not any(tmp_path.iterdir())


@pytest.mark.network
@pytest.mark.slow
def test_uvx_says_how_to_get_the_lab(uvx: list[str], tmp_path: Path) -> None:
    done = run_in(tmp_path, [*uvx, "lab"])

    assert done.returncode == 2
    assert "vLLM is not installed" in done.stderr
    assert "`prompt-debugger lab --install`" in done.stderr


def test_it_is_a_library_there(environment: Path, traps: Path) -> None:
    code = f"""
import prompt_debugger, sys
assert not {{"torch", "vllm", "gradio", "transformers"}} & set(sys.modules)
print(prompt_debugger.parse({CALL!r}).parse.parsed.format)
print(prompt_debugger.__file__)
"""

    shown = output_in(traps, [str(environment / "bin" / "python"), "-P", "-c", code]).split()

    assert shown[0] == "hermes"
    assert Path(shown[1]).is_relative_to(environment)


def test_all_names_of_the_library_are_there_and_no_others() -> None:
    for name in prompt_debugger.__all__:
        assert getattr(prompt_debugger, name).__doc__, name
    assert set(prompt_debugger.__all__) <= set(dir(prompt_debugger))
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = prompt_debugger.no_such_thing
