"""What the buttons next to a finding do: try its fix, copy the changed request, put it into the editor."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import FixProof, JSONObject, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.request import body_text
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.experiments import Switch, Variant
from prompt_debugger.core.tools.experiments.switches import find_switches
from prompt_debugger.core.tools.fixes.forms import FORMS, NAMES, Form, request_as
from prompt_debugger.core.tools.fixes.margin import ask_logprobs
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of
from prompt_debugger.core.tools.fixes.patch import apply_patch
from prompt_debugger.core.tools.fixes.plans import Plan
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, step_experiments, tried_fixes
from prompt_debugger.ui.present import findings_payload
from prompt_debugger.ui.present.chains import chain_of
from prompt_debugger.ui.present.offered_fixes import (
    can_try,
    read_change,
    trial_error_payload,
    trial_payload,
    tried_payload,
)
from prompt_debugger.ui.present.trials import order_of
from prompt_debugger.ui.web.experiments import Asked, Bench
from prompt_debugger.ui.web.failures import as_debugger_error, shown_as
from prompt_debugger.ui.web.fixes.runs import NOTHING, PageRuns, Ran, RunProgress
from prompt_debugger.ui.web.numbered_answers import NumberedAnswers
from prompt_debugger.ui.web.redraw_rate import ticking
from prompt_debugger.ui.web.render_setups import keep_edges

_MAX_PROOF = 600  # characters
_MAX_CHANGES = 6


class OfferedFixes:
    """What the events do; keeps only what does not change while the page is served."""

    def __init__(self, runs: PageRuns, bench: Bench) -> None:
        self._runs = runs
        self._bench = bench
        self._answers = NumberedAnswers()

    def try_fix(self, ran: Ran, code: str) -> AsyncGenerator[str, None]:
        """Run the changed request once; yield how it goes, and how it ended."""
        return shown_as(partial(trial_error_payload, code))(self._try_fix)(ran, code)

    async def _try_fix(self, ran: Ran, code: str) -> AsyncGenerator[str, None]:
        trace, target = self._runs.target(ran)
        plan, progress = plan_to_try(trace, code, target), RunProgress("Running the changed request")

        async def run(body: JSONObject, plan: Plan) -> Trace:
            return await self._runs.run(ran, target, body, plan, progress)

        made: Experiment | None = None
        shown = ""
        async with aclosing(ticking(step_experiments(trace, [plan], run), self._runs.redraw_rate)) as steps:
            async for step in steps:
                made = step.experiments[-1] if step is not None and step.experiments else made
                if progress.sentence != shown:
                    shown = progress.sentence
                    yield trial_payload(code, "running", shown)
        assert made is not None
        yield await in_thread(self._ended, trace, code, made)

    def _ended(self, trace: Trace, code: str, made: Experiment) -> str:
        if made.problem:
            return trial_payload(code, "error", f"It could not be tested: {made.problem}")
        return tried_payload(code, trace, made, worked=tried_fixes(trace, [made])[code].worked is True)

    def apply(self, trace: Trace | None, code: str) -> str:
        """Return the changed request, for the editor."""
        return self._guarded(lambda: self._apply(_changed(trace, code)))

    def ask_margin(self, trace: Trace | None) -> str:
        """Return the request with log probabilities asked for, for the editor."""

        def made() -> str:
            if trace is None:
                raise NOTHING
            return self._apply(ask_logprobs(trace.request.body), compares=False)

        return self._guarded(made)

    def ask_again(self, trace: Trace | None) -> str:
        """Return the request that a paste held, for the editor: a run of it brings ids."""

        def made() -> str:
            if trace is None or not trace.request.body.get("messages"):
                raise NOTHING
            return self._apply(trace.request.body, compares=False)

        return self._guarded(made)

    def add_proof(self, trace: Trace | None, order: str) -> tuple[Trace | None, str | None, str]:
        """Add how trying a fix ended to its finding, so that every report of the run has it.

        Returns:
            The run with it and its findings, `None` for what does not change, and what to say.
        """
        asked = order_of(order)
        code = str(asked.get("code"))
        try:
            proved = attach_proof(trace, code, asked)
        except Exception as error:  # noqa: BLE001  # as above
            return None, None, self._answers.failure(as_debugger_error(error))
        reported: JSONObject = {"kind": "proved", "sentence": "Share has it."}
        return proved, findings_payload(proved), self._answers.answer(reported)

    def copy(self, trace: Trace | None, order: str) -> str:
        """Return the changed request in one form; an order is the form, a blank, and the finding's code."""

        def made() -> str:
            form, _, code = order.partition(" ")
            known: Form = next((one for one in FORMS if one == form), FORMS[0])
            body = _changed(trace, code)
            assert trace is not None
            return self._answers.answer({"kind": "copy", "name": NAMES[known]}, request_as(known, body, trace))

        return self._guarded(made)

    async def apply_switch(self, asked: Asked, edited: str, name: str) -> str:
        """Return the request with one switch flipped, for the editor."""
        return await in_thread(self._guarded, lambda: self._apply(self._switched(asked, edited, name)))

    async def apply_template(self, asked: Asked, template: str, own: str) -> str:
        """Return the request with the edited template in it, for the editor."""

        def made() -> str:
            if self._runs.is_public:
                raise RequestError(
                    "A public page does not run visitors' templates.", "Run the program on your own machine."
                )
            body = {name: value for name, value in self._bench.read_body(asked).items() if name != "chat_template"}
            whole = keep_edges(template, own)
            return self._apply(body if whole == own or not template.strip() else {**body, "chat_template": whole})

        return await in_thread(self._guarded, made)

    def _switched(self, asked: Asked, edited: str, name: str) -> JSONObject:
        self._bench.check_text(edited)
        body = self._bench.read_body(asked)
        setup = self._bench.find_setup(asked.fields, asked.trace).setup
        base = Variant(body, setup)
        switch: Switch | None = next((one for one in find_switches(base) if one.name == name), None)
        if switch is None:
            raise RequestError("This switch does not apply to the request in the editor.", "Try the switches again.")
        changed = switch.apply(base)
        if changed.body == body:
            raise RequestError("This cannot be set in a request, only on the server.", "")
        return changed.body

    def _apply(self, body: JSONObject, *, compares: bool = True) -> str:
        return self._answers.answer({"kind": "apply", "compares": compares}, body_text(body))

    def _guarded(self, make: Callable[[], str]) -> str:
        return shown_as(self._answers.failure)(make)()


def plan_to_try(trace: Trace, code: str, target: Target) -> Plan:
    """Return the variant that tries the fix of a finding, without the other fixes that it may have.

    Raises:
        RequestError: There is no such fix, or a run cannot try it.
    """
    fix = _fix(trace, code)
    if not can_try(fix, trace):
        raise RequestError("This fix changes how the server is started.", "Start the server that way, then run again.")
    parser = fix.tool_parser if target.base_url is None else None
    return Plan(fix.name, code, replace(fix, alternatives=()), fix.patch, parser)


def attach_proof(trace: Trace | None, code: str, ended: JSONObject) -> Trace:
    """Return a run with what was changed, and how it ended, at the root of a finding's chain."""
    fix = _fix(trace, code)
    assert trace is not None
    at = next(one for one in trace.findings if one.code == code)
    root = chain_of(at, trace.findings)[0]
    calls = ended.get("calls")
    counted = [one for one in calls if isinstance(one, int)] if isinstance(calls, list) else []
    written, returned = counted if len(counted) == 2 else (None, None)  # as the trial reported them
    proof = FixProof(
        fix.name,
        str(ended.get("sentence"))[:_MAX_PROOF],
        ended.get("state", "worked") == "worked",
        tuple(read_change(one, trace.request.body) for one in fix.patch[:_MAX_CHANGES]),
        fix.patch,
        written,
        returned,
    )
    proved = replace(root, proof=proof)
    return replace(trace, findings=tuple(proved if one is root else one for one in trace.findings))


def _fix(trace: Trace | None, code: str) -> OfferedFix:
    if trace is None:
        raise NOTHING
    fix = fixes_of(trace).get(code)
    if fix is None:
        raise RequestError("The current run does not have this fix.", "Run again.")
    return fix


def _changed(trace: Trace | None, code: str) -> JSONObject:
    fix = _fix(trace, code)
    assert trace is not None
    return apply_patch(trace.request.body, fix.patch)
