"""Read a raw completion offline: what is in it, and what a parser made of it."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import Finding, JSONObject, Parse, SplitTrial, VllmOutcome
from prompt_debugger.core.complete import ENGINES, title_of
from prompt_debugger.core.evidence import Form, read_evidence
from prompt_debugger.core.parse.engines import engine_of_parser, fetch
from prompt_debugger.core.pipeline import CaseParser, Target, account_of, judge_constrained
from prompt_debugger.core.report import parse_to_json, parse_to_line, parse_to_terminal
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.experiments import (
    ReleaseRow,
    ReleaseTable,
    releases_to_json,
    splits_to_json,
    versions_by_engine,
)
from prompt_debugger.core.tools.experiments.release_sentence import releases_sentence
from prompt_debugger.core.tools.grammar import GrammarEngine
from prompt_debugger.ui.cli.case_lines import Answer, Answered, NeedsMoreError, answered
from prompt_debugger.ui.cli.cases import run_bulk
from prompt_debugger.ui.cli.output import (
    OK,
    add_output_arguments,
    exit_status,
    print_result,
    read_input,
    read_json_file,
)
from prompt_debugger.ui.cli.progress import log, say
from prompt_debugger.ui.cli.sharing import write_files
from prompt_debugger.ui.cli.spread.cases import run_on_ray
from prompt_debugger.ui.cli.target_options import add_key_variable, api_key_for

# Fields of a case for which helpers are started or files are read.
_NEEDS_MORE = frozenset({"parsers", "tokenizer"})
# What a server made of an output.
_ANSWERS = frozenset({Form.ANSWER, Form.STREAM, Form.EXCHANGE, Form.HAR, Form.RUN})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("raw", nargs="?", metavar="RAW", help="file with the raw output, or - for standard input")
    parser.add_argument("--cases", metavar="FILE.jsonl", help="one case per line in, one document per line out")
    parser.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="processes for --cases (default: one per processor, once there are more than a few hundred lines)",
    )
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="a Ray cluster for --cases: JSONL, Parquet, or a URL of either"
    )
    parser.add_argument("--format", default="auto", help="format to read with (default: the best score)")
    parser.add_argument("--tools", metavar="FILE", help="JSON file with the request's tools")
    parser.add_argument("--request", metavar="FILE", help="file with the request: its tools, tool_choice, max_tokens …")
    parser.add_argument("--message", metavar="FILE", help="JSON file with the assistant message that a server returned")
    parser.add_argument("--prompt-tail", default="", help="end of the prompt; shows whether reasoning was already open")
    parser.add_argument("--finish-reason", help="finish reason that the server reported, such as stop or length")
    own = (engine.own_parsers for engine in ENGINES.values())
    named = [spelling for parsers in own if parsers is not None for spelling in parsers.spellings[:1]]
    parser.add_argument(
        "--parser",
        action="append",
        default=[],
        metavar="NAME",
        help=(
            "what would this parser return? repeatable: vllm:TOOL, vllm@RELEASE:TOOL, vllm:* for all, the same with "
            "sglang:, mlx-lm: and lmdeploy: (see --fetch), and with --endpoint "
        )
        + " or ".join(named),
    )
    parser.add_argument(
        "--parsers",
        choices=["all"],
        help="test every tool parser of every available engine: which engine reads this output?",
    )
    parser.add_argument(
        "--fetch",
        action="append",
        default=[],
        metavar="ENGINE==VERSION",
        help="first download an engine's parsers: sglang==0.5.23, mlx-lm==0.32.2, lmdeploy==0.18.0, vllm==0.11.0; "
        "nothing is installed",
    )
    parser.add_argument(
        "--splits",
        action="store_true",
        help="stream through each --parser in every chunking; show the smallest that fails",
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the random chunkings")
    parser.add_argument(
        "--releases",
        metavar="V,V,…",
        help=(
            "test each --parser in these releases of its engine, such as vllm==0.11.0,sglang==0.5.23: which release "
            "first reads a call, and which loses it? an engine without a --parser is asked with the one that the "
            "output's family would use; a version without an engine belongs to the engine of the first --parser, "
            "else to vLLM"
        ),
    )
    parser.add_argument("--endpoint", metavar="URL", help="server whose own parsers are tested")
    add_key_variable(parser)
    parser.add_argument("--tokenizer", metavar="DIR_OR_HUB_ID", help="tokenizer for token spans and for the parsers")
    parser.add_argument(
        "--constrained", metavar="LEVEL", help="the first token that constrained decoding would not have allowed"
    )
    add_output_arguments(parser)
    parser.set_defaults(run=_run, doing="Reading the output")


def _run(options: argparse.Namespace) -> int:
    for requirement in options.fetch:
        folder, digest = fetch(requirement, log)
        log(f"{requirement}: {folder}" + (f" (sha256 {digest})" if digest else ""))
    if options.fetch and options.raw is None and not options.cases:
        return OK
    defaults = _defaults(options)
    if options.ray and (not options.cases or options.cases == "-" or options.endpoint):
        raise RequestError("--ray distributes the lines of a --cases file, and asks no server.", field="--ray")
    if options.cases:
        return _run_cases(options, defaults)
    with CaseParser(_target(options), thorough=options.splits, seed=options.seed) as parser:
        pasted = read_input(options.raw or "-")
        case = {**defaults, **_case_from_input(pasted)}
        say("Asking the parsers" if case.get("parsers") else "Reading the output")
        parse, findings, notes = parser.parse(case)
        tables = _ask_releases(parser, case, options)
    if not parse.parsed.calls and (other := _other_form(pasted)) is not None:
        notes = (*notes, other)
    document = parse_to_json(parse, case_id=case.get("id"), findings=findings, notes=notes)
    text = parse_to_terminal(parse, findings, notes, title_of)
    if options.splits:
        streamed = {name: one for name, one in parse.parsers.items() if isinstance(one, VllmOutcome)}
        document["splits"] = {name: splits_to_json(outcome) for name, outcome in streamed.items()}
        text += splits_to_terminal(streamed)
    text += _add_releases(document, parse, tables, _engines_of_releases(options))
    if options.constrained:
        with GrammarEngine() as engine:
            document["constrained"] = verdict = judge_constrained(case, parse, options.constrained, engine)
        text += f"\nconstrained decoding ({options.constrained}): {verdict['sentence']}\n"
    if options.report:
        write_files(options.report, {"parse.json": document, "parse.txt": text})
    print_result(options, document, text)
    return exit_status(findings)


def _run_cases(options: argparse.Namespace, defaults: JSONObject) -> int:
    """Answer a case file; in locked processes, unless every line asks for helpers."""
    open_answer = partial(open_parser, defaults, options.constrained, _target(options))
    asks_more = options.constrained or options.endpoint or _NEEDS_MORE & defaults.keys()
    open_locked = None if asks_more else partial(open_reader, defaults)
    if options.ray:
        return run_on_ray(options.cases, open_answer, options.ray, open_locked=open_locked)
    return run_bulk(options.cases, open_answer, jobs=options.jobs, open_locked=open_locked)


@contextmanager
def open_reader(defaults: JSONObject) -> Iterator[Answer]:
    """Give what reads a case without any helper; `NeedsMoreError` is raised for a case that needs one."""
    with CaseParser(is_locked=True) as parser:

        def answer(case: JSONObject) -> Answered:
            if any(case.get(field) for field in _NEEDS_MORE):
                raise NeedsMoreError
            return _answer(case, *parser.parse({**defaults, **case}))

        yield answer


@contextmanager
def open_parser(defaults: JSONObject, level: str | None = None, target: Target | None = None) -> Iterator[Answer]:
    """Give what turns a case into a parse document; its helpers stay warm until the block ends."""
    with CaseParser(target) as parser, GrammarEngine() as engine:

        def answer(case: JSONObject) -> Answered:
            whole = {**defaults, **case}
            parse, findings, notes = parser.parse(whole)
            if level is None:
                return _answer(case, parse, findings, notes)
            document = {**parse_to_json(parse, findings=findings, notes=notes), "id": case.get("id")}
            document["constrained"] = judge_constrained(whole, parse, level, engine)
            return answered(document)

        yield answer


def _answer(case: JSONObject, parse: Parse, findings: tuple[Finding, ...], notes: tuple[str, ...]) -> Answered:
    line = parse_to_line(parse, case_id=case.get("id"), findings=findings, notes=notes)
    return Answered(line + "\n", exit_status(findings) != OK)


def _add_releases(document: JSONObject, parse: Parse, tables: list[ReleaseTable], engines: Sequence[str]) -> str:
    """Put the tables in a document, the first as ever under `releases`; return them as text."""
    if not tables:
        return ""
    sentence = releases_sentence(parse, tables, account_of, engines)
    document["releases"] = releases_to_json(tables[0])
    document["releases_sentence"] = sentence or None
    if len(tables) > 1:
        document["releases_of"] = {table.parser: releases_to_json(table) for table in tables}
    return (f"\n{sentence}\n" if sentence else "") + "".join(releases_to_terminal(table, parse) for table in tables)


def _ask_releases(parser: CaseParser, case: JSONObject, options: argparse.Namespace) -> list[ReleaseTable]:
    return parser.ask_releases(case, options.parser, _releases(options)) if options.releases else []


def _releases(options: argparse.Namespace) -> list[str]:
    return (options.releases or "").replace(",", " ").split()


def _engines_of_releases(options: argparse.Namespace) -> list[str]:
    return [*versions_by_engine(_releases(options), engine_of_parser((options.parser or ["vllm:-"])[0]))]


def _target(options: argparse.Namespace) -> Target | None:
    if not options.endpoint:
        return None
    return Target(base_url=options.endpoint, api_key=api_key_for(options.endpoint, options.api_key_env))


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _case_from_input(text: str) -> JSONObject:
    """Take a case object as it is, and anything else as raw output.

    Raises:
        RequestError: It is an answer, a stream or an exchange: what the server made of the output.
    """
    if not text.lstrip().startswith(("{", "[", "data:")):
        return {"raw": text}
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict) and isinstance(value.get("raw"), str):
            return value
    try:
        evidence = read_evidence(text)
    except RequestError:
        return {"raw": text}
    if evidence.form in _ANSWERS and evidence.raw is None:
        raise RequestError(
            f"This is {evidence.words}, not a raw output.",
            '`inspect` reads it; `parse` reads the text that the model wrote, or `{"raw": "…", "message": {…}}`.',
        )
    return {"raw": evidence.raw if evidence.form in _ANSWERS else text}


def _other_form(text: str) -> str | None:
    """Return a sentence on a text without a call that may be no output: what `inspect` takes it for."""
    try:
        evidence = read_evidence(text)
    except RequestError:
        return None
    if evidence.raw is not None or evidence.form is Form.OUTPUT:
        return None
    return f"`inspect` reads this text as {evidence.words}; `parse` takes any text for what a model wrote."


def _defaults(options: argparse.Namespace) -> JSONObject:
    defaults: JSONObject = {"format": options.format, "prompt_tail": options.prompt_tail}
    if options.finish_reason:
        defaults["finish_reason"] = options.finish_reason
    if options.tools:
        defaults["tools"] = read_json_file(options.tools, "--tools")
    if options.request:
        defaults["request"] = read_request(read_input(options.request)).body
    if options.message:
        defaults["message"] = read_json_file(options.message, "--message")
    if options.parser or options.parsers:
        defaults["parsers"] = [*options.parser, *([options.parsers] if options.parsers else [])]
    if options.tokenizer:
        defaults["tokenizer"] = options.tokenizer
    return defaults


_SHOWN_DELTAS = 12
_SHOWN_CHARS = 60  # of a call's arguments


def splits_to_terminal(outcomes: Mapping[str, VllmOutcome]) -> str:
    """Return which chunkings stream to another message, and the smallest of them with the place where they diverge."""
    lines = ["", "streamed in every chunking:"]
    for name, outcome in outcomes.items():
        failing = [trial for trial in outcome.trials if trial.difference is not None]
        if outcome.error is not None:
            lines.append(f"  {name}: failed: {outcome.error}")
        elif not failing:
            lines.append(f"  {name}: the same message in all {len(outcome.trials)}")
        else:
            lines.append(f"  {name}: a different message in {len(failing)} of {len(outcome.trials)}: {_names(failing)}")
            lines.append(f"    smallest: {outcome.first_unequal}")
            lines += _deltas(outcome)
    return "\n".join(lines) + "\n"


_CONTROL = {True: "; it reads a healthy call", False: "; nor a healthy one, so this shows nothing", None: ""}


def releases_to_terminal(table: ReleaseTable, parse: Parse) -> str:
    """Return what each release makes of the output, and where calls appear and vanish."""
    lines = ["", f"{table.parser} by release:"]
    for row in table.rows:
        calls = [] if row.outcome is None else row.outcome.tool_calls
        found = f"calls {', '.join(map(_call, calls))}{_unlike(row, parse)}" if calls else "no call"
        lines.append(f"  {row.version:10} {row.error or found}{'' if calls or row.error else _CONTROL[row.control]}")
    for call in table.calls:
        name = _call({"function": {"name": call.name, "arguments": call.arguments}})
        lines += [f"  {name} disappears in {after}; {before} still returns it" for before, after in call.vanishes_in]
        if call.since is not None:
            lines.append(f"  {name} is returned since {call.since}, of the releases tested")
        lines += [f"  {name} appears in {after}; {before} does not return it" for before, after in call.appears_in]
    return "\n".join(lines) + "\n"


def _unlike(row: ReleaseRow, parse: Parse) -> str:
    """Return in what the calls of a release differ from those in the output; "" where they do not."""
    if row.outcome is None or row.outcome.error:
        return ""
    account = account_of(parse, row.outcome)
    counts = {"dropped": account.dropped, "altered": account.altered, "invented": account.invented}
    told = ", ".join(f"{count} {word}" for word, count in counts.items() if count)
    return f"; not as written: {told}" if told else ""


def _names(trials: Sequence[SplitTrial]) -> str:
    names = [trial.name for trial in trials]
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")


def _deltas(outcome: VllmOutcome) -> list[str]:
    parts_at = outcome.parts_at
    if parts_at is None:
        return []
    first = max(0, parts_at - _SHOWN_DELTAS // 2)
    shown = list(enumerate(outcome.smallest_split))[first : first + _SHOWN_DELTAS]
    return [f"    {'->' if index == parts_at else '  '} {index + 1:4} {text!r}" for index, text in shown]


def _call(call: JSONObject) -> str:
    """Return a call as its name and arguments, cut."""
    function = as_object(call.get("function"))
    arguments = str(function.get("arguments"))
    return f"{function.get('name')} {arguments if len(arguments) <= _SHOWN_CHARS else arguments[:_SHOWN_CHARS] + '…'}"
