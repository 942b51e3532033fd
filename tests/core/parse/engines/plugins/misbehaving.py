"""Tool parsers that misbehave, each in its own way; loaded into the helper as a plug-in."""

import contextlib
import os
import signal
import time

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
        os.kill(os.getpid(), signal.SIGSEGV)


class Leaving(Misbehaving):
    def misbehave(self) -> None:
        os._exit(3)


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


for parser in (Endless, Stubborn, Crashing, Leaving, Hungry, Wordy, Printing, Complaining):
    ToolParserManager.register_module(parser.__name__.lower(), module=parser)
