"""The experiments of the Fix panel: what can be tried on the last run, and the table of what came of it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.experiments import Variant
from prompt_debugger.core.tools.experiments.switches import find_switches
from prompt_debugger.core.tools.fixes.margin import ask_logprobs
from prompt_debugger.core.tools.fixes.patch import patch_between
from prompt_debugger.core.tools.fixes.plans import UNCHANGED, Plan, pick_plans, plan_experiments
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, Step, step_experiments
from prompt_debugger.ui.present.experiments import bench_error_payload
from prompt_debugger.ui.present.trials import keys_of, order_of, trials_payload, variants_payload
from prompt_debugger.ui.web.experiments import Bench
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.fixes.runs import PUBLIC_RUNS, PageRuns, Ran, RunProgress
from prompt_debugger.ui.web.redraw_rate import ticking
from prompt_debugger.ui.web.render_setups import keep_edges, use_own_template
from prompt_debugger.ui.web.targets import REASONING_PARSERS, TOOL_PARSERS

MAX_SAMPLES = 20
MAX_RUNS = 40

Kept = tuple[tuple[str, tuple[Trace, ...]], ...]


class Edited(NamedTuple):
    """The template under edit, and the model's own."""

    template: str = ""
    own: str = ""


UNEDITED = Edited()


class TrialStep(NamedTuple):
    """A step of the experiments: the payload, and the runs so far by variant; `None` for what does not change."""

    payload: str | None
    runs: Kept | None = None


class Experiments:
    """What the events do; keeps only what does not change while the page is served."""

    def __init__(self, runs: PageRuns, bench: Bench) -> None:
        self._runs = runs
        self._bench = bench
        self.most_runs = PUBLIC_RUNS if runs.is_public else MAX_RUNS

    @shown_as(bench_error_payload)
    async def plan(self, ran: Ran, edited: Edited = UNEDITED) -> str:
        """Return what can be tried: fixes, all of them together, switches, stops, parsers, and the edited template."""
        trace, target = self._runs.target(ran)
        plans = await in_thread(self._plans, ran, trace, target, edited)
        ticked = frozenset(key for key in plans if key.startswith("fix"))
        return await in_thread(variants_payload, plans, ticked, trace, self.most_runs)

    @shown_as(lambda error: TrialStep(bench_error_payload(error)))
    async def run(self, ran: Ran, order: str, edited: Edited = UNEDITED) -> AsyncGenerator[TrialStep, None]:
        """Run what was chosen; yield the table as it grows."""
        trace, target = self._runs.target(ran)
        asked = order_of(order)
        plans = await in_thread(self._plans, ran, trace, target, edited)
        chosen = await in_thread(_chosen, plans, trace, target, asked)
        has_margin = asked.get("logprobs") is True
        source = f"On {trace.server.base_url if trace.server else ''}; each run as if it had been pasted."
        progress = RunProgress()

        async def run(body: JSONObject, plan: Plan) -> Trace:
            body = ask_logprobs(body) if has_margin else body
            return await self._runs.run(ran, target, body, plan, progress)

        samples = _number(asked.get("samples"), MAX_SAMPLES, "samples")
        budget = _number(asked.get("budget"), self.most_runs, "runs")
        steps = step_experiments(trace, chosen, run, samples=samples, budget=budget)
        last, shown = Step((), 0, 0, 0), ""
        async with aclosing(ticking(steps, self._runs.redraw_rate)) as ticks:
            async for step in ticks:
                if step is None and progress.sentence == shown:
                    continue
                last, shown = step or last, progress.sentence
                drawn = await in_thread(trials_payload, last, source, shown, is_running=True)
                yield TrialStep(drawn, _kept(last.experiments))
        drawn = await in_thread(trials_payload, last, source, "", is_running=False)
        yield TrialStep(drawn, _kept(last.experiments))

    def _plans(self, ran: Ran, trace: Trace, target: Target, edited: Edited) -> dict[str, Plan]:
        """Return the variants by the key that the page chooses them by."""
        made = {f"fix {at}": plan for at, plan in enumerate(plan_experiments(trace, target)[1:])}
        known = [plan.patch for plan in made.values()]
        for key, plan in self._switch_plans(ran, trace).items():
            if plan.patch not in known:
                made[key] = plan
        if any(trace.request.body.get(name) for name in ("stop", "stop_token_ids")):
            made["no-stop"] = _named("no stop strings, no stop tokens", trace, target, "no-stop")
        server = trace.server
        if server is None or not (server.is_lab or server.kind == "vllm"):
            return made
        for kind, names, own in (
            ("tool", TOOL_PARSERS, server.tool_parser),
            ("reasoning", REASONING_PARSERS, server.reasoning_parser),
        ):
            for name in names:
                if name not in ("none", own):
                    pick = f"{kind}-parser={name}"
                    made[pick] = _named(f"the {kind} parser {name}", trace, target, pick)
        template = self._template(edited)
        if template:
            [plan] = pick_plans(trace, target, ["chat-template=edited.jinja"], template=template)
            made["template"] = replace(plan, name="the template as edited")
        return made

    def _template(self, edited: Edited) -> str:
        """Return the template under edit; "" if it is the model's own, or not to be run: a public page runs none."""
        self._bench.check_text(edited.template)
        whole = keep_edges(edited.template, edited.own)
        return "" if self._runs.is_public or not whole.strip() or whole == edited.own else whole

    def _switch_plans(self, ran: Ran, trace: Trace) -> dict[str, Plan]:
        """Return what a request can say of the switches of What-if."""
        body = trace.request.body
        try:
            found = use_own_template(self._bench.find_setup(ran.fields, trace), body)
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


def _chosen(plans: dict[str, Plan], trace: Trace, target: Target, order: JSONObject) -> list[Plan]:
    chosen = [plans[key] for key in keys_of(order) if key in plans]
    stop, ids = (str(order.get(name) or "").strip() for name in ("stop", "stop_token_ids"))
    if stop:
        text = _unescaped(stop)
        chosen.append(_named(f"stop at {text!r}", trace, target, f"stop={text}"))
    if ids:
        chosen.append(_named(f"stop at token {ids}", trace, target, f"stop-token-ids={ids}"))
    if not chosen:
        raise RequestError("No change was chosen.", "Select at least one variant.")
    return [Plan(UNCHANGED), *chosen]


def _named(name: str, trace: Trace, target: Target, pick: str) -> Plan:
    [plan] = pick_plans(trace, target, [pick])
    return replace(plan, name=name)


def _unescaped(text: str) -> str:
    """Return a text with its escapes read as JSON has them, if it has such: no field takes a line break otherwise."""
    try:
        value: JSON = json.loads(f'"{text}"')
    except ValueError:
        return text
    return value if isinstance(value, str) else text


def _kept(experiments: tuple[Experiment, ...]) -> Kept:
    return tuple((one.plan.name, tuple(one.traces)) for one in experiments)


def _number(value: JSON, most: int, word: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise RequestError(f"The number of {word} must be from 1 to {most}.", "Change it next to the button.")
    return value
