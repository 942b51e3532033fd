"""Tool parsers that misbehave, each in its own way; loaded into the helper as a plug-in."""

import contextlib
import ctypes
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from vllm.entrypoints.generate.base.protocol import ExtractedToolCallInformation, FunctionCall, ToolCall
from vllm.logger import init_logger
from vllm.tool_parsers import ToolParser, ToolParserManager

logger = init_logger("vllm.misbehaving")


class Misbehaving(ToolParser):  # type: ignore[misc]  # vLLM is untyped here
    def extract_tool_calls(self, model_output: str, request: object) -> object:
        self.misbehave()
        return ExtractedToolCallInformation(tools_called=False, tool_calls=[], content=model_output)

    def extract_tool_calls_streaming(self, *_: object) -> None:
        return None

    def misbehave(self) -> None:
        raise NotImplementedError


class Endless(Misbehaving):
    def misbehave(self) -> None:
        while True:
            pass


class Stubborn(Misbehaving):
    def misbehave(self) -> None:
        while True:
            with contextlib.suppress(BaseException):
                time.sleep(0.01)


class Crashing(Misbehaving):
    def misbehave(self) -> None:
        ctypes.string_at(0)


class Leaving(Misbehaving):
    def misbehave(self) -> None:
        os._exit(3)


class Deaf(Misbehaving):
    """Loops where no signal handler is run."""

    def misbehave(self) -> None:
        sum(range(1 << 60))


class BreakingOut(Misbehaving):
    """Tries what a locked helper cannot do, and says which of it could be done, or failed for another reason."""

    def misbehave(self) -> None:
        shown = [name + how for name, attempt in _ATTEMPTS.items() if (how := _ended(attempt)) != ", refused"]
        raise RuntimeError(
            " ".join([*shown, *sorted(name for name in os.environ if name.endswith(("_KEY", "_TOKEN")))])
        )


def _ended(attempt: Callable[[], object]) -> str:
    """Return "" for what could be done; what fails of itself, such as on a file that is not there, was not refused."""
    try:
        attempt()
    except OSError as error:
        words = ("does not allow", "is refused", "Refused ")
        is_by_us = isinstance(error, PermissionError) and any(word in str(error) for word in words)
        return ", refused" if is_by_us else f", {type(error).__name__}"
    return ""


# The first is what libraries do that import parts of themselves late.
_ATTEMPTS: dict[str, Callable[[], object]] = {
    "read-library": lambda: Path(os.__file__).read_bytes(),
    "read-machine": lambda: Path("/etc/passwd").read_bytes(),
    "read-through-link": lambda: Path("/proc/self/root", "etc", "passwd").read_bytes(),
    "list-machine": lambda: os.listdir("/etc"),  # noqa: PTH208  # what iterdir does
    "write": lambda: Path("/dev/shm/made-by-a-parser").write_text("x"),
    "write-library": lambda: Path(os.__file__).open("a").close(),
    "descriptor": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "remove": lambda: Path("/dev/shm/made-by-a-parser").unlink(),
    "run": lambda: subprocess.run(["true"], check=False),
    "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
    "shell": lambda: os.system("true"),
    "socket": socket.socket,
    "look-up": lambda: socket.getaddrinfo("example.org", 80),
    "kill": lambda: os.kill(os.getppid(), 0),
}


class Hungry(Misbehaving):
    def misbehave(self) -> None:
        bytearray(64 << 30)


class Wordy(Misbehaving):
    def extract_tool_calls(self, model_output: str, request: object) -> object:
        call = ToolCall(function=FunctionCall(name="f", arguments="x" * 20_000_000))
        return ExtractedToolCallInformation(tools_called=True, tool_calls=[call], content=None)


class Printing(Misbehaving):
    def misbehave(self) -> None:
        for _ in range(2_000):
            print("x" * 1_000)
            os.write(1, b"y" * 1_000)


class Complaining(Misbehaving):
    def misbehave(self) -> None:
        logger.warning("this is odd: %d", 42)
        raise KeyError("/home/someone/secret/place/file.py")


for parser in (Endless, Stubborn, Crashing, Leaving, Deaf, BreakingOut, Hungry, Wordy, Printing, Complaining):
    ToolParserManager.register_module(parser.__name__.lower(), module=parser)
