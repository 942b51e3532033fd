"""Find out what a server is and what it offers, with a few short questions asked at once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.json_values import as_count, as_object, as_text
from prompt_debugger.core.base.text import first_of
from prompt_debugger.core.base.types import JSONObject, Server
from prompt_debugger.core.complete.backends.http import Answer, HttpConnection
from prompt_debugger.core.complete.backends.model_lists import models_in, what_came_instead
from prompt_debugger.core.complete.engines import ENGINES, UNKNOWN, Engine, Looks
from prompt_debugger.core.complete.shapes import parse_look

_NO_KEY = 401
_NAMES = 8
_MAX_MODELS = 5_000  # that a server is believed to serve


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a look at a server gave.

    Attributes:
        server: What is known of it.
        notes: What could not be seen, one sentence each.
        wants_key: Whether it lists its models only to those with a key, or with another one.
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

    Raises:
        BackendError: It answers nothing at all: it cannot be reached, or does not speak HTTP.
    """
    looks = Looks(connection)
    first = await looks.ask_beside("/v1/models", "/version", "/metrics")
    models = first[0]
    if isinstance(models, BackendError) and not any(_is_answer(look) for look in first):
        raise models
    # Not together with the others: a proxy with many routes takes seconds to write it, and answers nothing meanwhile.
    await looks.ask("/openapi.json")
    entries = models_in(looks.text("/v1/models"))[:_MAX_MODELS]
    entry = _entry_of(entries, model)
    engine = await _recognise(looks, entry or (entries[0] if entries else {}), models)
    features = await _features_of(looks, engine)
    is_listed = bool(entry)
    if engine.serves_any_name and not entry and len(entries) == 1:
        entry = entries[0]
    server = Server(
        base_url=connection.address.base_url,
        kind=engine.kind,
        version=as_text(parse_look(looks.text("/version")).get("version")),
        model=model or as_text(entry.get("id")),
        max_model_len=as_count(entry.get("max_model_len")),
        model_root=as_text(entry.get("root")),
        features=features,
        served_models=tuple(name for name in (as_text(one.get("id")) for one in entries) if name),
    )
    server = await engine.add_details(looks, server)
    wants_key = isinstance(models, BackendError) and models.status == _NO_KEY
    instead = what_came_instead(looks.text("/v1/models"))
    return ProbeResult(server, _notes_of(models, server, model, instead, is_listed=is_listed), wants_key)


def _is_answer(look: Answer | BackendError) -> bool:
    return isinstance(look, Answer) or look.status is not None


def _entry_of(entries: Sequence[JSONObject], model: str | None) -> JSONObject:
    """Return what the server says of a model; of its first if none is named, nothing of one that it does not list."""
    if model is None:
        return entries[0] if entries else {}
    return next((entry for entry in entries if _is_named(entry, model)), {})


def _is_named(entry: JSONObject, model: str) -> bool:
    """Return whether a model goes by a name; Ollama leaves out `:latest`, others list aliases or patterns."""
    aliases = entry.get("aliases")
    names = [entry.get("id"), *(aliases if isinstance(aliases, list) else [])]
    patterns = (name for name in names if isinstance(name, str) and "*" in name)
    return model in names or f"{model}:latest" in names or any(_fits(model, pattern) for pattern in patterns)


def _fits(model: str, pattern: str) -> bool:
    """Return whether a name is one of those that a gateway lists by a pattern, such as `*` or `gpt-*`.

    >>> _fits("gpt-5", "gpt-*"), _fits("other", "gpt-*"), _fits("other", "*")
    (True, False, True)
    """
    first, *_ = parts = pattern.split("*")
    last = parts[-1]
    return len(parts) == 2 and len(model) >= len(first + last) and model.startswith(first) and model.endswith(last)


async def _recognise(looks: Looks, entry: JSONObject, models: Answer | BackendError) -> Engine:
    """Return which software it is: by what it says of a model, else by paths that only one has."""
    claimed = _claimed_engine(looks, entry, models)
    if await _is_believed(looks, claimed):
        return claimed
    overruling = [one for one in ENGINES.values() if one.marks.overrules]
    others = [one for one in ENGINES.values() if not one.marks.overrules] if claimed is UNKNOWN else []
    return await _first_by_own_paths(looks, [*overruling, *others]) or claimed


def _claimed_engine(looks: Looks, entry: JSONObject, models: Answer | BackendError) -> Engine:
    owner = as_text(entry.get("owned_by")) or ""
    header = models.headers.get("server", "") if isinstance(models, Answer) else ""
    metrics = looks.text("/metrics")
    by_owner = (one for one in ENGINES.values() if owner in one.marks.owners)
    by_header = (
        one for one in ENGINES.values() if one.marks.server_header and header.startswith(one.marks.server_header)
    )
    by_metrics = (one for one in ENGINES.values() if one.marks.metrics and one.marks.metrics in metrics)
    return next(by_owner, None) or next(by_header, None) or next(by_metrics, None) or UNKNOWN


async def _is_believed(looks: Looks, engine: Engine) -> bool:
    path = engine.marks.believed_with
    return path is not None and (path == "" or isinstance((await looks.ask(path))[0], Answer))


async def _first_by_own_paths(looks: Looks, engines: Sequence[Engine]) -> Engine | None:
    """Return the first of some engines whose own paths say so; all are asked at once, none is waited for after that."""
    asked = [engine for engine in engines if engine.marks.paths]
    asking = [asyncio.create_task(looks.ask(*engine.marks.paths)) for engine in asked]
    try:
        for engine, answers in zip(asked, asking, strict=True):
            await answers
            if engine.marks.is_it([parse_look(looks.text(path)) for path in engine.marks.paths]):
                return engine
        return None
    finally:
        for answers in asking:
            answers.cancel()
        await asyncio.gather(*asking, return_exceptions=True)


async def _features_of(looks: Looks, engine: Engine) -> frozenset[str]:
    """Return which optional endpoints there are; those of the same names of another software differ."""
    by_path = engine.feature_by_path
    listed = as_object(parse_look(looks.text("/openapi.json")).get("paths"))
    if listed:
        return frozenset(feature for path, feature in by_path.items() if path in listed)
    found = await asyncio.gather(*(looks.answers(path, is_get=path in engine.get_paths) for path in by_path))
    return frozenset(feature for feature, is_there in zip(by_path.values(), found, strict=True) if is_there)


def _notes_of(
    models: Answer | BackendError, server: Server, model: str | None, instead: str | None, *, is_listed: bool
) -> tuple[str, ...]:
    advice = "name the model in the request" if model is None else "context length and tokenizer are not reported"
    if isinstance(models, BackendError):
        return (f"The server does not list its models ({models.message.rstrip('.')}): {advice}.",)
    if not server.served_models and instead is not None:
        return (f"The server answers with {instead} at `/v1/models`, not with a list of models: {advice}.",)
    if not server.served_models:
        return (f"The server lists no model: {advice}.",)
    listed = _listed(server.served_models)
    if model is None:
        several = len(server.served_models) > 1
        return (f"The request names no model: `{server.model}` was asked, the first of {listed}.",) if several else ()
    if is_listed:
        return ()
    return (f"The server lists no model named `{model}`, only {listed}: if it answers, it chooses which model does.",)


def _listed(names: Sequence[str]) -> str:
    return first_of([f"`{name}`" for name in names], _NAMES)
