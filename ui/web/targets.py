"""The fields under Target → `Target`: whom a request is sent to, and who may see the key."""

from __future__ import annotations

import re
from copy import copy
from dataclasses import replace
from enum import StrEnum
from ipaddress import ip_address
from typing import NamedTuple
from urllib.parse import urlsplit

from prompt_debugger.core.base.errors import BackendError, DebuggerError, RequestError, shorten
from prompt_debugger.core.base.keys import variable
from prompt_debugger.core.base.types import Api, Request, Server, Trace
from prompt_debugger.core.complete import guard_of, is_this_machine, read_headers
from prompt_debugger.core.complete.backends.address import read_address
from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.web.labs import PageLabs
from prompt_debugger.ui.web.settings import PageSettings

TOOL_PARSERS = ("kimi_k2", "hermes", "qwen3_coder", "llama3_json", "mistral", "deepseek_v3", "none")
_NO_KEY = 401
_HEADER = re.compile(r"[A-Za-z0-9-]{1,64}: ")  # no key contains a colon and a space
_PASTED_KEY = re.compile(
    r"""authorization["']?\s*[:=]\s*["']?bearer\s+([^\s"'\\,;]+)"""
    r"""|\b(x-api-key|api-key)["']?\s*[:=]\s*["']?([^\s"'\\,;]+)"""
    r"""|\bapi_?key["']?\s*[:=]\s*["']([^\s"'\\,;]+)["']""",
    re.IGNORECASE,
)
# A variable, a cut, or a word in place of a key.
_NO_PASTED_KEY = re.compile(
    r"[$<>{}*\u2022\u2026]|\.\.\.|^.{0,3}$|^(?:empty|none|null|dummy|token|test|not-needed|secret)"
    r"|your|my[-_]|example|placeholder|redacted|xxx|api[-_]?key",
    re.IGNORECASE,
)
_BARE = re.compile(r"(?:[\w-]+(?:\.[\w-]+)*|\[[0-9a-fA-F:]+\]):\d{1,5}(?:/|$)")  # a host with its port
BY_REQUEST = ("as transformers chooses: `tool_use` with tools", "")  # of several templates
MAX_LABEL_CHARS = 40  # of a host on the Run button
MAX_CERTIFICATES_CHARS = 50_000
MAX_SERVERS = 8  # that a page remembers to have run against
REASONING_PARSERS = ("none", "deepseek_r1", "qwen3", "kimi_k2")


class NoServerError(DebuggerError):
    """There is nothing to run a request against."""


class RunOn(StrEnum):
    """Where a request goes when Run is pressed.

    `AUTO` is the endpoint under Target, else the server that the pasted call names, else the lab. `BOTH` is the lab,
    and after it what `AUTO` is: the page's script runs twice, and compares.
    """

    AUTO = "auto"
    LAB = "lab"
    BOTH = "both"
    RAW = "raw"

    @classmethod
    def _missing_(cls, value: object) -> RunOn:
        """Take what no page sends, as an event may bring anything, for a choice that was left as it was."""
        return cls.AUTO


class AskModel(StrEnum):
    """How often a run asks the model: `MORE` is a further time or two, to compare with; `RAW` asks for no chat."""

    MORE = "more"
    ONCE = "once"
    RAW = "raw"


class TargetFields(NamedTuple):
    """The values of the fields under Target."""

    endpoint: str
    model: str
    tokenizer: str
    tool_parser: str
    reasoning_parser: str
    template_name: str = ""
    certificates: str = ""
    ask: str = AskModel.MORE


def choose_target(settings: PageSettings, labs: PageLabs, fields: TargetFields, key: str = "") -> Target:
    """Return what the page's fields aim at.

    The key of the operator goes to the operator's endpoint and to no other; one typed into the page goes to the
    endpoint next to it. A public page takes none.

    Raises:
        NoServerError: There is nothing to run against.
        RequestError: The address is not valid, or a public page may not talk to it.
    """
    target = _aimed(settings, labs, fields, key)
    named = fields.template_name if target.base_url and target.tokenizer is not None else ""  # the lab's has one
    once, raw = fields.ask == AskModel.ONCE, fields.ask == AskModel.RAW
    return replace(target, asks_once=once, raw_only=raw, template_name=named or None)


def _aimed(settings: PageSettings, labs: PageLabs, fields: TargetFields, key: str) -> Target:
    base = settings.target
    tools, reasoning = _named(fields.tool_parser), _named(fields.reasoning_parser)
    endpoint = add_scheme(fields.endpoint.strip())
    if settings.public:
        return _public_target(settings, labs, endpoint, tools, reasoning)
    if not endpoint:
        return _lab_target(base, labs, tools, reasoning)
    if not endpoint.startswith(("http://", "https://")):
        raise RequestError(
            f"The endpoint is {endpoint!r}. Expected an address such as `http://localhost:8000/v1`.", field="endpoint"
        )
    is_own = is_same_address(endpoint, base.base_url)
    typed = read_key_field(key, settings.host)
    target = replace(
        base,
        base_url=endpoint,
        api_key=typed.key or (base.api_key if is_own else None),
        extra_headers=typed.headers or (base.extra_headers if is_own else ()),
        ca_file=base.ca_file if is_own else None,
        ca_text=read_certificates(fields.certificates),
    )
    return replace(target, model=fields.model.strip() or None, tokenizer=fields.tokenizer.strip() or None)


def fields_for_run(settings: PageSettings, fields: TargetFields, request: Request, run_on: RunOn) -> TargetFields:
    """Return the fields that a run goes by: a pasted call is answered by the server it names, unless the lab is chosen.

    Model and tokenizer under Target belong to another server. A public page sends nothing to a pasted address.
    """
    if run_on is RunOn.LAB:
        return fields._replace(endpoint="")
    if run_on is RunOn.RAW:
        fields = fields._replace(ask=AskModel.RAW)
    if run_on is RunOn.BOTH and not fields.endpoint.strip():
        raise RequestError(
            "There is no second server to compare with.", "Enter one under Target, in addition to the lab."
        )
    if settings.public or fields.endpoint.strip() or not is_aimable(request.base_url):
        return fields
    return fields._replace(endpoint=request.base_url or "", model="", tokenizer="", template_name="")


def is_aimable(url: str | None) -> bool:
    """Return whether a server named in a paste may become the target unasked; never one where clouds keep keys."""
    if url is None:
        return False
    host = urlsplit(url).hostname or ""
    try:
        return not ip_address(host).is_link_local
    except ValueError:
        return not host.startswith("metadata")


def pasted_key(text: str) -> str:
    """Return the key that a pasted call holds, as the field Key takes it; "" where something stands for it."""
    found = _PASTED_KEY.search(text)
    if found is None:
        return ""
    bearer, name, value, argument = found.groups()
    key = bearer or value or argument
    if _NO_PASTED_KEY.search(key):
        return ""
    return f"{name}: {key}" if name else key


def is_same_address(endpoint: str, server: str | None) -> bool:
    """Return whether what is in the field Endpoint is that server, written with `/v1` at its end or not."""
    try:
        return bool(server) and read_address(endpoint).base_url == read_address(server or "").base_url
    except BackendError:
        return False


def add_scheme(endpoint: str) -> str:
    """Return an address as it was meant: `localhost:8000` and `127.0.0.1:8000/v1` are servers that speak HTTP."""
    return f"http://{endpoint}" if _BARE.match(endpoint) else endpoint


RUN_HERE = "Run without a server"  # what the Run button says of a text that is only read


def run_label(settings: PageSettings, labs: PageLabs, endpoint: str, run_on: RunOn) -> str:
    """Return what the Run button says: where the request goes."""
    host = _host_of(settings, endpoint, run_on)
    if host and run_on is RunOn.BOTH:
        return f"Run on lab and {host}"
    where = host or ("lab" if labs.enabled else "")
    run = "Run raw" if run_on is RunOn.RAW else "Run"
    return f"{run} on {where}" if where else run


def target_label(settings: PageSettings, labs: PageLabs, endpoint: str, run_on: RunOn, api: str = "") -> str:
    """Return what is above Run, on what opens the fields of the target: who will answer, and by which chosen API."""
    host = _host_of(settings, endpoint, run_on)
    if host:
        answers = f"lab and {host}" if run_on is RunOn.BOTH else host
    else:
        answers = "lab · a real vLLM here" if labs.enabled else "no server yet"
    return f"{answers} · by {Api(api).label}" if api in [*Api] else answers


def _host_of(settings: PageSettings, endpoint: str, run_on: RunOn) -> str:
    address = "" if run_on is RunOn.LAB else endpoint.strip() or settings.target.base_url or ""
    return re.sub(r"^https?://|/(?:v1/?)?$", "", address)[:MAX_LABEL_CHARS]


class KeyField(NamedTuple):
    """What was typed into the field Key.

    Attributes:
        key: Sent as bearer token; `None` for none.
        headers: Sent as they are, for a gateway that wants its own headers.
    """

    key: str | None
    headers: tuple[tuple[str, str], ...] = ()


def read_key_field(text: str, host: str) -> KeyField:
    """Return the key or the headers that were typed: `Name: value`, or a JSON object of several.

    Raises:
        RequestError: It cannot be read; no value is repeated.
    """
    text = text.strip()
    if _HEADER.match(text) or text.startswith("{"):
        return KeyField(None, tuple(read_headers([text], "Key").items()))
    return KeyField(read_key(text, host))


def read_certificates(text: str) -> str | None:
    """Return the certificates that were pasted; `None` for none. A page takes their text and no name of a file.

    Raises:
        RequestError: There is no certificate among it, or too much besides.
    """
    text = text.strip()
    if not text:
        return None
    if "-----BEGIN CERTIFICATE-----" not in text or len(text) > MAX_CERTIFICATES_CHARS:
        raise RequestError(
            f"The field Certificates accepts certificates in PEM form, {MAX_CERTIFICATES_CHARS:,} characters at most.",
            "Paste the text of the file, from `-----BEGIN CERTIFICATE-----` on.",
            field="certificates",
        )
    return text


def read_key(text: str, host: str) -> str | None:
    """Return the key that was typed, or the one in the variable that `$NAME` names; `None` if neither.

    Raises:
        RequestError: There is no such variable, or others can reach the page: any of them could have a variable of
            the operator's sent to an endpoint of theirs.
    """
    text = text.strip()
    if not text.startswith("$"):
        return text or None
    if not is_this_machine(f"http://{f'[{host}]' if ':' in host else host}"):
        raise RequestError(
            "A variable name is only accepted on a page that is limited to its own machine.",
            "Type the key itself, or start the program with --api-key-env.",
            field="key",
        )
    key = (variable(text.removeprefix("$")) or "").strip()
    if not key:
        raise RequestError(
            "The program was started without the variable that the key field names.",
            "Set it where the program is started, or type the key itself.",
            field="key",
        )
    return key


def add_key_field(error: DebuggerError, *, is_public: bool) -> DebuggerError:
    """Return an error with the way out that the page has: who names a server there gives its key next to it."""
    if is_public or not isinstance(error, BackendError) or error.status != _NO_KEY:
        return error
    reported = copy(error)
    if "Authorization: Basic" in error.hint:
        reported.hint = error.hint.replace("with --extra-headers", "under Target, in the field Key:")
        return reported
    reported.hint = "The server requires a key, or another one: enter it under Target, in the field Key."
    return reported


def target_without_server(settings: PageSettings, *, tokenizer: str, tool_parser: str, reasoning_parser: str) -> Target:
    """Return what the page's fields would aim at if there were a lab: what a request is rendered with meanwhile."""
    base = settings.target
    spec = replace(base.lab, tool_parser=_named(tool_parser), reasoning_parser=_named(reasoning_parser))
    named = "" if settings.public else tokenizer.strip()
    return replace(base, base_url=None, api_key=None, lab=spec, tokenizer=named or base.tokenizer)


def target_of_server(settings: PageSettings, labs: PageLabs, server: Server) -> Target:
    """Return how to reach the server of a trace; what a reopened trace says of it, a stranger may have written.

    Raises:
        RequestError: A public page may not talk to it.
    """
    if any(lab.base_url == server.base_url for lab in labs.pool.labs):
        return Target(base_url=server.base_url)
    return choose_target(settings, labs, TargetFields(server.base_url, "", "", "", ""))


def add_server(servers: tuple[str, ...], trace: Trace) -> tuple[str, ...]:
    """Return the addresses that a page ran against, with the one of a further run."""
    own = None if trace.server is None else trace.server.base_url
    return servers if own is None else (*(one for one in servers if one != own), own)[-MAX_SERVERS:]


def _lab_target(base: Target, labs: PageLabs, tool_parser: str | None, reasoning_parser: str | None) -> Target:
    if not labs.enabled:
        raise NoServerError("There is no server to run against.", _no_lab_words(labs))
    spec = replace(base.lab, tool_parser=tool_parser, reasoning_parser=reasoning_parser)
    return replace(base, base_url=None, api_key=None, lab=spec)


def _public_target(
    settings: PageSettings, labs: PageLabs, endpoint: str, tool_parser: str | None, reasoning_parser: str | None
) -> Target:
    """Return the operator's server, the lab, or a listed server; visitors name no model, tokenizer or folder."""
    base = settings.target
    own = base.base_url
    if not endpoint and own is None:
        if not labs.enabled:
            raise NoServerError("This public page has no server to run requests on.", _no_lab_hint(settings, labs))
        for name in (tool_parser, reasoning_parser):
            if name not in _PARSER_NAMES:
                raise RequestError(f"The lab of this page has no parser {shorten(name)}.", "Choose one from the list.")
        return _lab_target(base, labs, tool_parser, reasoning_parser)
    if own is not None and endpoint.rstrip("/") in ("", own.rstrip("/")):
        return base
    guard = guard_of(settings.endpoints)
    try:
        listed = guard.check(endpoint)
    except BackendError as error:
        raise RequestError(error.message, error.hint, field="endpoint") from None
    return Target(base_url=listed, lab=base.lab, guard=guard)


def _no_lab_words(labs: PageLabs) -> str:
    """Return what a person without a lab can do."""
    if labs.installs.progress is not None:
        return "Run again when the lab is installed, or enter an endpoint under Target."
    return "Enter an endpoint under Target" + (", or install the lab." if labs.offers_install else ".")


def _no_lab_hint(settings: PageSettings, labs: PageLabs) -> str:
    """Return what a visitor of a public page without a lab can do."""
    if labs.installs.progress is not None:
        return "Its lab is being installed, see the progress at the top: run again when it is ready."
    if settings.endpoints:
        return f"Enter one of these under Target: {', '.join(settings.endpoints)}."
    return (
        "Everything that needs no model works here: reading, rendering, what-if. To run requests, use "
        "`make run` on your own machine."
    )


def _named(name: str) -> str | None:
    return None if name in ("", "none") else name


_PARSER_NAMES = frozenset({None, *TOOL_PARSERS, *REASONING_PARSERS})
