"""What the Share menu asks of the program: files of the last run, the content of a link, a bundle opened again.

Nothing is stored: a file goes to the browser inside the answer, which saves it,
and a bundle comes inside the event. Everything that leaves is masked.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import logging
import os
import zlib
from collections.abc import Callable
from typing import NamedTuple

from core.errors import DebuggerError, RequestError
from core.report import Bundle, read_bundle
from core.types import JSON, JSONObject, Trace
from ui.present import RunView, header_payload, notices_payload, pack_payload, unpack_payload
from ui.present.header import server_facts
from ui.report import SharedRun, again_payload, describe_bundle, link_state, share_trace
from ui.web.handlers import Payloads, TargetFields
from ui.web.security import MAX_BODY_BYTES, MAX_PUBLIC_BODY_BYTES
from ui.web.settings import PageSettings
from ui.web.targets import REASONING_PARSERS, TOOL_PARSERS

MAX_BUNDLE_CHARS = 100_000_000
MAX_PUBLIC_BUNDLE_CHARS = 12_000_000

_EVENT_BYTES = 100_000  # of an event besides the bundle that it carries
_PICTURE_VIEWS = ("header", "verdict", "ledger", "findings")
_NOTHING = RequestError("Nothing has been run yet", "Press Run: a run is what these files hold.")

_log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """What opening a bundle changes on the page.

    Attributes:
        answer: Payload for the menu.
        trace: The run; `None` if the bundle could not be opened.
        text: The request as it was pasted.
        payloads: The views.
    """

    answer: str
    trace: Trace | None = None
    text: str = ""
    payloads: Payloads = {}  # noqa: RUF012  # never written to


class Sharing:
    """What the menu's events do; holds what does not change while the page is served."""

    def __init__(self, settings: PageSettings) -> None:
        self.settings = settings
        self._numbers = itertools.count(1)  # an answer equal to the last one would not be noticed
        self._forms: dict[str, Callable[[SharedRun], tuple[JSONObject, bytes]]] = {
            "html": _html,
            "picture": _picture,
            "markdown": _markdown,
            "bundle": _bundle,
        }

    def first_payload(self) -> str:
        """Return what the menu is drawn with: the choices of this page, for links that name some."""
        return pack_payload(
            {
                "kind": "page",
                "tool_parsers": [*TOOL_PARSERS],
                "reasoning_parsers": [*REASONING_PARSERS],
                "takes_model": not self.settings.public,
                "most_packed": (MAX_PUBLIC_BODY_BYTES if self.settings.public else MAX_BODY_BYTES) - _EVENT_BYTES,
            }
        )

    def share(self, form: str, trace: Trace | None, text: str, fields: TargetFields) -> str:
        """Return the payload that holds a run, or the request, in one form.

        Args:
            form: `link`, `html`, `picture`, `markdown` or `bundle`.
            trace: The last run.
            text: The editor.
            fields: The fields under Target.
        """
        try:
            if form == "link":
                return self._answer(self._link(text, fields))
            if trace is None:
                raise _NOTHING
            header, data = self._forms[form](share_trace(trace))
            return self._answer(header, data)
        except DebuggerError as error:
            return self._answer(_failure(error))
        except Exception as error:  # noqa: BLE001  # a fault of ours must reach the page as a message, too
            _log.exception("a run could not be shared")
            return self._answer(_failure(DebuggerError(f"this program failed: {type(error).__name__}: {error}")))

    def open(self, packed: str) -> Opened:
        """Open a bundle that the browser read and packed; nothing is run."""
        try:
            bundle = self.read(packed)
            payloads = reopened_payloads(bundle)
        except DebuggerError as error:
            return Opened(self._answer(_failure(error)))
        except Exception as error:  # noqa: BLE001  # a bundle can be whole and still tell nonsense
            _log.info("a bundle could not be drawn: %r", error)
            fault = RequestError("this bundle cannot be shown: its parts do not fit each other", "Ask for it again.")
            return Opened(self._answer(_failure(fault)))
        answer = self._answer({"kind": "opened", "sentence": describe_bundle(bundle)})
        # A lone surrogate cannot be sent; in JSON its escape is the same character.
        text = bundle.trace.request.text.encode("utf-8", "backslashreplace").decode()
        return Opened(answer, bundle.trace, text, payloads)

    def read(self, packed: str) -> Bundle:
        """Return the bundle that the browser packed: gzip in base64.

        Raises:
            RequestError: It is none, or longer than this page reads.
        """
        limit = MAX_PUBLIC_BUNDLE_CHARS if self.settings.public else MAX_BUNDLE_CHARS
        return read_bundle(_unpacked(packed, limit), max_chars=limit)

    def _link(self, text: str, fields: TargetFields) -> JSONObject:
        choices: JSONObject = {"tool_parser": fields.tool_parser, "reasoning_parser": fields.reasoning_parser}
        if not self.settings.public:
            choices |= {"model": fields.model, "tokenizer": fields.tokenizer}
        state, notes = link_state(text, choices)
        space = os.environ.get("SPACE_ID")
        base = f"https://huggingface.co/spaces/{space}" if space else None
        return {"kind": "link", "state": state, "notes": [*notes], "base": base}

    def _answer(self, header: JSONObject, data: bytes = b"") -> str:
        return pack_payload({**header, "number": next(self._numbers)}, data)


def reopened_payloads(bundle: Bundle) -> Payloads:
    """Return the views of an opened run, marked as such where the page says what is under test and what came out."""
    trace = bundle.trace
    payloads = RunView().finish(trace)
    origin = describe_bundle(bundle)
    facts: list[JSON] = [["", "reopened", origin], *server_facts(trace)]
    verdict, _ = unpack_payload(payloads["verdict"] or "")
    payloads["header"] = header_payload(facts)
    payloads["notices"] = notices_payload(trace.request)
    payloads["verdict"] = pack_payload({**verdict, "detail": f"{origin} {verdict['detail']}".rstrip()})
    return payloads


def _html(run: SharedRun) -> tuple[JSONObject, bytes]:
    return {"kind": "file", "name": "prompt-debugger.html", "type": "text/html"}, run.html.encode("utf-8")


def _markdown(run: SharedRun) -> tuple[JSONObject, bytes]:
    data = run.markdown.encode("utf-8", "replace")
    return {"kind": "markdown", "name": "prompt-debugger.md", "type": "text/markdown"}, data


def _bundle(run: SharedRun) -> tuple[JSONObject, bytes]:
    return {"kind": "file", "name": "prompt-debugger.json", "type": "application/json"}, run.bundle.encode("utf-8")


def _picture(run: SharedRun) -> tuple[JSONObject, bytes]:
    payloads = RunView().finish(run.trace)
    parts: JSONObject = {
        name: unpack_payload(payload)[0] if (payload := payloads.get(name)) else None for name in _PICTURE_VIEWS
    }
    parts["facts"] = unpack_payload(again_payload(run.trace))[0]["facts"]
    return {"kind": "picture", "name": "prompt-debugger.png", "parts": parts}, b""


def _failure(error: DebuggerError) -> JSONObject:
    place = ""
    if isinstance(error, RequestError) and error.line is not None:
        place = f"Line {error.line}, column {error.column or 1}: "
    message = place + error.message
    return {
        "kind": "failure",
        "sentence": f"{message[:1].upper()}{message[1:]}.".replace("..", "."),
        "hint": error.hint,
    }


def _unpacked(packed: str, limit: int) -> str:
    try:
        data = base64.urlsafe_b64decode(packed + "=" * (-len(packed) % 4))
        unpacker = zlib.decompressobj(wbits=31)
        text = unpacker.decompress(data, limit * 4)
        if unpacker.unconsumed_tail:
            raise RequestError(f"the bundle is longer than {limit:,} characters", "Open it by `run --bundle FILE`.")
        if not unpacker.eof:
            raise ValueError("the end is missing")
        return text.decode("utf-8")
    except (binascii.Error, zlib.error, ValueError):
        raise RequestError("the bundle did not arrive whole", "Choose the file again.") from None
