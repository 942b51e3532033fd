"""`run --experiments`: the same conversation with a changed request, or with another parser."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import JSONObject, Request, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.fixes.margin import ask_logprobs, trigger_margin
from prompt_debugger.core.tools.fixes.offered import OfferedFix
from prompt_debugger.core.tools.fixes.plans import Plan, pick_plans
from prompt_debugger.core.tools.fixes.try_fixes import Experiment, run_experiments, tried_fixes
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.output import read_input
from prompt_debugger.ui.cli.progress import log


def add_experiment_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--experiments",
        action="store_true",
        help="change what each finding blames, run again, and report what fixes it",
    )
    parser.add_argument(
        "--try",
        dest="picks",
        action="append",
        default=[],
        metavar="NAME",
        help="with --experiments: one more variant, such as thinking=true, tool-parser=NAME, plugin, "
        "chat-template=FILE, stop=TEXT, stop-token-ids=ID,ID, or another switch of `render --what-if`; "
        "repeatable",
    )
    parser.add_argument(
        "--margin",
        action="store_true",
        help="request log probabilities, and show how likely a call was where one could have begun",
    )
    parser.add_argument("--samples", type=int, default=1, metavar="N", help="runs of each variant (default: 1)")
    parser.add_argument("--budget", type=int, metavar="N", help="maximum number of runs over all variants")


async def experiment(trace: Trace, target: Target, labs: LabPool, options: argparse.Namespace) -> list[Experiment]:
    """Run the experiments on a finished run."""
    picked = await in_thread(_picked, trace, target, options.picks)
    steps = run_experiments(
        trace, target, labs, samples=options.samples, budget=options.budget, picked=picked, report=log
    )
    return [one async for one in steps]


def _picked(trace: Trace, target: Target, picks: list[str]) -> list[Plan]:
    """Return the variants that were picked; a template is read from its file."""
    plans: list[Plan] = []
    for pick in picks:
        kind, _, value = pick.partition("=")
        template = read_input(value) if kind == "chat-template" and value else ""
        plans += pick_plans(trace, target, [pick], template=template)
    return plans


def asking_for_margin(request: Request) -> Request:
    """Return a request that asks for log probabilities, as far as it does not already."""
    body = ask_logprobs(request.body)
    return replace(request, body=body, text=json.dumps(body, ensure_ascii=False, indent=2))


def margin_to_terminal(trace: Trace) -> str:
    """Return how close a call was; "" if that is not known."""
    margin = trigger_margin(trace)
    return "" if margin is None else f"\n{printable(margin.sentence, on_one_line=True)}\n"


def add_margin(document: JSONObject, trace: Trace) -> None:
    """Add the margin to a run document, if it is known."""
    margin = trigger_margin(trace)
    if margin is not None:
        document["trigger_margin"] = margin.to_json()


def add_to_document(document: JSONObject, trace: Trace, experiments: list[Experiment]) -> None:
    """Put the experiments into a run document, and the fixes into its findings."""
    fixes = tried_fixes(trace, experiments)
    document["experiments"] = [one.to_json(None if one is experiments[0] else experiments[0]) for one in experiments]
    findings = document.get("findings")
    for finding in findings if isinstance(findings, list) else []:
        if isinstance(finding, dict):
            fix = fixes.get(str(finding.get("code")))
            finding["cure"] = None if fix is None else fix.to_json()


def experiments_to_terminal(trace: Trace, experiments: list[Experiment]) -> str:
    """Return the table of the experiments, and the outcome of each fix."""
    lines = ["", "experiments (calls over all runs of a variant; 95 % interval of returned per written):"]
    heads = f"{'runs':>4} {'written':>7} {'returned':>8} {'change':>6} {'dropped':>7} {'valid':>5}  interval"
    lines.append(f"  {'variant':44} {heads}")
    for one in experiments:
        row = one.to_json()
        low, high = one.interval
        change = "" if one is experiments[0] or not one.traces else f"{one.change_from(experiments[0]).returned:+d}"
        shown = "not run here" if not row["n"] else f"{low:.2f}–{high:.2f}"
        lines.append(
            f"  {one.plan.name[:44]:44} {row['n']:>4} {row['written']:>7} {row['returned']:>8} {change:>6} "
            f"{row['dropped']:>7} {row['valid']:>5}  {shown}"
        )
        margin = row["trigger_margin"]
        lines += [f"    trigger margin {margin:+.3f}"] if isinstance(margin, float) else []
        lines += [f"    start the server with {one.plan.command}"] if not row["n"] and one.plan.command else []
        lines += [f"    {one.problem}"] if one.problem else []
    for code, fix in tried_fixes(trace, experiments).items():
        for one_fix in fix.each:
            lines += _fix_lines(code, one_fix)
    return "\n".join(printable(line, on_one_line=True) for line in lines) + "\n"


def _fix_lines(code: str, fix: OfferedFix) -> Iterator[str]:
    reported = {True: "tried: the finding is gone", False: "tried: it did not help", None: "not tried"}[fix.worked]
    yield f"  {code}: {fix.name} ({reported})" + (f": {fix.command}" if fix.command else "")
    yield from (f"    {line}" for line in (fix.diff or fix.client).splitlines())
    if fix.prompt_difference is not None:
        change = fix.prompt_difference
        yield f"    prompt: {change.removed} tokens removed, {change.added} added, from token {change.first} on"
