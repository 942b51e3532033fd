"""`run --experiments`: what a changed request, or another parser, makes of the same conversation."""

from __future__ import annotations

import argparse

from prompt_debugger.core.lab import LabPool
from prompt_debugger.core.mend.experiments import Experiment, run_experiments, tried_cures
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.text import printable
from prompt_debugger.core.types import JSONObject, Trace
from prompt_debugger.ui.cli.output import log


def add_experiment_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--experiments", action="store_true", help="change what each finding blames, run again, and say what it cures"
    )
    parser.add_argument("--samples", type=int, default=1, metavar="N", help="runs of each variant (default: 1)")
    parser.add_argument("--budget", type=int, metavar="N", help="runs at most, over all variants")


async def experiment(trace: Trace, target: Target, labs: LabPool, options: argparse.Namespace) -> list[Experiment]:
    """Run the experiments on a run that has been made."""
    steps = run_experiments(trace, target, labs, samples=options.samples, budget=options.budget, tell=log)
    return [one async for one in steps]


def add_to_document(document: JSONObject, trace: Trace, experiments: list[Experiment]) -> None:
    """Put the experiments into a run document, and the cures into its findings."""
    cures = tried_cures(trace, experiments)
    document["experiments"] = [one.to_json() for one in experiments]
    findings = document.get("findings")
    for finding in findings if isinstance(findings, list) else []:
        if isinstance(finding, dict):
            cure = cures.get(str(finding.get("code")))
            finding["cure"] = None if cure is None else cure.to_json()


def experiments_to_terminal(trace: Trace, experiments: list[Experiment]) -> str:
    """Return the table of the experiments, and what became of each cure."""
    lines = ["", "experiments (calls over all runs of a variant; 95 % interval of returned per written):"]
    lines.append(f"  {'variant':44} {'runs':>4} {'written':>7} {'returned':>8} {'dropped':>7} {'valid':>5}  interval")
    for one in experiments:
        row = one.to_json()
        low, high = one.interval
        shown = "not run here" if not row["n"] else f"{low:.2f}–{high:.2f}"
        lines.append(
            f"  {one.plan.name[:44]:44} {row['n']:>4} {row['written']:>7} {row['returned']:>8} {row['dropped']:>7} "
            f"{row['valid']:>5}  {shown}"
        )
        lines += [f"    {one.problem}"] if one.problem else []
    for code, cure in tried_cures(trace, experiments).items():
        told = {True: "tried: the finding is gone", False: "tried: it did not help", None: "not tried"}[cure.worked]
        lines.append(f"  {code}: {cure.name} ({told})" + (f": {cure.command}" if cure.command else ""))
    return "\n".join(printable(line, on_one_line=True) for line in lines) + "\n"
