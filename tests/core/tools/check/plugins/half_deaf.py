"""A tool parser with a planted bug: streamed, it misses what comes with more than one call in a delta."""

import json
import re

from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
    ExtractedToolCallInformation,
    FunctionCall,
    ToolCall,
)
from vllm.tool_parsers import ToolParser, ToolParserManager

CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


class HalfDeaf(ToolParser):  # type: ignore[misc]  # vLLM is untyped here
    def __init__(self, tokenizer: object, tools: object = None) -> None:
        super().__init__(tokenizer, tools)
        self.given = 0

    def extract_tool_calls(self, model_output: str, request: object) -> object:
        found = [json.loads(text) for text in CALL.findall(model_output)]
        calls = [
            ToolCall(function=FunctionCall(name=one["name"], arguments=json.dumps(one["arguments"]))) for one in found
        ]
        content = model_output.partition("<tool_call>")[0] or None
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=content)

    def extract_tool_calls_streaming(
        self, previous_text: str, current_text: str, delta_text: str, *_: object
    ) -> object:
        if "<" not in current_text:
            return DeltaMessage(content=delta_text)
        found = [json.loads(text) for text in CALL.findall(current_text)]
        if len(found) <= self.given:
            return None
        self.given, one = len(found), found[-1]  # THE BUG: of two calls that end in one delta, the first is lost
        function = DeltaFunctionCall(name=one["name"], arguments=json.dumps(one["arguments"]))
        return DeltaMessage(tool_calls=[DeltaToolCall(index=self.given - 1, function=function.model_dump())])


ToolParserManager.register_module("half_deaf", force=True, module=HalfDeaf)
