"""The address that lists what programs may call by name: `GET /gradio_api/call`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from starlette.responses import JSONResponse

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.ui.web.admission.events import App, Message, Receive, Send

CALLS = ("diagnose", "render", "parse", "explain")
LIST_PATH = "/gradio_api/call"


class CallList:
    """Answers what may be called by name; everything else is passed on."""

    def __init__(self, app: App, works: Mapping[str, Callable[..., object]]) -> None:
        self.app = app
        self._listed: JSONObject = {name: _described(works[name]) for name in CALLS}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        is_asked = scope["type"] == "http" and scope["path"] == LIST_PATH and scope["method"] in ("GET", "HEAD")
        await (JSONResponse(self._listed) if is_asked else self.app)(scope, receive, send)


def _described(work: Callable[..., object]) -> JSONObject:
    """Return what a name takes, in the order in which `data` has it, and what it does."""
    taken = [one for one in inspect.signature(work).parameters.values() if one.name != "self"]
    values: list[JSON] = [{"name": one.name, "required": one.default is inspect.Parameter.empty} for one in taken]
    return {"data": values, "does": " ".join((inspect.getdoc(work) or "").split())}
