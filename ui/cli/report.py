"""Make of a saved run what others can use: a test or a diff for maintainers, a row, a span, SARIF, a curl command."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.fixes.exports import EXPORTS, Written, export_run
from prompt_debugger.core.tools.fixes.trial import Runner, Trial, UpstreamTest, runner_of, try_source, why_not_run
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, case_of_trace, drop_note
from prompt_debugger.core.tools.fixes.upstream_diff import DIFFED, DIFFS, UpstreamDiff, parser_diff, sentence_of_diff
from prompt_debugger.core.tools.fixes.upstream_template import template_diff
from prompt_debugger.ui.cli.output import OK, print_json, print_text
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.sharing import read_bundle_file
from prompt_debugger.ui.report import SharedRun, share_trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("bundle", metavar="BUNDLE", help="trace.json of `run --report DIR`, or - for standard input")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--upstream-test", choices=tuple(PARSER_TESTS), help="engine whose parser is tested")
    what.add_argument(
        "--upstream-diff",
        choices=DIFFS,
        help="what the proved diff should change: the run's template, an engine's parser",
    )
    what.add_argument("--as", dest="form", choices=tuple(EXPORTS), help="another program's form (docs/ci.md)")
    parser.add_argument("--parser", metavar="NAME", help="the parser (default: the one that the run names)")
    run_here = " or ".join(title_of(kind) for kind, test in PARSER_TESTS.items() if test.package)
    parser.add_argument(
        "--python", metavar="FILE", help=f"interpreter whose {run_here} runs the test (default: the one that has it)"
    )
    parser.add_argument("--own-tests", metavar="FILE", help="the maintainers' tests, which must still pass with a diff")
    parser.add_argument("--source", metavar="FOLDER", help="unpacked release in which the diff of a template applies")
    parser.add_argument("--test", metavar="FILE", help="file for the test that a diff turns green")
    parser.add_argument("--output", metavar="FILE", help="file to write (default: standard output)")
    parser.add_argument("--json", action="store_true", help="print one JSON document with the test and how it ended")
    parser.set_defaults(run=_run, doing="Writing the report")


def _run(options: argparse.Namespace) -> int:
    run = share_trace(read_bundle_file(options.bundle).trace)
    if options.form:
        return _export(run, options)
    if options.upstream_diff:
        return _diff(run, options)
    source = run.upstream_test(options.upstream_test, options.parser)
    trial = _try(source, options)
    if trial is not None and trial.fails is not None:
        source = drop_note(source, options.upstream_test)
    log(_sentence(trial, options.upstream_test))
    if options.output:
        write_named(options.output, (source,), field="--output")
        log(f"Wrote {options.output}")
    if options.json:
        print_json(_document(source, trial, options.upstream_test))
    elif not options.output:
        sys.stdout.write(source)
    return OK


def _diff(run: SharedRun, options: argparse.Namespace) -> int:
    found = _made_diff(run, options)
    log(sentence_of_diff(found))
    if options.output and found.diff:
        write_named(options.output, (found.diff,), field="--output")
        log(f"Wrote {options.output}")
    if options.test and found.test:
        write_named(options.test, (found.test,), field="--test")
        log(f"Wrote {options.test}")
    if options.json:
        print_json(dump_document(found))
    elif not options.output:
        sys.stdout.write(found.diff)
    return OK


def _made_diff(run: SharedRun, options: argparse.Namespace) -> UpstreamDiff:
    wanted = options.upstream_diff
    if wanted == "template":
        return asyncio.run(template_diff(run.trace, Path(options.source) if options.source else None))
    case = case_of_trace(run.trace, options.parser, wanted)
    if wanted in DIFFED:
        log(f"Trying changes of `{case.parser}` in a copy of {title_of(wanted)}")
    return asyncio.run(parser_diff(case, wanted, Path(options.own_tests) if options.own_tests else None))


def _export(run: SharedRun, options: argparse.Namespace) -> int:
    text = export_run(run.trace, options.form)
    if options.output:
        write_named(options.output, (text,), field="--output")
        log(f"Wrote {options.output}")
    if options.json:
        print_json(dump_document(Written(options.form, text)))
    elif not options.output:
        print_text(text)
    return OK


def _try(source: str, options: argparse.Namespace) -> Trial | None:
    """Run the test where its package is; `None` where that is nowhere."""
    kind, package = options.upstream_test, PARSER_TESTS[options.upstream_test].package
    runner = Runner(options.python, package) if options.python and package else package and runner_of(kind, package)
    if not runner:
        return None
    log(f"Running the test in {'the wheel of' if runner.wheel else 'the installed'} {title_of(kind)}")
    return try_source(source, runner)


def _sentence(trial: Trial | None, engine: str) -> str:
    if trial is None and PARSER_TESTS[engine].package:
        return f"Not run: {why_not_run(engine)}; --python gives an interpreter that has it."
    if trial is None:
        return f"Not run: tests for {title_of(engine)} are only written, not run, here."
    if trial.fails is None:
        return f"Not run: {trial.explanation}"
    engine_name = f"{title_of(engine)} {trial.version}"
    if trial.fails:
        return f"{engine_name}: the test fails, as in the run: {trial.explanation}"
    return (
        f"{engine_name}: the test passes, so this release reads the output correctly; report another release, or none."
    )


def _document(source: str, trial: Trial | None, engine: str) -> JSONObject:
    document = UpstreamTest(
        engine=engine,
        test=source,
        run=trial is not None and trial.fails is not None,
        version=None if trial is None else trial.version,
        fails=None if trial is None else trial.fails,
        told="" if trial is None else trial.explanation,
    )
    return dump_document(document)
