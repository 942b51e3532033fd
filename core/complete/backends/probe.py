"""Find out what a server is and what it offers, with a few short questions asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from prompt_debugger.core.complete.backends.http import Answer, HttpConnection
from prompt_debugger.core.complete.shapes import integer_of, object_of, objects_of, parse_look, text_of
from prompt_debugger.core.errors import BackendError
from prompt_debugger.core.types import JSONObject, Server

Kind: TypeAlias = Literal["vllm", "sglang", "llama.cpp", "ollama", "openai-compatible"]

_FEATURE_BY_PATH = {
    "/v1/chat/completions/render": "render",
    "/v1/chat/completions/derender": "derender",
    "/v1/chat/completions": "chat",
    "/v1/completions": "completions",
    "/inference/v1/generate": "generate",
    "/tokenize": "tokenize",
    "/detokenize": "detokenize",
    "/tokenizer_info": "tokenizer_info",
    "/server_info": "server_info",
}
_SGLANG_FEATURE_BY_PATH = {
    "/parse_function_call": "parse_function_call",
    "/separate_reasoning": "separate_reasoning",
}
_KIND_BY_OWNER: dict[str, Kind] = {
    "vllm": "vllm",
    "sglang": "sglang",
    "llamacpp": "llama.cpp",
    "library": "ollama",
}
_NO_KEY = 401
_ABSENT = frozenset({403, 404, 405, 501})
_NAMES = 8
_MOST_MODELS = 5_000  # that a server is believed to serve
# Counted up by vLLM 0.26 and later if and only if a tool parser is configured.
_TOOL_PARSER_METRIC = "vllm:tool_call_parser_invocations_total"


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a look at a server gave.

    Attributes:
        server: What is known of it.
        notes: What could not be seen, one sentence each.
        wants_key: Whether it lists its models to nobody without a key, or another one.
    """

    server: Server
    notes: tuple[str, ...] = ()
    wants_key: bool = False


async def probe_server(connection: HttpConnection, model: str | None = None) -> ProbeResult:
    """Ask a server what it is; what it does not answer stays unknown.

    Args:
        connection: To the server.
        model: Name that requests will use; the server's first model if none. What the server says of a model is
            taken from the entry of this one.

    Features besides those that `Server` names: `chat`, `completions`, `generate`, `server_info`, and `tool_parser`
    where the server shows that one is configured.

    Raises:
        BackendError: It answers nothing at all: it cannot be reached, or does not speak HTTP.
    """
    looks = await asyncio.gather(*(_look(connection, path) for path in ("/v1/models", "/version", "/metrics")))
    models, version, metrics = looks
    if isinstance(models, BackendError) and not any(_is_answer(look) for look in looks):
        raise models
    # Not beside the others: a proxy with many routes writes it for seconds, and answers nothing else meanwhile.
    openapi = await _look(connection, "/openapi.json")
    entries = objects_of(parse_look(_text(models)).get("data"))[:_MOST_MODELS]
    entry = _entry_of(entries, model)
    kind = _kind_of(entry or (entries[0] if entries else {}), models, metrics)
    is_sure = kind == "sglang" or (kind == "vllm" and isinstance(version, Answer))  # a list of models may be anybody's
    props = None if is_sure else await _look(connection, "/props")
    if isinstance(props, Answer) and _is_llama_cpp(props):
        kind = "llama.cpp"  # also behind a proxy that renames models and hides headers
    if kind == "openai-compatible" and await _is_ollama(connection):
        kind = "ollama"
    features = await _features_of(connection, kind, openapi)
    if kind == "vllm" and _TOOL_PARSER_METRIC in _text(metrics):
        features |= {"tool_parser"}
    is_listed = bool(entry)
    if kind == "llama.cpp" and not entry and len(entries) == 1:
        entry = entries[0]  # it serves its one model under any name
    server = Server(
        base_url=connection.address.base_url,
        kind=kind,
        version=text_of(parse_look(_text(version)).get("version")),
        model=model or text_of(entry.get("id")),
        max_model_len=integer_of(entry.get("max_model_len")),
        model_root=text_of(entry.get("root")),
        features=features,
        served_models=tuple(name for name in (text_of(one.get("id")) for one in entries) if name),
    )
    detailed = _with_llama_cpp_details(connection, server, props) if kind == "llama.cpp" else None
    server = await (detailed or _with_details(connection, server))
    wants_key = isinstance(models, BackendError) and models.status == _NO_KEY
    return ProbeResult(server, _notes_of(models, server, model, is_listed=is_listed), wants_key)


async def _look(connection: HttpConnection, path: str) -> Answer | BackendError:
    try:
        return await connection.get(path, total_s=connection.timeouts.probe_s)
    except BackendError as error:
        return error


def _is_answer(look: Answer | BackendError) -> bool:
    return isinstance(look, Answer) or look.status is not None


def _text(look: Answer | BackendError | None) -> str:
    return look.text if isinstance(look, Answer) else ""


def _entry_of(entries: Sequence[JSONObject], model: str | None) -> JSONObject:
    """Return what the server says of a model; of its first if none is named, nothing of one that it does not list."""
    if model is None:
        return entries[0] if entries else {}
    return next((entry for entry in entries if _is_named(entry, model)), {})


def _is_named(entry: JSONObject, model: str) -> bool:
    """Say whether a model goes by a name; Ollama leaves out `:latest`, llama.cpp lists aliases."""
    aliases = entry.get("aliases")
    names = [entry.get("id"), *(aliases if isinstance(aliases, list) else [])]
    return model in names or f"{model}:latest" in names


def _kind_of(entry: JSONObject, models: Answer | BackendError, metrics: Answer | BackendError) -> Kind:
    owner = text_of(entry.get("owned_by")) or ""
    if owner in _KIND_BY_OWNER:
        return _KIND_BY_OWNER[owner]
    if isinstance(models, Answer) and models.headers.get("server", "").startswith("llama.cpp"):
        return "llama.cpp"
    if "vllm:" in _text(metrics):
        return "vllm"
    return "sglang" if "sglang:" in _text(metrics) else "openai-compatible"


async def _features_of(connection: HttpConnection, kind: Kind, openapi: Answer | BackendError) -> frozenset[str]:
    """Return which optional endpoints there are; other servers' endpoints of the same names differ from vLLM's."""
    by_path = {"vllm": _FEATURE_BY_PATH, "sglang": _SGLANG_FEATURE_BY_PATH}.get(kind, {})
    listed = object_of(parse_look(_text(openapi)).get("paths"))
    if listed:
        return frozenset(feature for path, feature in by_path.items() if path in listed)
    found = await asyncio.gather(*(_answers(connection, path) for path in by_path))
    return frozenset(feature for feature, is_there in zip(by_path.values(), found, strict=True) if is_there)


async def _answers(connection: HttpConnection, path: str) -> bool:
    """Say whether an endpoint is there: an empty body makes it complain, not work."""
    is_get = path in ("/tokenizer_info", "/server_info")
    try:
        if is_get:
            await connection.get(path, total_s=connection.timeouts.probe_s)
        else:
            await connection.post(path, {}, total_s=connection.timeouts.probe_s)
    except BackendError as error:
        return error.status is not None and error.status not in _ABSENT
    return True


async def _with_details(connection: HttpConnection, server: Server) -> Server:
    """Add what only some servers show, each in its own way."""
    if server.kind == "vllm" and "server_info" in server.features:
        return _with_vllm_details(server, await _look(connection, "/server_info?config_format=json"))
    if server.kind == "sglang":
        return _with_sglang_details(server, await _look(connection, "/get_server_info"))
    return server


def _with_vllm_details(server: Server, look: Answer | BackendError) -> Server:
    if not isinstance(look, Answer):
        return server
    config = object_of(parse_look(look.text).get("vllm_config"))
    name = text_of(object_of(config.get("structured_outputs_config")).get("reasoning_parser"))
    return replace(server, reasoning_parser=name or None, has_reasoning_parser=bool(name) if config else None)


async def _is_ollama(connection: HttpConnection) -> bool:
    """Tell whether an address is Ollama's: it has both a version and a list of tags of its own."""
    looks = await asyncio.gather(*(_look(connection, path) for path in ("/api/version", "/api/tags")))
    version, tags = (parse_look(_text(look)) for look in looks)
    return isinstance(version.get("version"), str) and isinstance(tags.get("models"), list)


def _is_llama_cpp(props: Answer) -> bool:
    fields = parse_look(props.text)
    return "default_generation_settings" in fields and "total_slots" in fields


async def _with_llama_cpp_details(
    connection: HttpConnection, server: Server, props: Answer | BackendError | None
) -> Server:
    """Add what `/props` says, and whether the server tells its prompt (`apply_template`)."""
    fields = parse_look(props.text) if isinstance(props, Answer) else {}
    length = integer_of(object_of(fields.get("default_generation_settings")).get("n_ctx"))
    features: set[str] = {"tokenizer_info"} if text_of(fields.get("chat_template")) else set()
    if await _answers(connection, "/apply-template"):
        features.add("apply_template")
    if await _answers(connection, "/detokenize"):
        features.add("detokenize")
    return replace(
        server,
        version=text_of(fields.get("build_info")),
        max_model_len=length or server.max_model_len,
        features=frozenset(features),
    )


def _with_sglang_details(server: Server, look: Answer | BackendError) -> Server:
    fields = parse_look(_text(look))
    reasoning = text_of(fields.get("reasoning_parser"))
    return replace(
        server,
        version=text_of(fields.get("version")),
        tool_parser=text_of(fields.get("tool_call_parser")),
        reasoning_parser=reasoning,
        has_reasoning_parser=reasoning is not None if "reasoning_parser" in fields else None,
    )


def _notes_of(models: Answer | BackendError, server: Server, model: str | None, *, is_listed: bool) -> tuple[str, ...]:
    advice = "name the model in the request" if model is None else "it does not say context length and tokenizer"
    if isinstance(models, BackendError):
        return (f"The server does not list its models ({models.message.rstrip('.')}): {advice}.",)
    if not server.served_models:
        return (f"The server lists no model: {advice}.",)
    listed = _listed(server.served_models)
    if model is None:
        several = len(server.served_models) > 1
        return (f"The request names no model: `{server.model}` was asked, the first of {listed}.",) if several else ()
    if is_listed:
        return ()
    return (f"The server lists no model named `{model}`, only {listed}: which model answers is its choice.",)


def _listed(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names[:_NAMES]]
    more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
    return ", ".join(quoted) + more
