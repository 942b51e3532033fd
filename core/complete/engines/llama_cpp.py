"""llama.cpp's server; its endpoints are in `backends/llama_cpp.py`.

It is known by `/props` also behind a proxy that renames models and hides headers. It serves its one model under any
name, leaves most control tokens out of its text, and refuses `logprobs` with tools in a stream.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from prompt_debugger.core.complete.backends.http import HttpConnection
from prompt_debugger.core.complete.backends.llama_cpp import request_pieces, request_props
from prompt_debugger.core.complete.engines._looks import Looks
from prompt_debugger.core.complete.engines._record import ControlTokens, Endpoints, Engine, Marks, OwnFields
from prompt_debugger.core.complete.shapes import integer_of, text_of
from prompt_debugger.core.json_values import as_object
from prompt_debugger.core.types import JSONObject, Server

_FIELDS: JSONObject = {"verbose": True, "return_tokens": True}


def _is_llama_cpp(answers: Sequence[JSONObject]) -> bool:
    (props,) = answers
    return "default_generation_settings" in props and "total_slots" in props


async def _add_details(looks: Looks, server: Server) -> Server:
    """Add what `/props` says, and whether the server tells its prompt (`apply_template`)."""
    fields = await looks.fields("/props")
    length = integer_of(as_object(fields.get("default_generation_settings")).get("n_ctx"))
    features: set[str] = {"tokenizer_info"} if text_of(fields.get("chat_template")) else set()
    if await looks.answers("/apply-template"):
        features.add("apply_template")
    if await looks.answers("/detokenize"):
        features.add("detokenize")
    return replace(
        server,
        version=text_of(fields.get("build_info")),
        max_model_len=length or server.max_model_len,
        features=frozenset(features),
    )


async def _pieces(connection: HttpConnection, _: str | None, text: str) -> Mapping[int, bytes]:
    return await request_pieces(connection, text)


ENGINE = Engine(
    kind="llama.cpp",
    title="llama.cpp",
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
    tells_ids=True,
    control_tokens=ControlTokens.LEFT_OUT,
    renders_like="llama.cpp",
)
