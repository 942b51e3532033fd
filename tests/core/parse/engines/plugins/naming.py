"""Tool parsers that differ in where a tool call's id comes from; loaded into the helper as a plug-in.

Each reads `ID ID ARGUMENTS.`, twice where there are two such sentences.
"""

import secrets

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers import ToolParser, ToolParserManager


def drawn() -> str:
    return secrets.token_hex(5)[:9]


class Drawing(ToolParser):  # type: ignore[misc]  # vLLM is untyped here
    """Draws every id."""

    def extract_tool_calls(self, model_output: str, request: object) -> object:
        calls = [
            ToolCall(id=self.whole_id(words), function=FunctionCall(name="f", arguments=words[2]))
            for words in self.sentences(model_output)
        ]
        return ExtractedToolCallInformation(tools_called=True, tool_calls=calls, content=None)

    def extract_tool_calls_streaming(self, previous_text: str, current_text: str, *_: object) -> object:
        done = len(self.sentences(previous_text))
        calls = [
            DeltaToolCall(
                index=index,
                id=self.streamed_id(words),
                function=DeltaFunctionCall(name="f", arguments=self.streamed_arguments(index, words)),
            )
            for index, words in enumerate(self.sentences(current_text))
            if index >= done
        ]
        return DeltaMessage(tool_calls=calls) if calls else None

    def sentences(self, text: str) -> list[list[str]]:
        return [sentence.split(" ") for sentence in text.split(".")[:-1]]

    def whole_id(self, words: list[str]) -> str:
        return drawn()

    def streamed_id(self, words: list[str]) -> str:
        return drawn()

    def streamed_arguments(self, index: int, words: list[str]) -> str:
        return words[2]


class Altering(Drawing):
    """Draws every id, and streams other arguments in the second call."""

    def streamed_arguments(self, index: int, words: list[str]) -> str:
        return words[2] if index == 0 else "[]"


class Taking(Drawing):
    """Takes the first id of the text."""

    def whole_id(self, words: list[str]) -> str:
        return words[0]

    def streamed_id(self, words: list[str]) -> str:
        return words[0]


class Shifting(Taking):
    """Takes the second id of the text when streaming."""

    def streamed_id(self, words: list[str]) -> str:
        return words[1]


class Losing(Taking):
    """Takes the id of the text, and draws one when streaming."""

    def streamed_id(self, words: list[str]) -> str:
        return "chatcmpl-tool-" + drawn()


for parser in (Drawing, Altering, Taking, Shifting, Losing):
    ToolParserManager.register_module(parser.__name__.lower(), module=parser)
