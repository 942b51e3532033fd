"""Run a request through render, complete and parse against a server or the lab, and diagnose it."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from prompt_debugger.core.api import run_async
from prompt_debugger.core.base.errors import DebuggerError, RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import Api, Finding, JSONObject, Request, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import VllmEngine
from prompt_debugger.core.pipeline import Example, Progress, Target, ask_parsers, find_example, load_examples
from prompt_debugger.core.report import trace_to_json, trace_to_terminal
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.request import read_request
from prompt_debugger.core.sandbox import in_thread
from prompt_debugger.core.tools.apis import ApiRuns, run_by_all
from prompt_debugger.core.tools.conversation import Conversation, conversation_to_json, converse, read_stub
from prompt_debugger.core.tools.experiments import RunComparison, compare_runs, runs_to_json
from prompt_debugger.core.tools.experiments.api_difference import ApiDifference
from prompt_debugger.core.tools.experiments.documents import apis_to_json
from prompt_debugger.core.tools.fixes.try_fixes import Experiment
from prompt_debugger.core.tools.grammar import GrammarEngine, InForce, judge_in_force
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.core.tools.offline import run_offline
from prompt_debugger.ui.cli.fixes import (
    add_experiment_arguments,
    add_margin,
    add_to_document,
    asking_for_margin,
    experiment,
    experiments_to_terminal,
    margin_to_terminal,
)
from prompt_debugger.ui.cli.lab import spec_from_options
from prompt_debugger.ui.cli.output import (
    OK,
    add_output_arguments,
    exit_status,
    print_json,
    print_text,
    read_input,
    read_request_file,
)
from prompt_debugger.ui.cli.progress import log, say
from prompt_debugger.ui.cli.run_cases import run_cases
from prompt_debugger.ui.cli.sharing import comparison_to_terminal, read_bundle_file, read_run_to_compare, write_trace
from prompt_debugger.ui.cli.target_options import add_run_time, add_target_arguments, target_from_options


class _Further(NamedTuple):
    """What was run besides a request; `None` for what no one asked for."""

    experiments: list[Experiment] | None = None
    conversation: Conversation | None = None
    grammar: InForce | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("request", nargs="?", metavar="REQUEST", help="file with the request, or - for standard input")
    parser.add_argument("--example", metavar="NAME", help="run one example of assets/examples")
    parser.add_argument(
        "--bundle",
        metavar="FILE",
        help="run nothing: show the run in a bundle, such as trace.json of --report",
    )
    parser.add_argument(
        "--compare-with",
        metavar="FILE",
        help="report what differs from the run in a bundle, or from a captured exchange",
    )
    parser.add_argument(
        "--title", metavar="TEXT", help="a name for the run, shown in its --report and wherever it opens"
    )
    parser.add_argument("--cases", metavar="FILE.jsonl", help="one request per line in, one run document per line out")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="with --cases: runs at a time (default: 1)")
    parser.add_argument("--examples", action="store_true", help="run all examples, one JSON line each")
    parser.add_argument(
        "--parsers", action="store_true", help="also test every tool parser of the installed vLLM on the output"
    )
    parser.add_argument(
        "--offline",
        choices=("chat", "generate"),
        help="no server: use `LLM.chat` or `LLM.generate` of the installed vLLM, with the model of --lab-model",
    )
    parser.add_argument(
        "--api",
        choices=(*Api, "all"),
        help="ask by this API, or by all three and compare them (default: the one that the request is of)",
    )
    add_experiment_arguments(parser)
    add_tool_loop_arguments(parser)
    add_target_arguments(parser)
    parser.add_argument(
        "--ask",
        choices=("more", "once"),
        default="more",
        help=(
            "once: send only the request itself, without a stream to compare with and without a raw completion "
            "(default: more)"
        ),
    )
    add_run_time(parser)
    add_output_arguments(parser)
    parser.set_defaults(run=_run, doing="Running the request")


def _run(options: argparse.Namespace) -> int:
    other = read_run_to_compare(options.compare_with) if options.compare_with else None
    labs = LabPool()
    further = _Further()
    engine = GrammarEngine()
    try:
        if options.examples:
            return asyncio.run(_run_examples(options, labs))
        if options.cases:
            return asyncio.run(_run_cases(options, labs, engine))
        if options.api == "all":
            return asyncio.run(_run_all_apis(options, labs, engine))
        if options.bundle:
            trace = _open_bundle(options)
        else:
            trace, further = asyncio.run(_run_request(options, labs))
        if options.parsers:
            trace = _add_parsers(trace, options)
        further = further._replace(grammar=judge_in_force(trace, engine))
    finally:
        labs.stop_all()
        engine.close()
    comparison = None if other is None else compare_runs(other.trace, trace)
    if options.title:
        trace = replace(trace, title=" ".join(options.title.split()))
    if options.report:
        write_trace(options.report, trace)
        if further.conversation is not None:
            write_turns(options.report, further.conversation)
    if options.json:
        document = _document(trace, comparison, further)
        print_json({"id": options.example, **document} if options.example else document)
    else:
        more = "" if comparison is None or other is None else comparison_to_terminal(comparison, other.name)
        print_text(trace_to_terminal(trace, title_of) + more + _footer(trace, further))
    return exit_status(findings_of(trace, further.conversation))


def _document(trace: Trace, comparison: RunComparison | None, further: _Further) -> JSONObject:
    document = trace_to_json(trace)
    add_margin(document, trace)
    add_grammar(document, further.grammar)
    if comparison is not None:
        document["comparison"] = runs_to_json(comparison)
    if further.experiments is not None:
        add_to_document(document, trace, further.experiments)
    if further.conversation is not None:
        add_conversation(document, further.conversation)
    return document


def _footer(trace: Trace, further: _Further) -> str:
    more = margin_to_terminal(trace) + grammar_to_terminal(further.grammar)
    more += "" if further.experiments is None else experiments_to_terminal(trace, further.experiments)
    return more + ("" if further.conversation is None else conversation_to_terminal(further.conversation))


def _open_bundle(options: argparse.Namespace) -> Trace:
    if options.request or options.example:
        raise RequestError(
            "`--bundle` runs nothing, so it cannot be combined with a request.",
            "Give only one of them; a bundle as REQUEST runs its request again.",
            field="--bundle",
        )
    return read_bundle_file(options.bundle).trace


def _add_parsers(trace: Trace, options: argparse.Namespace) -> Trace:
    engine = VllmEngine()
    tokenizer = options.tokenizer or (None if options.endpoint else spec_from_options(options).model_dir)
    try:
        log("Testing vLLM's parsers")
        return VllmEngine.wait(ask_parsers(trace, engine, tokenizer))
    finally:
        engine.close()


async def _run_request(options: argparse.Namespace, labs: LabPool) -> tuple[Trace, _Further]:
    """Run one request, and what is asked for besides: experiments on it, a conversation that continues from it."""
    target, request = _aimed(options)
    if options.offline:
        log(f"Running `LLM.{options.offline}` of the installed vLLM; loading it takes a while")
        return await run_offline(request, target.lab, options.offline), _Further()
    request = asking_for_margin(request) if options.margin else request
    trace = await run_async(request, target, labs=labs, on_progress=_say())
    tried = await experiment(trace, target, labs, options) if options.experiments or options.picks else None
    return trace, _Further(tried, await run_turns(trace, target, labs, options))


async def _run_all_apis(options: argparse.Namespace, labs: LabPool, engine: GrammarEngine) -> int:
    if options.experiments or options.picks or options.tool_answers or options.compare_with or options.offline:
        raise RequestError("`--api all` runs the request itself only.", "Name one API, or leave the others out.")
    target, request = _aimed(options)
    return await ask_all(request, target, labs, _say(), engine, as_json=options.json, report=options.report)


def _aimed(options: argparse.Namespace) -> tuple[Target, Request]:
    """Return what is to be run, and where."""
    if options.example:
        example = find_example(options.example)
        return _target_of_example(example, options), read_request(example.request_text)
    request = read_request_file(options.request or "-")
    return target_from_options(options, request.base_url), request


def _target_of_example(example: Example, options: argparse.Namespace) -> Target:
    target = target_from_options(options)
    return replace(target, lab=example.lab) if target.base_url is None else target


async def _run_example(example: Example, options: argparse.Namespace, labs: LabPool) -> Trace:
    target = _target_of_example(example, options)
    return await run_async(example.request_text, target, labs=labs, on_progress=_say())


async def _run_cases(options: argparse.Namespace, labs: LabPool, engine: GrammarEngine) -> int:
    target = target_from_options(options)

    async def document_of(trace: Trace) -> JSONObject:
        document = trace_to_json(trace)
        add_grammar(document, await in_thread(judge_in_force, trace, engine))
        return document

    async def run_one(request: Request) -> Trace:
        request = asking_for_margin(request) if options.margin else request
        return await run_async(request, target, labs=labs, on_progress=_say())

    return await run_cases(options.cases, run_one, document_of, jobs=options.jobs)


async def _run_examples(options: argparse.Namespace, labs: LabPool) -> int:
    """Run all worked cases; those that share a lab share its boot."""
    status = OK
    for example in sorted(load_examples(), key=lambda example: str(example.lab)):
        log(f"{example.name}: {example.title}")
        document: JSONObject
        try:
            trace = await _run_example(example, options, labs)
            document = {"id": example.name, **trace_to_json(trace)}
            status = max(status, exit_status(trace.findings))
            if options.report:
                write_trace(options.report, trace, example.name)
        except DebuggerError as error:
            document = {"id": example.name, "error": error.to_json()}
            status = 2
        print_json(document)
    return status


def _say() -> Callable[[Progress], None]:
    """Return a listener that logs each new sentence once."""
    last = ""

    def listen(progress: Progress) -> None:
        nonlocal last
        if progress.sentence != last:
            last = progress.sentence
            log(progress.sentence)
            say(progress.sentence)

    return listen


async def ask_all(
    request: Request,
    target: Target,
    labs: LabPool,
    say: Callable[[Progress], None],
    engine: GrammarEngine,
    *,
    as_json: bool,
    report: str | None,
) -> int:
    """Run a request by all APIs, print what came, and return the exit status."""
    done = await run_by_all(request, target, labs, say)
    traces = {api: trace for api, trace in done.runs.items() if trace is not None}
    for api, trace in traces.items() if report else ():
        write_trace(str(report), trace, api.value)
    grammars = {api: await in_thread(judge_in_force, trace, engine) for api, trace in traces.items()}
    if as_json:
        runs = {api: None if trace is None else trace_to_json(trace) for api, trace in done.runs.items()}
        for api, found in grammars.items():
            add_grammar(as_object(runs[api]), found)
        print_json(apis_to_json(runs, done.differences))
    else:
        print_text("\n".join(_lines(done, grammars)) + "\n")
    return exit_status(tuple(finding for trace in traces.values() for finding in trace.findings))


def _lines(done: ApiRuns, grammars: Mapping[Api, InForce | None]) -> Iterator[str]:
    for api, trace in done.runs.items():
        yield f"== {api}"
        if trace is not None:
            yield trace_to_terminal(trace, title_of) + grammar_to_terminal(grammars[api])
        elif api in done.problems:
            yield printable(f"No run: {done.problems[api].message}\n", on_one_line=True)
    yield "== differences"
    yield from map(_line, done.differences)
    if not done.differences:
        yield "None: prompts, outputs, answers and streams agree as far as they are known."


def _line(one: ApiDifference) -> str:
    first, second = one.between
    cause = one.cause or "not explained"
    return printable(f"{first} / {second} · {one.where}: {one.detail} Cause: {cause}", on_one_line=True)


def add_tool_loop_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--tool-answers",
        metavar="FILE",
        help='answer tool calls and continue: a JSON object with one answer per tool, "*" for any other',
    )
    parser.add_argument(
        "--turns", type=int, default=8, metavar="N", help="with --tool-answers: maximum number of runs (default: 8)"
    )


async def run_turns(trace: Trace, target: Target, labs: LabPool, options: argparse.Namespace) -> Conversation | None:
    """Return the conversation that continues from a run; `None` where no one asked for one."""
    if not options.tool_answers:
        return None
    stub = read_stub(read_input(options.tool_answers))
    conversation = None
    async for conversation in converse(trace, target, labs, stub, most_turns=options.turns):
        log(f"turn {len(conversation.turns)}" + (f": {conversation.ended}" if conversation.ended else ""))
    return conversation


def add_conversation(document: JSONObject, conversation: Conversation) -> None:
    """Put the conversation into a run document."""
    document["conversation"] = conversation_to_json(conversation)


def findings_of(trace: Trace, conversation: Conversation | None) -> tuple[Finding, ...]:
    """Return the findings of all turns."""
    turns = () if conversation is None else conversation.turns[1:]
    return (*trace.findings, *(finding for turn in turns for finding in turn.trace.findings))


def write_turns(folder: str, conversation: Conversation) -> None:
    """Write the runs after the first one into its folder, as `turn-2.json` and so on."""
    for number, turn in enumerate(conversation.turns[1:], 2):
        write_trace(folder, turn.trace, f"turn-{number}")


def conversation_to_terminal(conversation: Conversation) -> str:
    """Return the account of every turn."""
    lines = ["", f"conversation ({len(conversation.turns)} turns; it ended because {conversation.ended}):"]
    for number, turn in enumerate(conversation.turns, 1):
        lines += [f"      {answer.name} answered {answer.content!r}" for answer in turn.answers]
        lines += [f"      {turn.seam.sentence}"] if turn.seam is not None else []
        verdict = "" if turn.trace.verdict is None else turn.trace.verdict.sentence
        lines.append(f"  {number:>2}  {turn.written} calls written, {turn.returned} returned. {verdict}")
    lines.append(f"  {conversation.lost} computed tokens could not be reused")
    return "\n".join(printable(line, on_one_line=True) for line in lines) + "\n"


def add_grammar(document: JSONObject, found: InForce | None) -> None:
    """Put it into a run document, where the request asks for a grammar."""
    if found is not None:
        document["grammar"] = dump_document(found)


def grammar_to_terminal(found: InForce | None) -> str:
    """Return it in words; "" where the request asks for no grammar."""
    if found is None:
        return ""
    lines = (found.sentence, *((f"Fix: {found.fix}",) if found.fix else ()))
    return "".join(f"\n{printable(line, on_one_line=True)}" for line in lines) + "\n"
