"""The server side of the Share menu: files of the last run, the content of a link, a bundle opened again.

Nothing is stored: a file goes to the browser inside the answer, and the browser saves it; a bundle
arrives inside the event. Everything that is sent out is masked.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.ui.present import VIEWS, empty_payloads, pack_payload
from prompt_debugger.ui.present.words import as_sentence
from prompt_debugger.ui.report import known_place
from prompt_debugger.ui.web.failures import as_debugger_error
from prompt_debugger.ui.web.handlers import Payloads
from prompt_debugger.ui.web.numbered_answers import NumberedAnswers
from prompt_debugger.ui.web.recorded import drop_trial
from prompt_debugger.ui.web.security import MAX_BODY_BYTES, MAX_PUBLIC_BODY_BYTES
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import REASONING_PARSERS, TOOL_PARSERS, TargetFields
from prompt_debugger.ui.web.work import FORMS, compare_packed, make_link, reopen, share_as

RESULT_VIEWS = tuple(name for name in VIEWS if name != "verdict")  # a link empties them
MAX_BUNDLE_CHARS = 100_000_000
MAX_PUBLIC_BUNDLE_CHARS = 12_000_000

_EVENT_BYTES = 100_000  # of an event, besides the bundle in it
_NOTHING = RequestError("There is no run to put into a file.", "Press Run: these files contain a run.")

_log = logging.getLogger(__name__)


class Opened(NamedTuple):
    """What opening a bundle changes on the page; no trace if it could not be opened."""

    answer: str
    trace: Trace | None = None
    text: str = ""
    payloads: Payloads = {}  # noqa: RUF012  # never written to


class Wish(NamedTuple):
    """What a visitor chose in the menu: a name for the run, and where a link or report opens; "" for none."""

    title: str = ""
    at: str = ""


_NO_WISH = Wish()


class Sharing:
    """Handlers of the menu's events; holds only what does not change while the page is served."""

    def __init__(self, settings: PageSettings, has_lab: Callable[[], bool] = lambda: True) -> None:
        """Begin without any answers; without a lab, now or later, fixes of a lab's run cannot be tried."""
        self.settings = settings
        self._has_lab = has_lab
        self._answers = NumberedAnswers()

    def first_payload(self) -> str:
        """Return the first payload of the menu: the choices of this page, which links may name."""
        empty = empty_payloads("", [])
        return pack_payload(
            {
                "kind": "page",
                "tool_parsers": [*TOOL_PARSERS],
                "reasoning_parsers": [*REASONING_PARSERS],
                "takes_model": not self.settings.public,
                "empty": [empty[name] or "" for name in RESULT_VIEWS],
                "most_packed": (MAX_PUBLIC_BODY_BYTES if self.settings.public else MAX_BODY_BYTES) - _EVENT_BYTES,
            }
        )

    def share(self, form: str, trace: Trace | None, text: str, fields: TargetFields, wish: Wish = _NO_WISH) -> str:
        """Return a run, or the request, as `link`, `run_link`, `html`, `picture`, `markdown` or `bundle`."""
        try:
            if form == "link":
                return self._answers.answer(self._link(text, fields))
            if form not in FORMS:
                raise RequestError(f"A run cannot be shared as {form[:40]!r}.", f"Choose one of {', '.join(FORMS)}.")
            if trace is None:
                raise _NOTHING
            header, data = sandbox_of().call(share_as, form, trace, wish.title, known_place(wish.at))
            if form == "run_link":
                header |= {"at": known_place(wish.at), "base": _base()}
            return self._answers.answer(header, data)
        except Exception as error:  # noqa: BLE001  # a bug of ours must reach the page as a message, too
            failure = as_debugger_error(error, logs_words=not self.settings.public)
            return self._answers.answer(_failure(failure))

    def pack_run(self, trace: Trace | None, asked: int | None = None) -> str | None:
        """Return a run as the browser keeps it, masked like all that leaves; `None` if there is none.

        `asked` is the number that the browser gave it, where it had it before.
        """
        if trace is None:
            return None
        try:
            header, data = sandbox_of().call(share_as, "kept", trace)
            return self._answers.answer(header if asked is None else {**header, "asked": asked}, data)
        except Exception as error:  # noqa: BLE001  # better a gap in the history than a run that seems to have failed
            _log.info("a run could not be kept: %r", error)
            return None

    def nothing_packed(self) -> str:
        """Return the answer where there is no run to pack."""
        return self._answers.answer({"kind": "none"})

    def open(self, packed: str, *, is_kept: bool = False) -> Opened:
        """Open a bundle that the browser read and packed; nothing is run."""
        try:
            opened = sandbox_of().call(reopen, packed, self.most_chars, is_kept=is_kept)
        except DebuggerError as error:
            return Opened(self._answers.answer(_failure(error)))
        answer = self._answers.answer({"kind": "opened", "sentence": opened.sentence, "name": opened.name})
        server = opened.trace.server
        can_try = server is None or not server.is_lab or self._has_lab()
        payloads = opened.payloads if can_try else drop_trial(opened.payloads)
        return Opened(answer, _drop_folder(opened.trace), opened.text, payloads)

    @property
    def most_chars(self) -> int:
        """How long a bundle may be that this page reads."""
        return MAX_PUBLIC_BUNDLE_CHARS if self.settings.public else MAX_BUNDLE_CHARS

    def _link(self, text: str, fields: TargetFields) -> JSONObject:
        choices: JSONObject = {"tool_parser": fields.tool_parser, "reasoning_parser": fields.reasoning_parser}
        if not self.settings.public:
            choices |= {"model": fields.model, "tokenizer": fields.tokenizer}
        state, notes = sandbox_of().call(make_link, text, choices)
        return {"kind": "link", "state": state, "notes": [*notes], "base": _base()}


def _base() -> str | None:
    """Return the base address of links if it differs from the one that the browser sees."""
    space = os.environ.get("SPACE_ID")
    return f"https://huggingface.co/spaces/{space}" if space else None


def _drop_folder(trace: Trace) -> Trace:
    """Return a shared run without the folder or hub name that its author wrote: this machine would load it."""
    return trace if trace.server is None else replace(trace, server=replace(trace.server, model_root=None))


def _failure(error: DebuggerError) -> JSONObject:
    place = ""
    if isinstance(error, RequestError) and error.line is not None:
        place = f"Line {error.line}, column {error.column or 1}: "
    message = place + error.message
    return {
        "kind": "failure",
        "sentence": as_sentence(message),
        "hint": error.hint,
    }


class Comparing:
    """What the event of the compare panel does: the browser keeps both runs and sends them; nothing of them stays."""

    def __init__(self, sharing: Sharing) -> None:
        self._most_chars = sharing.most_chars
        self._answers = NumberedAnswers()

    def compare(self, packed: str) -> str:
        """Return the payload of two bundles that the browser packed together, or a note why they are not compared."""
        try:
            return sandbox_of().call(compare_packed, packed, self._most_chars)
        except DebuggerError as error:
            return self._note(f"{as_sentence(error.message)} {error.hint}".strip())
        except Exception as error:  # noqa: BLE001  # a bundle can be whole and still tell nonsense
            _log.info("two runs could not be compared: %r", error)
            return self._note("These two runs cannot be compared: the parts of one do not match.")

    def _note(self, sentence: str) -> str:
        return self._answers.answer({"kind": "note", "note": sentence, "tone": "error"})
