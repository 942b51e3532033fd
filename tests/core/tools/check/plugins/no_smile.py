"""A tool parser with a planted bug: it loses a smiling face in an argument; streamed as whole."""

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


def functions(text: str) -> list[tuple[str, str]]:
    found = [json.loads(one) for one in CALL.findall(text)]
    # THE BUG: the face is lost
    return [
        (one["name"], json.dumps(one["arguments"], ensure_ascii=False).replace("\N{SLIGHTLY SMILING FACE}", ""))
        for one in found
    ]


class NoSmile(ToolParser):  # type: ignore[misc]  # vLLM is untyped here
    def __init__(self, tokenizer: object, tools: object = None) -> None:
        super().__init__(tokenizer, tools)
        self.given = 0

    def extract_tool_calls(self, model_output: str, request: object) -> object:
        calls = [ToolCall(function=FunctionCall(name=name, arguments=said)) for name, said in functions(model_output)]
        content = model_output.partition("<tool_call>")[0] or None
        return ExtractedToolCallInformation(tools_called=bool(calls), tool_calls=calls, content=content)

    def extract_tool_calls_streaming(
        self, previous_text: str, current_text: str, delta_text: str, *_: object
    ) -> object:
        if "<" not in current_text:
            return DeltaMessage(content=delta_text)
        new = functions(current_text)[self.given :]
        calls = [
            DeltaToolCall(index=self.given + at, function=DeltaFunctionCall(name=name, arguments=said).model_dump())
            for at, (name, said) in enumerate(new)
        ]
        self.given += len(new)
        return DeltaMessage(tool_calls=calls) if calls else None


ToolParserManager.register_module("no_smile", force=True, module=NoSmile)
