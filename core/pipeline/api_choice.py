"""Which API a run asks, and with which body: the one that was pasted, or what the request converts to."""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.types import Api, JSONObject, Notice, Request, Server
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.base.wire import endpoint_of, name_model
from prompt_debugger.core.complete import ServerClient, engine_of, taken_by_api
from prompt_debugger.core.request import convert_as, to_api

_NO_ENDPOINT = frozenset({404, 405, 501})
_HAS_NO = "The server has no `"
# Words of a 404 about what a request names, and not about its address.
_ABOUT_NAMES = re.compile(
    r"model|\bprovider\b|\bdeployment\b|response with id|previous_response|\bresp_|\bconversation\b|\bfile\b.*\bid\b",
    re.IGNORECASE,
)
# What asks for the prompt of a chat request: another API converts its own way.
_OF_CHAT = frozenset({"render", "apply_template", "tokenize"})


class Asked(NamedTuple):
    """How a server is asked: the body of chat completions, that of another API, and a notice for each thing lost."""

    api: Api
    body: JSONObject
    native: JSONObject | None = None
    lost: tuple[Notice, ...] = ()

    def client_of(self, client: ServerClient) -> ServerClient:
        """Return a client that asks so."""
        return client if self.native is None else client.asking_by(self.api, self.native)


def asked_by(request: Request, by: Api | None, model: str | None, server: Server | None = None) -> Asked:
    """Return how a request is asked: by the API that is named, else by its own.

    A body that was pasted goes out as it is, as long as `request.body` is what it converts to: a request that was
    changed since then is converted back. What only some servers take by another API goes to a `server` that does.
    """
    api = by or request.api
    lost: tuple[Notice, ...] = ()
    native = request.native
    converted = None if native is None else convert_as(request.api, native)
    if native is not None and converted is not None and _is_same(converted.body, request.body):
        if api is request.api:
            return Asked(api, request.body, name_model(native, model))
        lost = tuple(notice for notice in converted.notices if notice.field)
    if api is Api.CHAT:
        return Asked(api, request.body, None, lost)
    made = to_api(request.body, api, frozenset() if server is None else taken_by_api(server, api))
    if converted is not None:
        made = made._replace(notices=tuple(replace(one, field=converted.place_of(one.field)) for one in made.notices))
    back = convert_as(api, made.body)  # what the server is asked, without what was lost in transit
    body = request.body if back is None else back.body
    return Asked(api, body, name_model(made.body, model), (*lost, *made.notices))


def _is_same(left: JSONObject, right: JSONObject) -> bool:
    """Return whether two bodies are the same but for the model, which each server has its own name for."""
    return {**left, "model": None} == {**right, "model": None}


def seen_by(server: Server, api: Api) -> Server:
    """Return a server with the features that report the prompt of a body of another API, not of a chat completion."""
    if api is Api.CHAT:
        return server
    renders = api is not Api.GEMINI and engine_of(server.kind).renders_other_apis and "render" in server.features
    return replace(server, features=(server.features - _OF_CHAT) | ({"render"} if renders else frozenset()))


def is_missing(error: BackendError) -> bool:
    """Return whether an error is that of an address which a server does not have."""
    return error.status in _NO_ENDPOINT and _ABOUT_NAMES.search(error.server_message) is None


def says_missing(message: str) -> bool:
    """Return whether these are our words on an address which a server does not have."""
    return message.startswith(_HAS_NO)


def missing_endpoint(error: BackendError, api: Api, *, is_one_of_several: bool = False) -> BackendError | None:
    """Return what is said of a server that does not have an API's endpoint; `None` for any other failure."""
    if not is_missing(error):
        return None
    if api is Api.CHAT and not is_one_of_several:
        return None
    return BackendError(
        f"{_HAS_NO}{endpoint_of(api)}`: it answered HTTP {error.status}.",
        ""
        if api is Api.CHAT
        else "Run it with `--api chat` (on the page: API, chat): it is then converted to a chat completion, which is a "
        "different request; whatever does not fit there is listed.",
        kind="refused",
    )
