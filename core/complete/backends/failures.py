"""What went wrong on the way to a server and back, in words: httpx exceptions and HTTP statuses → `BackendError`.

Every message names method and URL and never contains the API key, not even where the server repeats it.
"""

from __future__ import annotations

import json
import re
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from prompt_debugger.core.base.comparable import EVENTS_NOT_ASKED
from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.http_status import status_name
from prompt_debugger.core.base.text import clipped
from prompt_debugger.core.complete.backends.error_words import read_words, title_of_page
from prompt_debugger.core.complete.backends.limits import EXCERPT_CHARS, Timeouts
from prompt_debugger.core.complete.backends.proxies import remedy_of_proxy
from prompt_debugger.core.known_errors import Cause, cause_of, recognise_error

_HINT_BY_STATUS = {
    400: "The server did not accept the request; its message says why.",
    401: (
        "The server requires an API key: set the environment variable given by `--api-key-env` (OPENAI_API_KEY "
        "by default)."
    ),
    403: (
        "The server refuses access: check the API key (the environment variable given by `--api-key-env`, or "
        "OPENAI_API_KEY) and its permissions."
    ),
    402: "Check the plan and billing of the account that the key belongs to: waiting does not help.",
    404: "Check the server address (up to and including `/v1`) and the model's name.",
    405: "Check the server address: it must go up to and including `/v1`.",
    408: "Try again: the server timed out.",
    413: "The request is too large for the server.",
    422: "The server did not accept the request; its message says why.",
    429: "The server is at its request limit: wait, then run again.",
    431: (
        "The request's headers are too large for the server or proxy that answered: shorten the key and your extra "
        "headers, or raise its limit (`large_client_header_buffers` of nginx, `tune.bufsize` of HAProxy)."
    ),
    502: (
        "A gateway reports that it got no valid answer: check whether the server behind it is running, and the "
        "logs of both."
    ),
    504: (
        "A gateway stopped waiting for the server: raise its limit (`proxy_read_timeout` of nginx, `timeout server` of "
        "HAProxy, a route's `timeout` of Envoy), or ask for fewer tokens."
    ),
    **dict.fromkeys(
        (520, 521, 522, 523, 525, 526, 530),
        "Cloudflare could not get an answer from the server behind it: check whether that server runs, can be "
        "reached and has a valid certificate.",
    ),
    524: "Cloudflare stopped waiting for the server behind it: ask for a stream, or for fewer tokens.",
}
_KEPT_OPEN_HINT = (
    "Some servers send empty lines while a request waits for its turn, DeepSeek's API among them: this one ended the "
    "answer before it began. Wait, then run again."
)
_PAGE_HINT = (
    "A web page came instead of an answer: check the server address and any proxy in between. The server's "
    "log shows whether the request reached it."
)
_HINT_BY_PAGE = {
    401: "Something in front of the server requires authentication: send its key, in the header that it expects.",
    403: (
        "Something in front of the server refuses access: check which addresses, paths and methods it allows, and "
        "whether it requires a key."
    ),
    429: "Something in front of the server limits the request rate: wait, then run again, or raise its limit.",
    502: "A proxy answered instead of the server. Check that the server behind it is running, and look at its log.",
    503: (
        "A proxy answered instead of the server. Check that the server behind it is running, look at its log, and "
        "check whether the proxy limits the request rate."
    ),
    504: _HINT_BY_STATUS[504],
    404: "Check the server address (up to and including `/v1`): what answers there is a plain web server.",
    413: (
        "A proxy does not accept a body of that size: raise its limit (`client_max_body_size` of nginx, `max_size` of "
        "Caddy's `request_body`, `max_request_bytes` of Envoy), or send less."
    ),
}
_BASIC_HINT = (
    "It requires a user name and a password, not a key: send them with --extra-headers 'Authorization: Basic …', where "
    "… is `name:password` in base64."
)
_SIGN_IN_HINT = (
    "This looks like a page to sign in: something in front of the server requires authentication. Send what it accepts "
    "from programs with `--extra-headers`, or ask the server behind it."
)
_SIGN_IN = re.compile(r"[/.](?:log[_-]?in|sign[_-]?in|sso|saml2?|oauth2?|oidc|authorize|authelia|idp)\b", re.IGNORECASE)
_SIGN_IN_TITLE = re.compile(r"a web page titled '(?:log|sign)[ -]?(?:in|on)\b", re.IGNORECASE)
_EVENTS = re.compile(r"\s{0,100}(?:data|event):")
_OTHER_KEY_HINT = (
    "The server did not accept the key that was sent: check the value of the environment variable given by "
    "`--api-key-env` (OPENAI_API_KEY by default), and that it is a key of this server."
)
# Where the words name a cause that the status does not.
_HINT_BY_CAUSE = {
    Cause.QUOTA: "Check the plan and billing of the account that the key belongs to: waiting does not help.",
    Cause.BUSY: "The server has no capacity at the moment: wait, then run again.",
    Cause.LOADING: "The server is loading the model: wait, then run again.",
    Cause.POLICY: "A content filter stopped the request: change the text that triggers it, or the filter's setting.",
}
_KNOWN_HINTS = frozenset({Cause.QUOTA, Cause.LOADING, Cause.ADDRESS, Cause.SETTING, Cause.POLICY, Cause.SERVER})
# What h11 says of the alert of a server that speaks TLS: its first byte is a control character.
_TLS_ALERT = ("\\x15\\x03", "illegal request line")
_ACCEPTED = 202
_LATER_HINT = (
    "The server took the request and answers later, at another address; this program reads the answer to the request "
    "itself. Ask a route that answers at once."
)
_SERVER_HINT = "The fault is in the server: check its log."
_BROKE_OFF_HINT = (
    "The server, or a proxy in between, closed the connection: check their logs, and the time limits of the proxy."
)
_SHORTEST_SECRET = 4
_EXCERPT_READ = 65_536  # of a text: looking through all of a long one takes a while
_MESSAGE_CHARS = 400  # of the server's words in ours; `BackendError.server_message` has them whole


@dataclass(frozen=True, slots=True)
class Call:
    """One request, as far as messages about it need it.

    Attributes:
        secret: The API key sent with it; kept out of every message.
        others: What else is kept out: values of extra headers.
    """

    method: str
    url: str
    secret: str | None = None
    others: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.url}"

    @property
    def longest_secret(self) -> int:
        """Length of the longest text that is kept out."""
        return max(len(json.dumps(secret)) for secret in (self.secret or "", *self.others))

    def scrub(self, text: str) -> str:
        """Return `text` without the API key and what else is kept out."""
        for secret in (self.secret or "", *self.others):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, "[removed]").replace(json.dumps(secret)[1:-1], "[removed]")
        return text


def failure_of_location(call: Call, reason: str) -> BackendError:
    """Explain a redirect to something that is not an address; its text is not available."""
    message = f"{call} answered with a redirect to an invalid address ({call.scrub(reason)}), which is not followed"
    return BackendError(message, "Check the address of the server.", kind="broken-answer")


def failure_of_transport(call: Call, error: httpx.HTTPError, timeouts: Timeouts, *, began: bool) -> BackendError:
    """Explain why no answer came, or why it broke off.

    Returns:
        The error to raise; kind `unreachable`, `tls`, `timeout`, `refused` or `broken-answer`.
    """
    if isinstance(error, httpx.ConnectTimeout):
        message = f"{call}: no connection within {timeouts.connect_s:g} s"
        speaks = ", does it speak https" if call.url.startswith("https://") else ""
        return BackendError(
            message, f"Is the server running{speaks}, and can this machine reach it?", kind="unreachable"
        )
    if isinstance(error, httpx.ReadTimeout):
        message = f"{call}: nothing was received for {timeouts.read_s:g} s"
        return BackendError(message, "The server may be busy or stuck: check its log.", kind="timeout")
    if isinstance(error, httpx.TimeoutException):
        return BackendError(f"{call}: the request could not be sent in time.", _SERVER_HINT, kind="timeout")
    if isinstance(error, httpx.ConnectError):
        return _failure_of_connection(call, error)
    if isinstance(error, httpx.UnsupportedProtocol | httpx.LocalProtocolError):
        return BackendError(call.scrub(f"{call} cannot be sent: {error}"), kind="refused")
    reason = call.scrub(_reason_of(error))
    if any(alert in reason for alert in _TLS_ALERT):
        problem = "the connection ended without an HTTP answer; a port that expects https behaves this way"
        message = f"{call}: {problem}"
        return BackendError(message, "Write `https://` in the address, unless this is not a web server.", kind="tls")
    if began:
        return BackendError(f"{call}: the answer broke off ({reason}).", _BROKE_OFF_HINT, kind="broken-answer")
    hint = "Is it an HTTP server? If it uses https, write so in the address. If not, check its log."
    return BackendError(f"{call}: the connection ended without an answer ({reason}).", hint, kind="broken-answer")


def failure_of_time(call: Call, total_s: float) -> BackendError:
    """Explain that the whole answer took too long."""
    if call.method == "GET":
        hint = "The server accepts connections but does not answer this request: check its log and the address."
        return BackendError(f"{call}: no complete answer within {total_s:g} s.", hint, kind="timeout")
    message = f"{call}: the answer was not complete within {total_s:g} s"
    hint = "Set a smaller `max_tokens`, or check the server's log."
    return BackendError(message, hint, kind="timeout", unread="cut")


def failure_of_run(call: Call, run_s: float) -> BackendError:
    """Explain that the time of the whole run was over."""
    message = f"{call}: stopped after the run's time limit of {run_s:g} s; what had arrived is kept"
    hint = "Ask for fewer tokens, or give a run more time: `--run-time S`."
    return BackendError(message, hint, kind="timeout", unread="cut")


def failure_of_size(call: Call, most: int, received: str) -> BackendError:
    """Explain that an answer is larger than `most` bytes; `received` is its beginning."""
    message = f"{call}: the answer is larger than {most // 1024 // 1024} MB and was not read to its end"
    hint = "Is this the right server? Ask for fewer tokens or fewer logprobs."
    return BackendError(message, hint, kind="too-large", body=_excerpt(call, received), unread="cut")


def failure_of_length(call: Call, part: str, most: int, received: str) -> BackendError:
    """Explain that an answer was cut where it had too many of something; `received` is its beginning."""
    message = f"{call}: the answer was cut after {most:,} {part}, the limit per answer; what had arrived is kept"
    hint = "Does the server ever end its answer? Ask for fewer tokens, or check its log."
    return BackendError(message, hint, kind="too-large", body=_excerpt(call, received), unread="cut")


def failure_of_format(call: Call, status: int, content_type: str, text: str, reason: str) -> BackendError:
    """Explain that an answer with a good status is not JSON."""
    problem = content_type.partition(";")[0].strip() or "no content type"
    blank = "an empty body" if not text else "nothing but empty lines" if not text.strip() else ""
    page = title_of_page(content_type, text) or blank
    is_stream = _EVENTS.match(text) is not None
    page = page or (EVENTS_NOT_ASKED if is_stream else "")
    message = f"{call} answered {status} with {page or f'{problem}, which is not JSON ({reason})'}"
    hint = (
        _LATER_HINT
        if status == _ACCEPTED
        else "A gateway in between may stream every answer: ask for a stream, or check its settings."
        if is_stream
        else _SIGN_IN_HINT
        if _SIGN_IN_TITLE.match(page)
        else _KEPT_OPEN_HINT
        if text and blank
        else "Is there an OpenAI-compatible server at this address? It must go up to and including `/v1`."
    )
    return BackendError(message, hint, kind="not-json", status=status, body=_excerpt(call, text))


def failure_of_status(call: Call, status: int, headers: httpx.Headers, text: str) -> BackendError:
    """Explain an HTTP status that is not a success, with the server's own message, or what a proxy means by it."""
    error = _failure_in_words(call, status, headers, text)
    remedy = "" if error.kind == "tls" or _wants_basic(headers) else remedy_of_proxy(status, headers, text)
    if remedy:
        error.kind, error.hint = "page" if error.kind == "page" else "proxy", remedy
    return error


def _failure_in_words(call: Call, status: int, headers: httpx.Headers, text: str) -> BackendError:
    content_type = headers.get("content-type", "")
    words = read_words(content_type, text)
    own = call.scrub(words.text)
    shown = clipped(own, _MESSAGE_CHARS) or title_of_page(content_type, text)
    message = f"{call} answered {status} {status_name(status)}".rstrip() + (f": {shown}" if shown else "")
    hint = _HINT_BY_STATUS.get(status, _SERVER_HINT if status >= 500 else "")
    wait = headers.get("retry-after") if status == 429 else None
    if wait:
        hint = f"The server is at its request limit: it asks to wait {wait[:40]} s."
    if 300 <= status < 400:
        target = call.scrub(headers.get("location", ""))[:200]
        message = f"{call} answered {status}: a redirect to {target or 'nowhere'}, which is not followed"
        hint = _SIGN_IN_HINT if _SIGN_IN.search(target) else "Use the address it redirects to, if you trust it."
    kind = "status"
    if 400 <= status < 600:
        page = "" if own else title_of_page(content_type, text)
        known = recognise_error(own or page) or (recognise_error(words.code) if words.code else None)
        if page:
            kind, hint = "page", _HINT_BY_PAGE.get(status, _PAGE_HINT)
        if status == 401:
            hint = _BASIC_HINT if _wants_basic(headers) else _OTHER_KEY_HINT if call.secret and not page else hint
        if not wait and (cause := cause_of(own, words.code)):
            hint = _HINT_BY_CAUSE.get(cause, hint)
        if known is not None and known.error.is_about in _KNOWN_HINTS:
            hint = known.error.remedy or hint
            kind = "tls" if known.error.is_about is Cause.ADDRESS and "https" in hint else kind
    own = "" if own == status_name(status) else own
    body = _excerpt(call, text)
    wait_s = _seconds_to_wait(headers.get("retry-after"), headers.get("date"))
    return BackendError(
        message,
        hint,
        kind=kind,
        status=status,
        body=body,
        server_message=own,
        field=words.field,
        code=words.code,
        output=None if words.output is None else call.scrub(words.output),
        retry_after_s=wait_s,
    )


def _wants_basic(headers: httpx.Headers) -> bool:
    """Return whether a name and a password are the only way in."""
    ways = [way.strip().lower() for way in headers.get_list("www-authenticate")]
    return bool(ways) and all(way.startswith("basic") for way in ways)


def _seconds_to_wait(value: str | None, sent: str | None = None) -> float | None:
    """Read a `Retry-After`: seconds, or a date, counted from when the answer was sent by the server's own clock.

    >>> _seconds_to_wait("2"), _seconds_to_wait("soon"), _seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT")
    (2.0, None, 0.0)
    >>> _seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:27:30 GMT")
    30.0
    """
    if value is None:
        return None
    if re.fullmatch(r"\s*\d{1,9}(\.\d{1,9})?\s*", value):
        return float(value)
    when = _moment(value)
    return None if when is None else max(0.0, (when - (_moment(sent or "") or datetime.now(UTC))).total_seconds())


def _moment(value: str) -> datetime | None:
    """Read the date of a header; `None` if it is none."""
    try:
        when = parsedate_to_datetime(value)
    except ValueError:
        return None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


def _failure_of_connection(call: Call, error: httpx.ConnectError) -> BackendError:
    causes = tuple(_causes(error))
    url = httpx.URL(call.url)
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in causes):
        hint = (
            "Install the certificate authority on this machine, or use the host name that the certificate was "
            "issued for."
        )
        return BackendError(f"{call}: the server's certificate is not trusted ({error}).", hint, kind="tls")
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return BackendError(f"{call}: the server does not speak https ({error}).", "Try http://.", kind="tls")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        message = f"{call}: the host `{url.host}` was not found ({error})"
        return BackendError(message, "Check how the server address is spelled.", kind="unreachable")
    hint = f"Is the server running, and is it listening on port {url.port or (443 if url.scheme == 'https' else 80)}?"
    return BackendError(f"{call}: no connection ({_reason_of(error)}).", hint, kind="unreachable")


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _reason_of(error: httpx.HTTPError) -> str:
    """Return what the exception says; where it is mute, what caused it says."""
    for cause in _causes(error):
        if text := str(cause):
            return text
    return type(error).__name__


def _excerpt(call: Call, text: str) -> str:
    head = text[:_EXCERPT_READ]
    if len(text) > len(head):  # what was cut may be a key
        head = head[: -call.longest_secret]
    return clipped(call.scrub(head), EXCERPT_CHARS)
