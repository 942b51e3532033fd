"""Experiments, shrinking and the test for maintainers, as the page draws them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from prompt_debugger.core.base.json_values import as_object, decode_json
from prompt_debugger.core.base.types import JSON, JSONObject, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.request import body_text
from prompt_debugger.core.tools.fixes.patch import apply_patch
from prompt_debugger.core.tools.fixes.plans import UNCHANGED, Plan, can_run
from prompt_debugger.core.tools.fixes.shrink import Shrinking, Shrunk
from prompt_debugger.core.tools.fixes.trial import Trial
from prompt_debugger.core.tools.fixes.try_fixes import CallGain, Experiment, Step
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS
from prompt_debugger.core.tools.fixes.upstream_diff import UpstreamDiff, sentence_of_diff
from prompt_debugger.ui.present.offered_fixes import MAX_CHANGES, change_view
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import as_sentence, count_of

REQUESTS_A_RUN = 3  # raw, chat, and the chat streamed


def variants_payload(plans: Mapping[str, Plan], ticked: frozenset[str], trace: Trace, most_runs: int) -> str:
    """Return what can be tried on a run's request."""
    body = trace.request.body
    prompt = trace.prompt or trace.local_prompt
    return pack_payload(
        {
            "variants": [
                {
                    "key": key,
                    "name": plan.name,
                    "finding": plan.finding,
                    "can_run": can_run(plan),
                    "ticked": key in ticked,
                    "max_tokens": _most_tokens(apply_patch(body, plan.patch)),
                    "changes": [change_view(one, body) for one in plan.patch[:MAX_CHANGES]],
                }
                for key, plan in plans.items()
            ],
            "most_runs": most_runs,
            "prompt_tokens": None if prompt is None or prompt.tokens is None else len(prompt.tokens),
            "max_tokens": _most_tokens(body),
            "requests": REQUESTS_A_RUN,
        }
    )


def _most_tokens(body: JSONObject) -> int | None:
    """Return how many tokens a request asks for at most; `None` if it does not say."""
    limits = [body.get(name) for name in ("max_completion_tokens", "max_tokens")]
    return next((value for value in limits if isinstance(value, int)), None)


def trials_payload(step: Step, source: str, now: str, *, is_running: bool) -> str:
    """Return the table of the experiments."""
    base = step.experiments[0] if step.experiments else None
    return pack_payload(
        {
            "state": "running" if is_running else "done",
            "sentence": _trials_sentence(step, is_running=is_running),
            "source": source,
            "progress": {
                "text": f"{step.done} of {count_of(step.runs, 'run')}" + (f": {now}" if now else ""),
                "fraction": step.done / step.runs if step.runs else None,
            },
            "rows": [_row(one, base, at) for at, one in enumerate(step.experiments)],
        }
    )


def _trials_sentence(step: Step, *, is_running: bool) -> str:
    if is_running or not step.experiments:
        return "Running the variants"
    base = step.experiments[0]
    helped = [one for one in step.experiments[1:] if one.change_from(base).returned > 0]
    worse = [one for one in step.experiments[1:] if one.change_from(base).returned < 0]
    ended = "" if step.done == step.runs else f" Ended after {step.done} of {count_of(step.runs, 'run')}."
    if not helped:
        return f"No variant returned more calls than the unchanged request.{ended}"
    names = ", ".join(one.plan.name for one in helped)
    also = f"; fewer were returned with {', '.join(one.plan.name for one in worse)}" if worse else ""
    return f"More calls were returned with: {names}{also}.{ended}"


def _row(one: Experiment, base: Experiment | None, at: int) -> JSONObject:
    low, high = one.interval
    change = None if base is None or one is base or not one.traces else one.change_from(base)
    return {
        "name": "unchanged request" if one.plan.name == UNCHANGED else one.plan.name,
        "finding": one.plan.finding,
        "n": len(one.traces),
        "written": one.written,
        "returned": one.returned,
        "dropped": one.dropped,
        "valid": one.valid,
        "finish_reasons": ", ".join(f"{reason} {count}" for reason, count in one.finish_reasons.items()),
        "interval": f"{low:.0%} to {high:.0%}" if one.written else "none written",
        "change": "" if change is None else _change(change),
        "better": 0 if change is None else (change.returned > 0) - (change.returned < 0),
        "margin": "" if one.trigger_margin is None else f"{one.trigger_margin:+.1%}".replace("-", "\u2212"),
        "command": "" if can_run(one.plan) else _command(one.plan),
        "problem": as_sentence(one.problem) if one.problem else "",
        "runs": [f"{at}.{number}" for number in range(len(one.traces))],
    }


def _command(plan: Plan) -> str:
    return plan.command or ("" if plan.fix is None else plan.fix.command)


def _change(change: CallGain) -> str:
    if not change.pairs:
        return "no pair"
    sign = f"{change.returned:+d} {'call' if abs(change.returned) == 1 else 'calls'}".replace("-", "\u2212")
    if change.pairs == 1:
        return sign
    return f"{sign}; of {change.pairs} pairs {change.better} better, {change.worse} worse"


def shrinking_payload(step: Shrinking, now: str) -> str:
    """Return how far shrinking is, with the smallest request so far."""
    before, after = step.size
    how = "asked offline" if step.offline else f"{count_of(step.asked, 'run')} on the server"
    return _shrunk(
        "running",
        f"{step.finding}: {before:,} characters, {after:,} so far",
        step.request,
        {"text": f"{count_of(step.steps, 'reduction')} tried, {how}" + (f": {now}" if now else ""), "fraction": None},
    )


def shrunk_payload(shrunk: Shrunk, curl: str) -> str:
    """Return the smallest request."""
    before, after = shrunk.size
    seen = (
        f"It failed in the same way in {shrunk.confirmed} of 3 confirming runs"
        if shrunk.confirmed
        else ("It failed in the same way in none of 3 confirming runs: do not rely on it")
    )
    return _shrunk(
        "done", f"{shrunk.finding}: {before:,} characters became {after:,}. {seen}.", shrunk.request, None, curl
    )


def _shrunk(state: str, sentence: str, body: JSONObject, progress: JSON, curl: str = "") -> str:
    header: JSONObject = {"state": state, "sentence": sentence, "source": "", "progress": progress, "curl": curl}
    return pack_payload(header, body_text(body).encode("utf-8", "replace"))


def upstream_payload(engine: str, source: str, trial: Trial | None, why_not: str) -> str:
    """Return a test for maintainers, and how it ended here."""
    header: JSONObject = {
        "state": "done",
        "sentence": _upstream_sentence(engine, trial, why_not),
        "source": "",
        "name": f"test_output.{PARSER_TESTS[engine].suffix}",
        "shown": None if trial is None or trial.fails is None else trial.fails,
    }
    return pack_payload(header, source.encode("utf-8", "replace"))


def diff_payload(found: UpstreamDiff) -> str:
    """Return a diff for maintainers with its proofs, or why there is none."""
    header: JSONObject = {
        "state": "done",
        "sentence": sentence_of_diff(found),
        "source": "",
        "name": f"{Path(found.file).stem}.diff" if found.diff else "",
        "shown": None,
    }
    return pack_payload(header, found.diff.encode("utf-8", "replace"))


def _upstream_sentence(engine: str, trial: Trial | None, why_not: str) -> str:
    name = title_of(engine)
    if trial is None:
        return f"Not run: {why_not}."
    if trial.fails is None:
        return f"Not run: {trial.explanation}"
    if trial.fails:
        return f"Run in {name} {trial.version}: it fails, as the report says. {trial.explanation}"
    return f"Run in {name} {trial.version}: it passes there, so that release needs no report."


def waiting_payload(sentence: str) -> str:
    """Return the payload that only says that something is running."""
    return pack_payload(
        {"state": "running", "sentence": sentence, "source": "", "progress": {"text": "", "fraction": None}}
    )


def order_of(text: str) -> JSONObject:
    """Return what a view asks for; anything else is an empty order."""
    return as_object(decode_json(text))


def keys_of(order: JSONObject) -> Sequence[str]:
    """Return the variants that an order chooses."""
    chosen = order.get("chosen")
    return [one for one in chosen if isinstance(one, str)] if isinstance(chosen, list) else []
