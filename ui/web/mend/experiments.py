"""The experiments of the Mend panel: what can be tried on the last run, and the table of what came of it."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import NamedTuple

from prompt_debugger.core.errors import DebuggerError, RequestError
from prompt_debugger.core.experiments import Variant
from prompt_debugger.core.experiments.switches import find_switches
from prompt_debugger.core.mend.cures import Cure
from prompt_debugger.core.mend.experiments import UNCHANGED, Experiment, Plan, Step, plan_experiments, step_experiments
from prompt_debugger.core.mend.patch import patch_between
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.room import in_thread
from prompt_debugger.core.types import JSON, JSONObject, Trace
from prompt_debugger.ui.present.experiments import bench_error_payload
from prompt_debugger.ui.present.trials import keys_of, order_of, trials_payload, variants_payload
from prompt_debugger.ui.web.experiments import Bench, as_told
from prompt_debugger.ui.web.mend.runs import PUBLIC_RUNS, PageRuns, Ran, Telling, ticking
from prompt_debugger.ui.web.render_setups import with_own_template
from prompt_debugger.ui.web.targets import TOOL_PARSERS

MAX_SAMPLES = 20
MAX_RUNS = 40

Kept = tuple[tuple[str, tuple[Trace, ...]], ...]


class TrialStep(NamedTuple):
    """A step of the experiments: the payload, and the runs so far by variant; `None` for what does not change."""

    payload: str | None
    runs: Kept | None = None


class Experiments:
    """What the events do; holds what does not change while the page is served."""

    def __init__(self, runs: PageRuns, bench: Bench) -> None:
        self._runs = runs
        self._bench = bench
        self.most_runs = PUBLIC_RUNS if runs.is_public else MAX_RUNS

    async def plan(self, ran: Ran) -> str:
        """Return what can be tried: cures, all of them together, switches, and parsers."""
        try:
            trace, target = self._runs.target(ran)
            plans = await in_thread(self._plans, ran, trace, target)
            ticked = frozenset(key for key in plans if key.startswith("cure"))
            return await in_thread(variants_payload, plans, ticked, trace, self.most_runs)
        except Exception as error:  # noqa: BLE001  # a fault of ours must reach the page as a message, too
            return bench_error_payload(as_told(error))

    async def run(self, ran: Ran, order: str) -> AsyncGenerator[TrialStep, None]:
        """Run what was chosen; yield the table as it grows."""
        try:
            trace, target = self._runs.target(ran)
            chosen = await self._chosen(ran, trace, target, order_of(order))
            source = f"On {trace.server.base_url if trace.server else ''}; each run as if it had been pasted."
            told = Telling()

            async def run(body: JSONObject, plan: Plan) -> Trace:
                return await self._runs.run(ran, target, body, plan, told)

            asked = order_of(order)
            samples = _number(asked.get("samples"), MAX_SAMPLES, "samples")
            budget = _number(asked.get("budget"), self.most_runs, "runs")
            steps = step_experiments(trace, chosen, run, samples=samples, budget=budget)
            last, said = Step((), 0, 0, 0), ""
            async with aclosing(ticking(steps)) as ticks:
                async for step in ticks:
                    if step is None and told.sentence == said:
                        continue
                    last, said = step or last, told.sentence
                    drawn = await in_thread(trials_payload, last, source, said, is_running=True)
                    yield TrialStep(drawn, _kept(last.experiments))
            drawn = await in_thread(trials_payload, last, source, "", is_running=False)
            yield TrialStep(drawn, _kept(last.experiments))
        except Exception as error:  # noqa: BLE001  # as above
            yield TrialStep(bench_error_payload(as_told(error)))

    async def _chosen(self, ran: Ran, trace: Trace, target: Target, order: JSONObject) -> list[Plan]:
        plans = await in_thread(self._plans, ran, trace, target)
        chosen = [plans[key] for key in keys_of(order) if key in plans]
        if not chosen:
            raise RequestError("nothing was chosen to be changed", "Tick at least one variant.")
        return [Plan(UNCHANGED), *chosen]

    def _plans(self, ran: Ran, trace: Trace, target: Target) -> dict[str, Plan]:
        """Return the variants by the key that the page chooses them by."""
        made = {f"cure {at}": plan for at, plan in enumerate(plan_experiments(trace, target)[1:])}
        known = [plan.patch for plan in made.values()]
        for key, plan in self._switch_plans(ran, trace).items():
            if plan.patch not in known:
                made[key] = plan
        server = trace.server
        if server is not None and (server.is_lab or server.kind == "vllm"):
            parsers = [name for name in TOOL_PARSERS if name not in ("none", server.tool_parser)]
            made |= {f"parser {name}": _parser_plan(name, is_lab=target.base_url is None) for name in parsers}
        return made

    def _switch_plans(self, ran: Ran, trace: Trace) -> dict[str, Plan]:
        """Return what a request can say of the switches of What-if."""
        body = trace.request.body
        try:
            found = with_own_template(self._bench.find_setup(ran.fields, trace), body)
            base = Variant(body, found.setup)
            switches = find_switches(base)
        except DebuggerError:  # without a template there are none
            return {}
        made = {}
        for switch in switches:
            patch = tuple(patch_between(body, switch.apply(base).body))
            if patch:
                made[f"switch {switch.name}"] = Plan(f"{switch.name}: {switch.change}", patch=patch)
        return made


def _parser_plan(name: str, *, is_lab: bool) -> Plan:
    title = f"the tool parser {name}"
    cure = Cure(title, "flags", command=f"--enable-auto-tool-choice --tool-call-parser {name}", tool_parser=name)
    return Plan(title, cure=cure, tool_parser=name if is_lab else None)


def _kept(experiments: tuple[Experiment, ...]) -> Kept:
    return tuple((one.plan.name, tuple(one.traces)) for one in experiments)


def _number(value: JSON, most: int, word: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise RequestError(f"the number of {word} goes from 1 to {most}", "Change it beside the button.")
    return value
