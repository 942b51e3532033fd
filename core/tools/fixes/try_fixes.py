"""Prove a cause: the request as it is, then with one thing changed, on the same server.

Every variant is a whole run, so its counts are the ledger's. Where a fix of several faults is
known, they are also put together one by one: calls come back fault by fault.
"""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias, cast

from prompt_debugger.core import pipeline
from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.types import CallOutcome, JSONObject, Prompt, Severity, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.sandbox import sandbox_of
from prompt_debugger.core.tools.conversation import returned_calls
from prompt_debugger.core.tools.experiments.difference import TokenDifference, diff_renders
from prompt_debugger.core.tools.experiments.variant import Rendered
from prompt_debugger.core.tools.fixes.margin import trigger_margin
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of
from prompt_debugger.core.tools.fixes.patch import apply_patch
from prompt_debugger.core.tools.fixes.plans import Plan, can_run, plan_experiments, target_of
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.verify.intervals import wilson
from prompt_debugger.core.tools.verify.validity import check_calls

_WRITTEN = (CallOutcome.KEPT, CallOutcome.ALTERED, CallOutcome.DROPPED)
_FIRST_SEED = 1000


Runner: TypeAlias = Callable[[JSONObject, Plan], Awaitable[Trace]]


@dataclass(frozen=True, slots=True)
class CallGain:
    """A variant against the unchanged request, over pairs of runs with the same number, and so the same seed.

    Attributes:
        returned: Calls that came back more; fewer are negative.
        better: Pairs in which more calls came back.
        worse: Pairs in which fewer did.
        pairs: How many pairs there are.
    """

    returned: int
    better: int
    worse: int
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentDocument:
    """A variant of the request, and what came of it.

    Attributes:
        name: What was changed; `unchanged` comes first.
        finding: Code of the finding that it is to remove; `null` for several or none.
        change: JSON Patch of the request; `null` if the request is as it was.
        n: How many runs were made.
        written: Whole calls in the raw outputs, over all runs.
        returned: Calls in the answers.
        dropped: Calls that were written and not returned.
        valid: Returned calls that pass their schema.
        finish_reasons: How often the server said which.
        interval: Wilson's 95 % interval of returned per written; 0 to 1 where none was written.
        command: Flags with which the variant's server is started; "" if it is the same one.
        problem: Why a run could not be made; "" if all could.
        against_unchanged: Change of the calls returned, run by run; `null` for the unchanged request itself.
        trigger_margin: Mean probability of the marker that opens a call, less that of its best rival, where a call
            could have begun; `null` where the server gave no log probabilities.
    """

    name: str
    finding: str | None
    change: tuple[JSONObject, ...] | None
    n: int
    written: int
    returned: int
    dropped: int
    valid: int
    finish_reasons: dict[str, int]
    interval: tuple[float, float]
    command: str = ""
    problem: str = ""
    against_unchanged: CallGain | None = None
    trigger_margin: float | None = None


@dataclass(slots=True)
class Experiment:
    """What came of a variant.

    Attributes:
        numbers: The number of the sample that each of them is, from 0.
        valid: Returned calls that pass their schema.
        problem: Why it could not be run; "" if it could.
    """

    plan: Plan
    traces: list[Trace] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    valid: int = 0
    problem: str = ""

    @property
    def errors(self) -> set[str]:
        """Codes of the findings of severity error, over all runs."""
        return {f.code for trace in self.traces for f in trace.findings if f.severity is Severity.ERROR}

    @property
    def codes(self) -> set[str]:
        """Codes of all findings, over all runs."""
        return {finding.code for trace in self.traces for finding in trace.findings}

    @property
    def written(self) -> int:
        """Whole calls in the raw outputs."""
        return sum(_written(trace) for trace in self.traces)

    @property
    def returned(self) -> int:
        """Calls in the answers."""
        return sum(len(returned_calls(trace)) for trace in self.traces)

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval of the share of calls that came back; everything where none was written."""
        rate = wilson(min(self.returned, self.written), self.written)
        return (0.0 if rate.low is None else rate.low, 1.0 if rate.high is None else rate.high)

    @property
    def dropped(self) -> int:
        """Calls that were written and not returned."""
        return sum(_count(trace, CallOutcome.DROPPED) for trace in self.traces)

    @property
    def finish_reasons(self) -> dict[str, int]:
        """How often the server said which."""
        return dict(Counter(str(trace.chat.finish_reason) for trace in self.traces if trace.chat is not None))

    @property
    def trigger_margin(self) -> float | None:
        """Mean margin of the marker that opens a call, where the server gave log probabilities."""
        margins = [margin.margin for trace in self.traces if (margin := trigger_margin(trace)) is not None]
        return sum(margins) / len(margins) if margins else None

    def change_from(self, base: Experiment) -> CallGain:
        """Return the change against another variant, run by run."""
        before = {number: len(returned_calls(trace)) for number, trace in zip(base.numbers, base.traces, strict=True)}
        after = {number: len(returned_calls(trace)) for number, trace in zip(self.numbers, self.traces, strict=True)}
        steps = [after[number] - before[number] for number in before.keys() & after.keys()]
        return CallGain(sum(steps), sum(step > 0 for step in steps), sum(step < 0 for step in steps), len(steps))

    def to_json(self, base: Experiment | None = None) -> JSONObject:
        """Return it as the run document has it; `base` is the unchanged request's runs, `None` for those."""
        document = ExperimentDocument(
            name=self.plan.name,
            finding=self.plan.finding,
            change=self.plan.patch or None,
            n=len(self.traces),
            written=self.written,
            returned=self.returned,
            dropped=self.dropped,
            valid=self.valid,
            finish_reasons=self.finish_reasons,
            interval=self.interval,
            command=self.plan.command,
            problem=self.problem,
            trigger_margin=self.trigger_margin,
            against_unchanged=None if base is None else self.change_from(base),
        )
        return dump_document(document)


async def run_experiments(
    first: Trace,
    target: Target,
    labs: LabPool | None,
    *,
    samples: int = 1,
    budget: int | None = None,
    picked: Sequence[Plan] = (),
    report: Callable[[str], None] | None = None,
) -> AsyncIterator[Experiment]:
    """Run the variants of a run, and the picked ones, and yield each as it is done.

    From the second sample of a variant on, runs have their own seed. The budget is of runs over all variants. Before
    anything runs `report` gets how much will, and then each variant.

    Raises:
        RequestError: Fewer than one sample.
    """
    if samples < 1:
        raise RequestError("An experiment needs at least one sample.", field="--samples")
    plans = [*plan_experiments(first, target), *picked]
    say = report or (lambda _: None)

    async def run(body: JSONObject, plan: Plan) -> Trace:
        text = json.dumps(body, ensure_ascii=False, indent=2)
        return await pipeline.run(
            replace(first.request, body=body, text=text), replace(target_of(plan, target), api=first.api), labs
        )

    wanted = samples * sum(can_run(plan) for plan in plans)
    steps = step_experiments(first, plans, run, samples=samples, budget=budget)
    reported = 0
    async with aclosing(steps):  # type: ignore[type-var]  # an async generator, typed as iterator
        async for step in steps:
            if not step.experiments:
                limited = f" of {wanted}" if step.runs < wanted else ""
                cost = cost_of(first, step.runs)
                say(f"{len(plans)} variants, {samples} sample(s) each: {step.runs} runs{limited}; {cost.sentence}")
            for experiment in step.experiments[reported : step.ended]:
                count = len(experiment.traces)
                say(f"{experiment.plan.name}: {count} run(s)" if count else f"{experiment.plan.name}: not run here")
                yield experiment
            reported = step.ended


class Cost(NamedTuple):
    """What runs of a request take, estimated by the first one.

    Attributes:
        requests: Requests to the model: each run asks it as chat, raw, and once more as a stream or a repeat.
        completion_tokens: Tokens to write, if the answers are as long as the first.
    """

    requests: int
    prompt_tokens: int
    completion_tokens: int

    @property
    def sentence(self) -> str:
        """What they take, in words."""
        return (
            f"about {self.requests} requests, {self.prompt_tokens} prompt tokens and "
            f"{self.completion_tokens} completion tokens"
        )


def cost_of(first: Trace, runs: int) -> Cost:
    """Return what a number of runs of a request will take."""
    other_way = first.chat_whole if first.request.body.get("stream") is True else first.chat_stream
    requests = sum(one is not None for one in (first.chat, first.raw_again, other_way)) or 1
    prompt = next((one for one in (first.prompt, first.local_prompt) if one is not None and one.tokens), None)
    read = 0 if prompt is None else len(prompt.tokens or ())
    written = len(first.raw.token_ids or ()) if first.raw is not None else 0
    return Cost(runs * requests, runs * requests * read, runs * requests * written)


class Step(NamedTuple):
    """How far experiments are: of the variants the last one may be under way, and grows; of `runs` some are done."""

    experiments: tuple[Experiment, ...]
    ended: int
    done: int
    runs: int


async def step_experiments(
    first: Trace, plans: Sequence[Plan], run: Runner, *, samples: int = 1, budget: int | None = None
) -> AsyncIterator[Step]:
    """Run variants and yield how far they are, before and after each run.

    Where there are several samples of a variant, each has its own seed. The budget is of runs over all variants.
    """
    wanted = samples * sum(can_run(plan) for plan in plans)
    runs = wanted if budget is None else min(budget, wanted)
    made: list[Experiment] = []
    done = 0
    yield Step((), 0, 0, runs)
    for plan in plans:
        made.append(Experiment(plan))
        for number in range(min(samples, runs - done) if can_run(plan) else 0):
            yield Step(tuple(made), len(made) - 1, done, runs)
            await _sample(made[-1], first, run, number, has_seed=samples > 1)
            done += 1
        yield Step(tuple(made), len(made), done, runs)


async def _sample(experiment: Experiment, first: Trace, run: Runner, number: int, *, has_seed: bool) -> None:
    body = apply_patch(first.request.body, experiment.plan.patch)
    if has_seed and "seed" not in body:
        body["seed"] = _FIRST_SEED + number
    try:
        if experiment.plan.client:
            trace = await reread(first, experiment.plan.client)
        else:
            trace = await run(body, experiment.plan)
    except DebuggerError as error:
        experiment.problem = error.message
        return
    experiment.traces.append(trace)
    experiment.numbers.append(number)
    tools = body.get("tools")
    for call in returned_calls(trace):
        validity = await sandbox_of().run(check_calls, tools if isinstance(tools, list) else [], [call])
        experiment.valid += validity.default


def tried_fixes(first: Trace, experiments: list[Experiment]) -> dict[str, OfferedFix]:
    """Return the fixes of a run's findings, with whether they were tried and worked, by the finding's code."""
    by_fix = [(one.plan.fix, one) for one in experiments if one.plan.fix is not None]

    def tried(code: str, fix: OfferedFix) -> OfferedFix:
        made = next((one for known, one in by_fix if known == replace(fix, alternatives=())), None)
        if made is None or not made.traces:
            return fix
        worked = code not in made.codes and not _new_errors(first, made)
        return replace(fix, tried=True, worked=worked, prompt_difference=prompt_change(first, made.traces[0]))

    return {
        code: replace(tried(code, fix), alternatives=tuple(tried(code, one) for one in fix.alternatives))
        for code, fix in fixes_of(first).items()
    }


def prompt_change(before: Trace, after: Trace) -> TokenDifference | None:
    """Return which tokens one run's prompt has and another's lacks; `None` if they are the same or not known."""
    for old, new in ((before.prompt, after.prompt), (before.local_prompt, after.local_prompt)):
        if old is not None and new is not None and old.tokens is not None and new.tokens is not None:
            return diff_renders(_rendered(old), _rendered(new))
    return None


def _rendered(prompt: Prompt) -> Rendered:
    tokens = prompt.tokens or ()
    ids, spans = tuple(token.id for token in tokens), tuple(token.char_span for token in tokens)
    return Rendered(prompt.text, "token", ids, spans, prompt.spans, tokens)


def _new_errors(first: Trace, made: Experiment) -> set[str]:
    """Return the errors that a change brought: neither there before, nor explained by what was there before.

    Where one fault hides another, as a missing generation prompt does, removing it shows the other.
    """
    before = {finding.code for finding in first.findings}
    return {code for trace in made.traces for code in _errors(trace) if not before & set(_chain(trace, code))}


def _errors(trace: Trace) -> list[str]:
    return [finding.code for finding in trace.findings if finding.severity is Severity.ERROR]


def _chain(trace: Trace, code: str) -> list[str]:
    """Return a finding's code, and those of the findings that it follows from."""
    follows = {finding.code: finding.follows for finding in trace.findings}
    seen: list[str] = []
    now: str | None = code
    while now is not None and now not in seen:
        seen.append(now)
        now = follows.get(now)
    return seen


def _written(trace: Trace) -> int:
    return sum(_count(trace, outcome) for outcome in _WRITTEN)


def _count(trace: Trace, outcome: CallOutcome) -> int:
    return 0 if trace.parse is None else sum(match.outcome is outcome for match in trace.parse.ledger.matches)


async def reread(first: Trace, client: str) -> Trace:
    """Return a run with its message changed as the function `fix` of a `ClientFix` would; the server is not asked."""
    if first.chat is None:
        return first
    chat = replace(first.chat, message=fixed_message(client, first.chat.message))
    special = frozenset() if first.vocabulary is None else frozenset(first.vocabulary.special.values())
    trace = replace(first, chat=chat, chat_stream=None, chat_whole=None, parse=None, findings=(), verdict=None)
    return await read_trace(trace, special)


def fixed_message(source: str, message: JSONObject) -> JSONObject:
    """Return a message as a client's function would change it; as it is where the change cannot be made."""
    names: dict[str, object] = {}
    exec(source, names)
    fix = cast("Callable[[JSONObject], JSONObject]", names["fix"])
    try:
        return fix(copy.deepcopy(message))
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return message
