"""llama.cpp's server; its endpoints are in `backends/llama_cpp.py`.

It is recognised by `/props`, even behind a proxy that renames models and hides headers. It serves its one model under
any name, leaves most control tokens out of its text, and refuses `logprobs` with tools in a stream.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace

from prompt_debugger.core.base.json_values import as_count, as_object, as_text
from prompt_debugger.core.base.types import JSONObject, Server
from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.llama_cpp import request_pieces, request_props
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._parser_test import ParserCase, ParserTest
from prompt_debugger.core.complete.engines._record import (
    AnswerPlaces,
    ControlTokens,
    Endpoints,
    Engine,
    Marks,
    OwnFields,
)
from prompt_debugger.core.complete.engines._start import NOT_TRIED, Flag, StartCommand, StartWith

_FIELDS: JSONObject = {"verbose": True, "return_tokens": True}
_TEMPLATE_FLAG = "--chat-template-file"


def _is_llama_cpp(answers: Sequence[JSONObject]) -> bool:
    (props,) = answers
    return "default_generation_settings" in props and "total_slots" in props


async def _add_details(looks: Looks, server: Server) -> Server:
    """Add what `/props` says, and whether the server reports its prompt (`apply_template`)."""
    fields = await looks.fields("/props")
    length = as_count(as_object(fields.get("default_generation_settings")).get("n_ctx"))
    features: set[str] = {"tokenizer_info"} if as_text(fields.get("chat_template")) else set()
    found = await asyncio.gather(looks.answers("/apply-template"), looks.answers("/detokenize"))
    features |= {name for name, is_there in zip(("apply_template", "detokenize"), found, strict=True) if is_there}
    return replace(
        server,
        version=as_text(fields.get("build_info")),
        max_model_len=length or server.max_model_len,
        features=frozenset(features),
    )


async def _pieces(connection: HttpConnection, _: str | None, text: str) -> Mapping[int, bytes]:
    return await request_pieces(connection, text)


def _start(given: StartWith) -> StartCommand:
    flag = Flag(("--jinja",), "It renders with the template and reads calls by it; newer builds do so by default.")
    note = f"llama.cpp chooses its parser by the template and has no flag for it; {NOT_TRIED}."
    flags = (flag, *given.template_flags(_TEMPLATE_FLAG))
    return StartCommand(("llama-server", "-m", "MODEL.gguf"), flags, note=note)


_NOT_RUN = "// Not run here: llama.cpp has to be compiled for it.\n"
_TEST = """\
// For tests/test-chat.cpp: put it above main(), and call it there.{missing}
static void {name}() {{
    auto templates = common_chat_templates_init(/* model= */ nullptr, {template});
    common_chat_templates_inputs inputs;
    inputs.messages = {{ simple_assist_msg("") }};
    inputs.messages[0].role = "user";
    inputs.messages[0].content = "Hello";
    inputs.tools = common_chat_tools_parse_oaicompat(json::parse({tools}));
    inputs.parallel_tool_calls = true;
    inputs.reasoning_format = COMMON_REASONING_FORMAT_DEEPSEEK;
    auto params = common_chat_templates_apply(templates.get(), inputs);
    common_chat_parser_params given(params);
    auto actual = common_chat_peg_parse(params.parser, common_chat_input({raw}), /* is_partial= */ false, given);
    for (auto & call : actual.tool_calls) {{
        call.id.clear();
    }}
    auto expected = actual;  // only the calls are compared
    expected.tool_calls = {{
{calls}    }};
    assert_msg_equals(expected, actual);
}}
"""
_NO_TEMPLATE = " The run does not show the model's template: give its file."
_ANY_FILE = 'read_file("models/templates/MODEL.jinja")'


def _test(case: ParserCase) -> str:
    calls = "".join(
        f'        {{ {_literal(name)}, {_literal(arguments)}, /* id = */ "" }},\n' for name, arguments in case.calls
    )
    return _TEST.format(
        name=case.name,
        missing="" if case.template else _NO_TEMPLATE,
        template=_literal(case.template) if case.template else _ANY_FILE,
        tools=_literal(json.dumps(case.tools)),
        raw=_literal(case.raw),
        calls=calls,
    )


def _literal(text: str) -> str:
    """Return a C++ literal of a text, one line of it in each line, whatever characters it has."""
    lines = text.split("\n")
    written = [_escaped(line) + r"\n" for line in lines[:-1]] + [_escaped(lines[-1])]
    length = f", {len(text.encode('utf-8', 'surrogatepass'))}" if "\0" in text else ""  # a NUL would end it
    return (
        "std::string(" + "\n        ".join(f'"{line}"' for line in written if line or len(written) == 1) + f"{length})"
    )


def _escaped(line: str) -> str:
    plain = line.replace("\\", r"\\").replace('"', r"\"")
    return "".join(one if " " <= one < "\x7f" or one > "\x9f" else _octal(one) for one in plain)


def _octal(character: str) -> str:
    return "".join(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogatepass"))


ENGINE = Engine(
    kind="llama.cpp",
    title="llama.cpp",
    takes_several=True,
    marks=Marks(
        owners=("llamacpp",),
        server_header="llama.cpp",
        paths=("/props",),
        is_it=_is_llama_cpp,
        overrules=True,
        order=30,
    ),
    serves_any_name=True,
    add_details=_add_details,
    endpoints=Endpoints(tokenizer_info=request_props, pieces=_pieces),
    own_fields=OwnFields(chat=_FIELDS, stream={}, completion=_FIELDS),
    answer_places=AnswerPlaces(output_ids=("__verbose", "tokens"), prompt_text=("__verbose", "prompt")),
    reports_ids=True,
    control_tokens=ControlTokens.LEFT_OUT,
    when_it_renders="always",
    template_flag=_TEMPLATE_FLAG,
    renders_like="llama.cpp",
    start=_start,
    parser_test=ParserTest(_test, not_run=_NOT_RUN, suffix="cpp"),
)
