"""What the page does where there is no lab (yet): examples open as they once ran, other requests are rendered."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Example, Target, load_recording
from prompt_debugger.ui.present import pack_payload, unpack_payload
from prompt_debugger.ui.web.work import Payloads, marked_payloads

_log = logging.getLogger(__name__)


class RecordedRun(NamedTuple):
    """A worked case as it once ran, ready to be shown."""

    trace: Trace
    payloads: Payloads


class RecordedCases:
    """The recorded runs of the worked cases, each read when it is first asked for; from any thread."""

    def __init__(self, examples: dict[str, Example], has_lab: Callable[[], bool]) -> None:
        """Read none yet; without a lab, now or later, nothing is offered to be tried."""
        self._examples = examples
        self._has_lab = has_lab
        self._traces: dict[str, tuple[Trace, str] | None] = {}
        self._lock = threading.Lock()

    def open(self, name: str, *, run: int | None = None) -> RecordedRun | None:
        """Return the recording of a worked case, shown in place of a run if one is given; `None` if there is none."""
        with self._lock:
            if name not in self._traces:
                self._traces[name] = _read(self._examples[name])
            found = self._traces[name]
        if found is None:
            return None
        trace, origin = found
        state = "recorded" if run is None else "done"
        payloads = marked_payloads(trace, "recorded", origin, state=state, run=run or 0)
        return RecordedRun(trace, payloads if self._has_lab() else drop_trial(payloads))

    def find(self, request: Request, target: Target, *, run: int) -> RecordedRun | None:
        """Return the recording of this very request on this very lab; `None` if it is none of the worked cases."""
        for name, example in self._examples.items():
            if example.lab == target.lab and json.loads(example.request_text) == request.body:
                return self.open(name, run=run)
        return None


def drop_trial(payloads: Payloads) -> Payloads:
    """Return the views of a run whose fix no one can try: the next step shows it."""
    header, _ = unpack_payload(payloads["verdict"] or "")
    step = as_object(header.get("step"))
    if step.get("kind") != "try":
        return payloads
    shown: JSONObject = {**step, "kind": "show", "label": "Show the fix"}
    return {**payloads, "verdict": pack_payload({**header, "step": shown})}


def _read(example: Example) -> tuple[Trace, str] | None:
    try:
        recording = load_recording(example.name)
    except RequestError as error:  # written by another version: the page goes without it
        _log.warning("the recorded run of %s cannot be read: %s", example.name, error.message)
        return None
    if recording is None:
        return None
    trace, day = recording
    server = trace.server
    version = "" if server is None else f" {server.version}"
    model = Path(str(example.lab.model_dir)).name
    ran = f"vLLM{version} served {model} for this case on {day:%-d %B %Y}"
    origin = f"Recorded run: {ran}. Press Run to repeat it live."
    return trace, f"{origin} {example.story}"
