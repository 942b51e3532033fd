"""What a run is aimed at: an endpoint, or a lab that is booted for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from prompt_debugger.core.base.types import Api, Request
from prompt_debugger.core.complete import NetworkGuard, ServerClient, Timeouts
from prompt_debugger.core.tools.lab import LabSpec

RUN_S = 1_800.0


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request is sent, and what it is rendered with.

    Attributes:
        base_url: Server address, up to and including `/v1`; `None` means the lab.
        model: Model name to send; `None` keeps the request's own, or takes the server's first if it names none.
        api_key: Sent as bearer token; never shown.
        tokenizer: Folder or hub id; `None` means what the server says of its model.
        chat_template: Jinja source that overrides the tokenizer's own.
        template_name: Which of the tokenizer's templates, where it has several; `None` takes what transformers would.
        tool_parser: Name of the server's tool parser, if the person knows it.
        reasoning_parser: Name of the server's reasoning parser, likewise.
        lab: The lab to boot when there is no `base_url`.
        guard: Which servers a stranger's choice may lead to; `None` for any. With one, a server has no say in which
            tokenizer is loaded, either.
        extra_headers: Names and values of headers to send to `base_url` with every request; never shown.
        ca_file: Certificates in PEM form to trust besides the public ones.
        ca_text: The same as text, for who may name no file.
        asks_once: Whether a run asks the model for the request itself and nothing besides: no stream or whole answer
            to compare with, no raw completion.
        raw_only: Whether a raw completion of the request's prompt is all that is asked for: no chat, so no message.
        api: The API by which the server is asked; `None` for that of the request's own body.
        run_s: Seconds that a run may take once its server is there; what has come by then is kept.
    """

    base_url: str | None = None
    model: str | None = None
    api_key: str | None = field(default=None, repr=False)
    tokenizer: str | Path | None = None
    chat_template: str | None = None
    template_name: str | None = None
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    lab: LabSpec = field(default_factory=LabSpec)
    guard: NetworkGuard | None = None
    extra_headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    ca_file: str | Path | None = None
    ca_text: str | None = field(default=None, repr=False)
    asks_once: bool = False
    raw_only: bool = False
    api: Api | None = None
    run_s: float = RUN_S


def client_of(target: Target, base_url: str | None = None, timeouts: Timeouts | None = None) -> ServerClient:
    """Return the client of a target's server, or of the lab at `base_url` that was booted for it.

    Raises:
        BackendError: The address is invalid, or what the target holds must not or cannot be sent there.
    """
    is_own = target.base_url is not None
    address = target.base_url if base_url is None else base_url
    if address is None:
        raise ValueError("a target without a server has no client")
    return ServerClient(
        address,
        api_key=target.api_key,
        timeouts=timeouts,
        guard=target.guard if is_own else None,  # a lab is on this machine
        extra_headers=dict(target.extra_headers) if is_own else None,
        ca_file=target.ca_file if is_own else None,
        ca_text=target.ca_text if is_own else None,
    )


def requested_model(request: Request, target: Target) -> str | None:
    """Return the model that is asked for: the target's, else the request's; `None` if neither names one."""
    named = request.body.get("model")
    return target.model or (named if isinstance(named, str) and named else None)
