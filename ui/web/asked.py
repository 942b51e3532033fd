"""What a request becomes before it goes to a target: another model name, fewer tokens, a lab that takes templates."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Notice, Request
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.lab import LAB_MODEL_NAME
from prompt_debugger.ui.web.limits import Limits, bounded_request, lab_request


def bounded_for(target: Target, request: Request, limits: Limits) -> Request:
    """Return a request as it goes to a target: not larger than what a visitor may ask of it."""
    if target.base_url is not None:
        return bounded_request(request_for(request, target), limits)
    return lab_request(request, limits) if target.lab.is_lab_model else request


def request_for(request: Request, target: Target) -> Request:
    """Return a request as another server can answer it: the lab's model, which worked cases name, is no one else's."""
    if target.base_url is None or target.model or request.body.get("model") != LAB_MODEL_NAME:
        return request
    body = {name: value for name, value in request.body.items() if name != "model"}
    notice = Notice("model", f"`{LAB_MODEL_NAME}` is the lab's model: the server's first model is used instead.")
    return replace(request, body=body, notices=(*request.notices, notice))


def trusting_template(target: Target, request: Request, *, is_public: bool) -> Target:
    """Return where a request with its own template can run: of the labs, one that takes it from requests.

    Raises:
        RequestError: A public page has no such lab.
    """
    if target.base_url is not None or not isinstance(request.body.get("chat_template"), str):
        return target
    if is_public:
        hint = "Leave `chat_template` out, or run the program on your own machine."
        raise RequestError("A public page does not run visitors' templates.", hint, field="chat_template")
    more = (*target.lab.extra_args, "--trust-request-chat-template")
    return replace(target, lab=replace(target.lab, extra_args=more))
