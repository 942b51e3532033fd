"""A failing test for the maintainers of a server: small, by itself, without weights and GPU.

The raw output, the tools and the calls that the output holds are in it, in the way that the
project writes its parser tests. What a test for vLLM expects is checked at once in the
installed release (`core.mend.trial`), and so is one for SGLang where that is installed; what was not
run says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from prompt_debugger.core.errors import RequestError, shorten
from prompt_debugger.core.formats import CONTROL_TOKEN
from prompt_debugger.core.types import CallStatus, JSONObject, Place, ToolCallAttempt, Trace

_PLAIN = re.compile(r"[A-Za-z0-9_.+-]{1,80}")
_MARKER = re.compile(rf"{CONTROL_TOKEN.pattern}|\[[A-Z_]{{3,20}}\]|</?[a-z_:]*tool_calls?>|</?think>")


@dataclass(frozen=True, slots=True)
class ParserCase:
    """What a parser must make of an output.

    Attributes:
        parser: Name of the parser.
        raw: The raw output, end tokens left out.
        tools: Tools of the request.
        calls: Name and arguments of every whole call of the output, arguments as JSON text.
        name: What the test is called.
    """

    parser: str
    raw: str
    tools: tuple[JSONObject, ...]
    calls: tuple[tuple[str, str], ...]
    name: str

    @property
    def markers(self) -> tuple[str, ...]:
        """Markers in the output that a tokenizer would have as tokens."""
        return tuple(dict.fromkeys(_MARKER.findall(self.raw)))


def case_of_trace(trace: Trace, parser: str | None = None) -> ParserCase:
    """Return the case that a run makes.

    Args:
        trace: The run.
        parser: Name of the parser, where the run does not tell it.

    Raises:
        RequestError: There is no raw output, no whole call in it, or no parser named.
    """
    name = parser or (None if trace.server is None else trace.server.tool_parser)
    if name is None:
        raise RequestError("which parser read this output is not known", "Name it with --parser.", field="--parser")
    if not _PLAIN.fullmatch(name):  # it is written into a program, and a saved run says what its author likes
        raise RequestError(f"{shorten(name)} is no name of a parser", "Name it with --parser.", field="--parser")
    if trace.parse is None:
        raise RequestError("the run holds no raw output that was read", "A test needs one: run the request again.")
    calls = [call for call in trace.parse.parsed.calls if call.place is Place.BODY]
    whole = [call for call in calls if call.status is CallStatus.COMPLETE and call.name]
    if not whole:
        raise RequestError("the output holds no whole tool call", "Only a call that a parser must find makes a test.")
    tools = trace.request.body.get("tools")
    return ParserCase(
        parser=name,
        raw=_without_end(trace),
        tools=tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else (),
        calls=tuple((call.name or "", _arguments(call)) for call in whole),
        name=_test_name(trace),
    )


def write_upstream_test(case: ParserCase, engine: str) -> str:
    """Return the source of a test.

    Args:
        case: What the parser must make of which output.
        engine: One of `ENGINES`.

    Raises:
        RequestError: There is no such engine.
    """
    if engine not in _WRITERS:
        raise RequestError(f"no test can be written for {engine!r}", f"Known: {', '.join(ENGINES)}.")
    return _WRITERS[engine](case)


def _without_end(trace: Trace) -> str:
    assert trace.parse is not None
    ends = [s.char_span.start for s in trace.parse.parsed.segments if s.kind.value == "end"]
    return trace.parse.raw[: min(ends)] if ends else trace.parse.raw


def _arguments(call: ToolCallAttempt) -> str:
    return call.arguments if call.arguments_json is None else json.dumps(call.arguments_json, ensure_ascii=False)


def _test_name(trace: Trace) -> str:
    named = next((finding.name for finding in trace.findings if finding.stage.value == "parse"), "every-call-is-read")
    return f"test_{re.sub('[^a-z0-9]+', '_', named.lower())[:60]}"


def _vllm(case: ParserCase) -> str:
    return _VLLM.format(
        parser=case.parser,
        name=case.name,
        raw=_text(case.raw),
        tools=_text(json.dumps(case.tools, ensure_ascii=False, indent=1)),
        calls=_calls(case.calls),
        markers=_lines(case.markers),
    )


def without_note(source: str) -> str:
    """Return a test that was run without the words that say it was not."""
    return source.removeprefix(_NOT_RUN)


def _sglang(case: ParserCase) -> str:
    return _NOT_RUN + _SGLANG.format(
        parser=case.parser,
        name=case.name,
        raw=_text(case.raw),
        tools=_text(json.dumps(case.tools, ensure_ascii=False, indent=1)),
        calls=_calls(case.calls),
    )


def _llama_cpp(case: ParserCase) -> str:
    calls = "".join(
        f'        {{ {json.dumps(name)}, {json.dumps(arguments)}, /* id = */ "" }},\n' for name, arguments in case.calls
    )
    return _LLAMA_CPP.format(name=case.name, raw=json.dumps(case.raw, ensure_ascii=False), calls=calls)


def _text(text: str) -> str:
    """Return a literal of a text, one line of it in each line."""
    lines = text.splitlines(keepends=True) or [""]
    return "(\n" + "".join(f"    {line!r}\n" for line in lines) + ")"


def _calls(calls: Sequence[tuple[str, str]]) -> str:
    return "[\n" + "".join(f"    ({name!r}, json.loads({arguments!r})),\n" for name, arguments in calls) + "]"


def _lines(texts: Sequence[str]) -> str:
    return "[\n" + "".join(f"    {text!r},\n" for text in texts) + "]"


_VLLM = '''\
"""What vLLM's tool parser `{parser}` makes of one output; needs no weights and no GPU (vLLM 0.24 and later)."""

import json

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager

OUTPUT = {raw}
TOOLS = json.loads{tools}
CALLS = {calls}
MARKERS = {markers}


def small_tokenizer():
    """Bytes, and the markers of the output as single tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    core = Tokenizer(models.BPE(vocab={{char: i for i, char in enumerate(alphabet)}}, merges=[]))
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    core.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core)
    tokenizer.add_tokens([AddedToken(marker, special=True, normalized=False) for marker in MARKERS])
    return tokenizer


def {name}():
    tokenizer = small_tokenizer()
    request = ChatCompletionRequest(model="m", messages=[{{"role": "user", "content": "."}}], tools=TOOLS)
    made = ParserManager.get_parser(tool_parser_name="{parser}", enable_auto_tools=True)
    parser = made(tokenizer, request.tools)
    ids = tokenizer.encode(OUTPUT, add_special_tokens=False)
    _, content, calls = parser.parse(OUTPUT, request, enable_auto_tools=True, model_output_token_ids=ids)
    found = [(call.name, json.loads(call.arguments)) for call in calls or []]
    assert found == CALLS, f"{{len(found)}} of {{len(CALLS)}} calls returned: {{found}}; content {{content!r}}"
'''

_NOT_RUN = "# Not run: written from a raw output; SGLang was not installed where it was written.\n"
_SGLANG = '''\
"""What SGLang's tool parser `{parser}` makes of one output; needs no weights and no GPU."""

import json
import unittest

from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.function_call_parser import FunctionCallParser

OUTPUT = {raw}
TOOLS = json.loads{tools}
CALLS = {calls}


class TestOutput(unittest.TestCase):
    def {name}(self):
        parser = FunctionCallParser([Tool(**tool) for tool in TOOLS], "{parser}")
        content, found = parser.parse_non_stream(OUTPUT)
        self.assertEqual([(call.name, json.loads(call.parameters)) for call in found], CALLS, content)


if __name__ == "__main__":
    unittest.main()
'''

_LLAMA_CPP = """\
// Not run: written from a raw output. For tests/test-chat.cpp; set the format of the model's template.
static void {name}() {{
    common_chat_msg expected;
    expected.role = "assistant";
    expected.tool_calls = {{
{calls}    }};
    common_chat_parser_params params;
    params.format = COMMON_CHAT_FORMAT_CONTENT_ONLY;  // the format that common_chat_templates_apply gives
    assert_msg_equals(expected, common_chat_parse({raw}, /* is_partial= */ false, params));
}}
"""

_WRITERS: Mapping[str, Callable[[ParserCase], str]] = {"vllm": _vllm, "sglang": _sglang, "llama.cpp": _llama_cpp}
ENGINES = tuple(_WRITERS)
