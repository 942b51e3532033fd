"""What a look at a server showed, in sentences: what it is, what a run will ask, what can be known of it."""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.text import first_of
from prompt_debugger.core.base.types import JSON, Server
from prompt_debugger.core.complete import engine_of, title_of
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence

_NAMED = 6
_LISTED = 500  # models to choose from
_MAX_NAME = 300  # characters of one


def server_look_payload(server: Server, notes: tuple[str, ...], model: str | None, endpoint: str = "") -> str:
    """Return the lines about a server that answered, and the models to choose from."""
    models: list[JSON] = [name for name in server.served_models[:_LISTED] if len(name) <= _MAX_NAME]
    return _payload(" ".join([*_sentences(server, model), *notes]), models, endpoint)


def look_failed_payload(error: DebuggerError) -> str:
    """Return the lines about a server that did not answer, or may not be asked."""
    return _payload(f"✕ {as_sentence(error.message)} {error.hint}".strip())


def no_server_payload(sentence: str) -> str:
    """Return the line where there is nothing to look at."""
    return _payload(sentence)


def _payload(text: str, models: list[JSON] | None = None, endpoint: str = "") -> str:
    return pack_payload({"text": text, "models": models or [], "url": endpoint})


def _sentences(server: Server, model: str | None) -> Iterator[str]:
    name = title_of(server.kind)
    yield f"✓ {name} {server.version} answers." if server.version else f"✓ {name} answers."
    served = server.served_models
    if model is not None and served and model not in served:
        yield f"It does not serve `{model}`, only {_named(served)}."
    elif server.model:
        more = f" It also serves {_named([one for one in served if one != server.model])}." if len(served) > 1 else ""
        yield f"A run asks `{server.model}`.{more}"
    if server.max_model_len:
        yield f"Context: {server.max_model_len:,} tokens."
    yield _evidence(server)
    if server.tool_parser:
        yield f"Tool parser: `{server.tool_parser}`."


def _evidence(server: Server) -> str:
    """Return what a run can be expected to rest on: what the server is known to give, nothing that was not tried."""
    if engine_of(server.kind).reports_ids:
        return (
            "Servers of this kind can report the token ids of a run, the best evidence; the first run shows "
            "whether this one does."
        )
    if "completions" in server.features:
        return "A run compares chat and raw completion; the first run shows whether ids are available."
    return "It offers no raw completion: a run shows its message, and the raw output only if the answer includes it."


def _named(names: tuple[str, ...] | list[str]) -> str:
    return first_of([f"`{name[:80]}`" for name in names], _NAMED)
