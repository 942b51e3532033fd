"""The pytest plugin: saved runs and case files as tests, and a fixture that records a client and judges it.

Loaded by pytest wherever the package is installed, so it imports nothing of ours until a test uses it, and says nothing
where none does.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from prompt_debugger.core.pipeline import CaseParser
    from prompt_debugger.ui.testing import Recording

_DEFAULT_FILES = ["*.prompt-debugger.json", "*.prompt-debugger.jsonl"]
_PARSER: pytest.StashKey[CaseParser] = pytest.StashKey()
_RECORDING: pytest.StashKey[Recording] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare what is collected, and which parsers are asked."""
    group = parser.getgroup("prompt-debugger", "saved runs and raw outputs as tests")
    group.addoption(
        "--prompt-debugger-engines",
        metavar="NAME,NAME",
        default="",
        help="parsers that must lose no call of saved outputs, such as vllm:kimi_k2,vllm@0.11.0:kimi_k2",
    )
    parser.addini("prompt_debugger_files", "saved runs and case files that are tests (globs)", "args", _DEFAULT_FILES)
    parser.addini("prompt_debugger_engines", "parsers that must lose no call of saved outputs", "args", [])


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a saved run or case file."""
    patterns = parent.config.getini("prompt_debugger_files")
    names = (file_path.name, _relative(file_path, parent.config.rootpath))
    if not any(fnmatch.fnmatch(name, pattern) for pattern in patterns for name in names):
        return None
    return SavedFile.from_parent(parent, path=file_path)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the helper with the engines' parsers."""
    parser = config.stash.get(_PARSER, None)
    if parser is not None:
        parser.__exit__(None, None, None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Judge what a test recorded, while it can still fail."""
    result = yield
    recorded = item.stash.get(_RECORDING, None)
    if recorded is not None and (lost := recorded.lost()):
        pytest.fail("\n\n".join(["A recorded exchange lost a call.", *lost]), pytrace=False)
    return result


@pytest.fixture
def record_calls(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], str]]:
    """Give a function that starts a recording proxy before a server and returns the base URL for the client.

    At the end of the test every exchange that went through it is judged.
    """
    from prompt_debugger.ui.testing import recording

    with recording(tmp_path / "prompt-debugger") as made:
        request.node.stash[_RECORDING] = made
        yield made.before


class SavedFile(pytest.File):
    """A file of saved runs or cases: one test, or one for each line of a `.jsonl`."""

    def collect(self) -> Iterable[pytest.Item]:
        """Yield its tests."""
        text = self.path.read_text(encoding="utf-8")
        if self.path.suffix != ".jsonl":
            yield SavedItem.from_parent(self, name=self.path.name.partition(".")[0], text=text)
            return
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield SavedItem.from_parent(self, name=f"line {number}", text=line, line=number)


class SavedItem(pytest.Item):
    """No call is lost on this output."""

    def __init__(self, *, text: str, line: int = 1, **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]  # pytest's own
        self._text = text
        self._line = line

    def runtest(self) -> None:
        """Judge the saved output."""
        from prompt_debugger.ui.testing import judge_text

        judge_text(self._text, _engines(self.config), _parser(self.config))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Return what was lost, with the ledger; no traceback of ours."""
        from prompt_debugger.core.base.errors import DebuggerError
        from prompt_debugger.ui.testing import LostCallsError

        if isinstance(excinfo.value, DebuggerError):
            return f"{excinfo.value.message} {excinfo.value.hint}".strip()
        if isinstance(excinfo.value, LostCallsError):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Return where it is defined."""
        return self.path, self._line - 1, f"no call lost: {self.path.name}, {self.name}"


def _engines(config: pytest.Config) -> list[str]:
    named = str(config.getoption("--prompt-debugger-engines"))
    return [name for name in named.split(",") if name] or [*config.getini("prompt_debugger_engines")]


def _parser(config: pytest.Config) -> CaseParser:
    """Return what reads cases; its helpers stay warm until the session ends."""
    if _PARSER not in config.stash:
        from prompt_debugger.core.pipeline import CaseParser

        config.stash[_PARSER] = CaseParser()
    return config.stash[_PARSER]


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
