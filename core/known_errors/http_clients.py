"""What HTTP libraries of Python and JavaScript say where no answer, or only a part of one, came."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import REACH_SERVER, Cause, KnownError

MAKER = "HTTP libraries"

_CHECK_LOG = (
    "Check the server's log for that moment: it may have crashed, run out of memory, or closed the connection "
    "at a timeout; a proxy in between may also have one."
)

_REFUSED = (
    "Nothing accepts connections at that address and port: the server is not running there, is still "
    "starting, or listens on another address."
)

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The requested URL was not found on the server. If you entered the URL manually",
        Stage.REQUEST,
        "A Flask program has nothing at that path: the request went to a program other than the model's "
        "server, or the path is doubled or cut.",
        "Check the address, port and path that the program calls (up to and including `/v1` for chat "
        "completions), and that what listens there is the server: in Dify, check the internal addresses of "
        "its API and of the plug-in daemon.",
        "https://github.com/langgenius/dify/issues/16856",
        cause=Cause.ADDRESS,
    ),
    KnownError(
        "error decoding response body",
        Stage.COMPLETE,
        "A program in Rust could not read the body of an answer: it ended early, or is not the JSON that the program "
        "expects there, such as a page of another server.",
        "Send the same request with `curl -i` and look at status and body: whether the address is the server's, up to "
        "and including `/v1`, and whether the answer is whole. A client that tries a model with a tool fails the same "
        "way where the server refuses tools for that model.",
        "https://github.com/aaif-goose/goose/issues/2314",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Connection refused",
        Stage.COMPLETE,
        _REFUSED,
        REACH_SERVER,
        "https://github.com/vllm-project/vllm/issues/15518",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "No connection could be made because the target machine actively refused it",
        Stage.COMPLETE,
        _REFUSED,
        REACH_SERVER,
        "https://github.com/BerriAI/litellm/issues/32898",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "ECONNREFUSED",
        Stage.COMPLETE,
        _REFUSED,
        REACH_SERVER,
        "https://nodejs.org/api/errors.html#common-system-errors",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    *(
        KnownError(
            says,
            Stage.COMPLETE,
            "No way through the network leads to that address: the machine is off or has another address, a firewall "
            "drops the packets, or this program may not use the local network.",
            "Open the same address with `curl` on the machine where the client runs. If that works, allow the client "
            "the local network (macOS: Privacy & Security, Local Network), or take the address that is valid inside "
            "its container; if not, check address, firewall and VPN.",
            source,
            cause=Cause.CONNECTION,
            is_distinctive=is_distinctive,
            is_general=True,
        )
        for says, source, is_distinctive in (
            ("EHOSTUNREACH", "https://nodejs.org/api/os.html#error-constants", True),
            ("ENETUNREACH", "https://nodejs.org/api/os.html#error-constants", True),
            ("No route to host", "https://github.com/continuedev/continue/issues/9750", False),
        )
    ),
    KnownError(
        "httpx.ConnectError",
        Stage.COMPLETE,
        "The client could not open a connection to the server.",
        REACH_SERVER,
        "httpx/_exceptions.py: ConnectError",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "All connection attempts failed",
        Stage.COMPLETE,
        _REFUSED,
        REACH_SERVER,
        "httpcore/_backends/anyio.py",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "ECONNRESET",
        Stage.COMPLETE,
        "The connection was closed from the other side before the answer was complete.",
        _CHECK_LOG,
        "https://nodejs.org/api/errors.html#common-system-errors",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "peer closed connection without sending complete message body",
        Stage.COMPLETE,
        "The answer broke off: the server, or a proxy, closed the connection in the middle.",
        _CHECK_LOG,
        "h11/_readers.py: ContentLengthReader, ChunkedReader",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Server disconnected without sending a response.",
        Stage.COMPLETE,
        "The server closed the connection before it answered.",
        _CHECK_LOG,
        "httpcore/_async/http11.py: AsyncHTTP11Connection",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Remote end closed connection without response",
        Stage.COMPLETE,
        "The server closed the connection before it answered.",
        _CHECK_LOG,
        "Python, http.client: HTTPResponse._read_status",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Temporary failure in name resolution",
        Stage.COMPLETE,
        "The name in the address is not known on this machine.",
        "Check the host name in the address; a name of a container is known only within its network.",
        "Python, socket: gaierror",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "Name or service not known",
        Stage.COMPLETE,
        "The name in the address is not known on this machine.",
        "Check the host name in the address; a name of a container is known only within its network.",
        "Python, socket: gaierror",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "Request URL is missing an 'http://' or 'https://' protocol.",
        Stage.REQUEST,
        "The address has no scheme.",
        "Write the address with `http://` or `https://` before the host.",
        "httpx/_client.py",
        cause=Cause.CLIENT,
    ),
    KnownError(
        "UnsupportedProtocol",
        Stage.REQUEST,
        "The address does not begin with a scheme that the client knows.",
        "Write the address with `http://` or `https://` before the host.",
        "httpx/_exceptions.py: UnsupportedProtocol",
        cause=Cause.CLIENT,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "httpx.ReadTimeout",
        Stage.COMPLETE,
        "The server did not answer within the client's timeout.",
        "Raise the client's timeout, stream the answer, or lower `max_tokens`; the server's log shows "
        "whether it was still working.",
        "httpx/_exceptions.py: ReadTimeout",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Read timed out. (read timeout={limit})",
        Stage.COMPLETE,
        "The server did not answer within the client's timeout.",
        "Raise the client's timeout, stream the answer, or lower `max_tokens`; the server's log shows "
        "whether it was still working.",
        "urllib3/connectionpool.py: HTTPConnectionPool._raise_timeout",
        example="Read timed out. (read timeout=600)",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Failed to establish a new connection: {why}",
        Stage.COMPLETE,
        "The client could not open a connection to the server.",
        REACH_SERVER,
        "urllib3/connection.py: HTTPConnection._new_conn",
        example="Failed to establish a new connection: [Errno 111]",
        cause=Cause.CONNECTION,
        is_general=True,
    ),
    KnownError(
        "Cannot connect to host {host} ssl:",
        Stage.COMPLETE,
        "The client could not open a connection to the server.",
        REACH_SERVER,
        "aiohttp/client_exceptions.py: ClientConnectorError",
        example="Cannot connect to host localhost:8000 ssl:default [Connect call failed ('127.0.0.1', 8000)]",
        cause=Cause.CONNECTION,
    ),
    KnownError(
        "fetch failed",
        Stage.COMPLETE,
        "No answer came; the reason follows below, under `cause`.",
        REACH_SERVER,
        "https://nodejs.org/api/globals.html#fetch",
        cause=Cause.CONNECTION,
        is_distinctive=False,
        is_general=True,
    ),
    KnownError(
        "state=finished raised {name:word}>]",
        Stage.COMPLETE,
        "Each attempt failed, the last one with the exception named there; its message is not shown.",
        "Print the exception inside (`error.last_attempt.exception()`) and paste it.",
        "https://tenacity.readthedocs.io/en/latest/#error-handling",
        example="RetryError[<Future at 0x7 state=finished raised BadRequestError>]",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "state=finished raised NotFoundError>]",
        Stage.COMPLETE,
        "Each attempt failed: the server knows neither that address nor, perhaps, the model; its message is not shown.",
        "Check the address (up to and including `/v1`) and the model's name (`/v1/models` lists them); print "
        "the exception inside (`error.last_attempt.exception()`).",
        "https://github.com/sentient-engineering/agent-q/issues/3",
        cause=Cause.UNCLEAR,
    ),
    KnownError(
        "Attempted to access streaming response content, without having called `read()`.",
        Stage.COMPLETE,
        "A program used the body of a streamed response before reading it, usually to show an error that came in place "
        "of the stream, so that this message hides what the server said.",
        "Ask once without streaming, or look at the log of the server that the program asks: it has the error itself. "
        "In the program, call `response.read()` (`await response.aread()`) before the body of a stream is used.",
        "httpx/_exceptions.py: ResponseNotRead",
        cause=Cause.UNCLEAR,
    ),
)
