"""The path and body with which a request of each API goes out.

POST /v1/chat/completions, /v1/responses, /v1/messages   model and `stream` in the body
POST /v1beta/models/MODEL:generateContent                whole; the address alone gives model and streaming
POST /v1beta/models/MODEL:streamGenerateContent?alt=sse
"""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import quote

from prompt_debugger.core.base.types import JSON, Api, JSONObject


class Wire(NamedTuple):
    """The path of a request, and the body sent there."""

    path: str
    body: JSONObject


def wire_of(api: Api, body: JSONObject, *, is_streamed: bool) -> Wire:
    """Return the path for a body, and the body as it is sent.

    >>> wire_of(Api.MESSAGES, {"model": "m"}, is_streamed=True)
    Wire(path='/v1/messages', body={'model': 'm', 'stream': True})
    >>> wire_of(Api.GEMINI, {"model": "org/m", "contents": []}, is_streamed=True)
    Wire(path='/v1beta/models/org/m:streamGenerateContent?alt=sse', body={'contents': []})
    """
    sent = {key: value for key, value in body.items() if key != "stream"}
    if api is Api.GEMINI:
        model = str(sent.pop("model", None) or "").removeprefix("models/")
        method = "streamGenerateContent?alt=sse" if is_streamed else "generateContent"
        return Wire(f"/v1beta/models/{quote(model, safe='/')}:{method}", sent)
    path = "/v1/chat/completions" if api is Api.CHAT else f"/v1/{api}"
    return Wire(path, {**sent, "stream": True} if is_streamed else sent)


def endpoint_of(api: Api) -> str:
    """Return the path of an API's endpoint for display, with `{model}` where the model's name goes."""
    return wire_of(api, {"model": "MODEL"}, is_streamed=False).path.replace("MODEL", "{model}")


def name_in(namespace: JSON, name: JSON) -> JSON:
    """Return the one name for a function in a namespace of Responses, joined as vLLM shows it to a model.

    A function that OpenAI loads later (`defer_loading`) comes back in a namespace that is called as itself.

    >>> name_in("crm", "find"), name_in(None, "find"), name_in("find", "find")
    ('crm__find', 'find', 'find')
    """
    is_within = isinstance(namespace, str) and namespace not in ("", name) and isinstance(name, str)
    return f"{namespace}__{name}" if is_within else name


def name_model(body: JSONObject, model: str | None) -> JSONObject:
    """Return a body with the name of the model; as it is where none is known, since servers refuse `null`."""
    return body if model is None else {**body, "model": model}
