"""What `render` can try besides: switches, a token count to explain, turns, and what the template supports."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from prompt_debugger.core.base.types import SCHEMA_VERSION, JSONObject
from prompt_debugger.core.render.probes import ProbeAnswer, probe_template
from prompt_debugger.core.report.wire.form import dump_document
from prompt_debugger.core.tools.experiments import (
    CountAnswer,
    RenderSetup,
    TurnReport,
    WhatIf,
    explain_count,
    follow_turns,
    probes_to_json,
    try_switches,
)
from prompt_debugger.ui.cli.output import print_text


def add_experiment_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--what-if", action="store_true", help="try every switch on this request: what does each change?"
    )
    parser.add_argument(
        "--prompt-tokens", type=int, metavar="N", help="a server counted N prompt tokens: which render explains it?"
    )
    parser.add_argument(
        "--turns",
        action="store_true",
        help="where does a prompt stop being a continuation of the previous one, and why?",
    )
    parser.add_argument(
        "--probe",
        action="store_true",
        help="what does the template support? needs no REQUEST: it renders our own test requests",
    )


def has_experiments(options: argparse.Namespace) -> bool:
    """Return whether the options ask for more than a render."""
    return bool(options.what_if or options.turns or options.probe or options.prompt_tokens is not None)


def run_probe(options: argparse.Namespace, setup: RenderSetup) -> JSONObject:
    """Ask the template what it supports; print it unless `--json`, and return the document."""
    alone = argparse.Namespace(**{**vars(options), "what_if": False, "turns": False, "prompt_tokens": None})
    return {"schema_version": SCHEMA_VERSION, "id": None, **run_experiments(alone, {}, setup)}


def run_experiments(options: argparse.Namespace, body: JSONObject, setup: RenderSetup) -> JSONObject:
    """Run what the options ask for; print it unless `--json`, and return it for the document."""
    found: JSONObject = {}
    lines: list[str] = []
    if options.what_if:
        what_if = try_switches(body, setup)
        found["what_if"] = dump_document(what_if)
        lines += _what_if_lines(what_if)
    if options.prompt_tokens is not None:
        answer = explain_count(body, setup, options.prompt_tokens)
        found["prompt_tokens"] = dump_document(answer)
        lines += _answer_lines(answer)
    if options.turns:
        report = follow_turns(body, setup)
        found["turns"] = dump_document(report)
        lines += _turn_lines(report)
    if options.probe:
        answers = probe_template(
            setup.template, special_tokens=setup.named_tokens, template_kwargs=setup.template_kwargs
        )
        found["probe"] = probes_to_json(answers)
        lines += _probe_lines(answers)
    if lines and not options.json:
        print_text("\n".join(["", *lines]) + "\n")
    return found


def _what_if_lines(what_if: WhatIf) -> Iterator[str]:
    yield f"what if ({what_if.unit_count} {what_if.unit}s as pasted)"
    for effect in what_if.effects:
        yield f"  {effect.switch.name}: {effect.switch.change}"
        yield f"      {effect.sentence}"
    by_reason: dict[str, list[str]] = {}
    for absent in what_if.absent:
        by_reason.setdefault(absent.reason, []).append(absent.name)
    for reason, names in by_reason.items():
        yield f"  does not apply: {', '.join(names)} ({reason})"


def _probe_lines(answers: tuple[ProbeAnswer, ...]) -> Iterator[str]:
    yield f"what the template supports ({len(answers)} probes)"
    for one in answers:
        line = "" if one.template_line is None else f" (template line {one.template_line})"
        yield f"  {one.support:<9}  {one.title}: {one.detail}{line}"


def _answer_lines(answer: CountAnswer) -> Iterator[str]:
    yield answer.sentence
    for explanation in answer.explanations[:8]:
        yield f"  {explanation.token_count} ({explanation.off_by:+d}): {explanation.words}"


def _turn_lines(report: TurnReport) -> Iterator[str]:
    if not report.turns:
        yield "No assistant turn in this request, so no earlier prompt to compare with."
    for turn in report.turns:
        place = f"after messages[{turn.message_index}]"
        if turn.failure is not None:
            yield f"{place}: no prompt to compare. {turn.failure.message}"
        elif turn.broken is None:
            yield f"{place}: the next prompt continues where the model ended ({turn.kept} {report.unit}s kept)"
        else:
            broken = turn.broken
            yield f"{place}: breaks at {report.unit} {broken.first}, {broken.lost} lost. {broken.sentence}"
