"""Every form in which a run leaves this machine, all made from one masked trace."""

from __future__ import annotations

import re

from prompt_debugger import __version__
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.report import Bundle, file_stem, markdown_fold, pack_bundle, redact_text, write_bundle
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.fixes.upstream import case_of_trace, write_upstream_test
from prompt_debugger.ui.present.words import shortened
from prompt_debugger.ui.report.document import trace_to_html
from prompt_debugger.ui.report.mask import mask_request, mask_text, mask_trace
from prompt_debugger.ui.report.place import run_for_link
from prompt_debugger.ui.report.sections import markdown_of

MARKDOWN_ROOM = 60_000  # characters; an issue on GitHub takes 65,536


class SharedRun:
    """A run as anyone may see it; each form is made when it is asked for."""

    def __init__(self, trace: Trace, place: str = "") -> None:
        self.trace = mask_trace(trace)
        self._place = place

    @property
    def html(self) -> str:
        """The report that opens offline."""
        return trace_to_html(self.trace, self._place, bundle=self.bundle)

    @property
    def markdown(self) -> str:
        """The text for an issue tracker, with the run in a fold."""
        text = markdown_of(self.trace)
        return f"{text}\n{markdown_fold(self.short_bundle, MARKDOWN_ROOM - len(text))}"

    @property
    def packed(self) -> str:
        """The bundle as it travels inside a picture."""
        return pack_bundle(self.bundle)

    @property
    def stem(self) -> str:
        """What its files are called, without the ending."""
        return file_stem(self.trace)

    @property
    def short_bundle(self) -> str:
        """The same for a link: without answers as received, events and second answers."""
        return write_bundle(run_for_link(self.trace), __version__)

    @property
    def bundle(self) -> str:
        """The JSON file that opens again as the whole run."""
        return write_bundle(self.trace, __version__)

    def upstream_test(self, engine: str, parser: str | None = None) -> str:
        """Return the failing test for maintainers; a program, so nothing is taken out of it once it is written.

        Raises:
            RequestError: The run makes no test; `core.tools.fixes.upstream` says why.
        """
        return write_upstream_test(case_of_trace(self.trace, parser, engine), engine)


def share_trace(trace: Trace, place: str = "") -> SharedRun:
    """Return a run in every form in which it may be shared, secrets covered; the report opens at a place."""
    return SharedRun(trace, place)


def describe_bundle(bundle: Bundle) -> str:
    """Return where an opened run comes from, one sentence."""
    by = f"version {bundle.program} of this program" if bundle.program else "this program"
    called = f" \u201c{shortened(' '.join(bundle.trace.title.split()), 80)}\u201d" if bundle.trace.title else ""
    edited = " The file was modified after it was written." if bundle.is_edited else ""
    return f"Reopened{called} from a bundle written by {by}; nothing was run.{edited}"


_HUB_ID = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")  # what is not a Hub id may be a folder of this machine


def link_state(text: str, choices: JSONObject) -> tuple[JSONObject, tuple[str, ...]]:
    """Return what a link carries, and what is to be said about it.

    Of a command or a snippet only the body goes into a link: around it are the server's address and its key. What is
    no request, such as a pasted answer or log, goes in as it was pasted, secrets covered.

    Args:
        text: What is in the editor.
        choices: `tool_parser`, `reasoning_parser`, `model`, `tokenizer`; empty ones are left out.

    Raises:
        RequestError: The text cannot be read, so no one can tell what is secret in it.
    """
    shared, notes = _linked_evidence(text) if read_evidence(text).is_evidence else _linked_request(text)
    state: JSONObject = {"request": shared}
    for name, value in choices.items():
        if isinstance(value, str) and value and (name != "tokenizer" or _HUB_ID.fullmatch(value)):
            state[name] = redact_text(value)
    if choices.get("tokenizer") and "tokenizer" not in state:
        notes.append("The tokenizer is a folder on this machine, so the link does not include it.")
    return state, tuple(notes)


def _linked_request(text: str) -> tuple[str, list[str]]:
    request = read_request(text)
    masked = mask_request(request)
    notes: list[str] = []
    if request.source != "json":
        notes.append("The link contains only the request's body, not the command around it.")
    if masked.body != request.body:
        notes.append("What looks like a secret in the request is masked with •.")
    return masked.text, notes


def _linked_evidence(text: str) -> tuple[str, list[str]]:
    masked = mask_text(text)
    notes = ["The link contains the whole text as pasted, with the addresses and names in it."]
    if masked != text:
        notes.append("What looks like a secret in the text is masked with •.")
    return masked, notes
