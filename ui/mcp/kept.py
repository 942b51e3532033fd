"""The runs that a client may refer to: a handle for each, the oldest forgotten first."""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import JSONObject, Trace
from prompt_debugger.core.report import redact_json, redact_text, trace_to_json
from prompt_debugger.ui.report import share_trace
from prompt_debugger.ui.web.targets import TargetFields

MAX_KEPT = 64
PAGE_CHARS = 8_000
_NOWHERE = TargetFields("", "", "", "none", "none")


@dataclass(frozen=True, slots=True)
class Kept:
    """What a handle stands for.

    Attributes:
        document: What the command prints with `--json`, secrets out; made when it is asked for.
        trace: The run; `None` for what is not a run, such as a check.
        fields: Where it went.
        report: Markdown for an issue; `None` for that of the run alone.
    """

    document: Callable[[], JSONObject]
    trace: Trace | None = None
    fields: TargetFields = _NOWHERE
    report: Callable[[], str] | None = None


class KeptRuns:
    """Runs by handle. A handle cannot be guessed, so it is all that one needs to see what it stands for."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Kept] = OrderedDict()

    def keep(self, kept: Kept) -> str:
        """Return the handle of something from now on."""
        handle = secrets.token_urlsafe(6)
        self._kept[handle] = kept
        while len(self._kept) > MAX_KEPT:
            self._kept.popitem(last=False)
        return handle

    def keep_trace(self, trace: Trace, fields: TargetFields = _NOWHERE) -> str:
        """Return the handle of a run from now on."""
        return self.keep(Kept(lambda: trace_to_json(trace), trace, fields))

    def get(self, handle: str) -> Kept:
        """Return what a handle stands for.

        Raises:
            RequestError: Nothing, or nothing any more.
        """
        if handle not in self._kept:
            raise RequestError(
                f"There is no run with the handle {handle!r}.",
                f"Handles come from `diagnose`, `run` and the other tools; the last {MAX_KEPT} are kept.",
                field="handle",
            )
        return self._kept[handle]

    def run(self, handle: str) -> tuple[Trace, TargetFields]:
        """Return the run of a handle, and where it went.

        Raises:
            RequestError: It stands for none.
        """
        kept = self.get(handle)
        if kept.trace is None:
            raise RequestError(f"The handle {handle!r} is not that of a run.", "Use `run` or `diagnose` first.")
        return kept.trace, kept.fields

    def part(self, handle: str, name: str) -> str:
        """Return a part of what a handle stands for, as text, secrets out.

        Raises:
            RequestError: There is no such handle, or it has no such part.
        """
        kept = self.get(handle)
        if name == "document":
            return json.dumps(redact_json(kept.document()), ensure_ascii=False, indent=1)
        part = PARTS.get(name)
        if name == "report" and kept.report is not None:
            text: str | None = kept.report()
        else:
            text = None if part is None or kept.trace is None else part(kept.trace)
        if text is None:
            known = ", ".join(["document", *PARTS])
            raise RequestError(f"{handle!r} has no part {name!r}.", f"Parts of a run are {known}.", field="part")
        return redact_text(text)


def _prompt(trace: Trace) -> str | None:
    prompt = trace.prompt or trace.local_prompt
    return None if prompt is None else prompt.text


def _message(trace: Trace) -> str | None:
    answer = trace.chat or trace.chat_stream
    return None if answer is None else json.dumps(answer.message, ensure_ascii=False, indent=1)


PARTS: Mapping[str, Callable[[Trace], str | None]] = {
    "report": lambda trace: share_trace(trace).markdown,
    "request": lambda trace: json.dumps(trace.request.body, ensure_ascii=False, indent=1),
    "prompt": _prompt,
    "raw": lambda trace: None if trace.raw is None else trace.raw.text,
    "message": _message,
    "html": lambda trace: share_trace(trace).html,
    "bundle": lambda trace: share_trace(trace).bundle,
}
