"""Make of a saved run what maintainers can run: a small failing test for their parser."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from prompt_debugger.core.errors import RequestError
from prompt_debugger.core.mend.documents import UpstreamTestDocument
from prompt_debugger.core.mend.trial import Trial, try_in_vllm
from prompt_debugger.core.mend.upstream import ENGINES, Engine
from prompt_debugger.core.types import JSONObject
from prompt_debugger.ui.cli.output import OK, log, print_json
from prompt_debugger.ui.cli.sharing import read_bundle_file
from prompt_debugger.ui.report import share_trace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("bundle", metavar="BUNDLE", help="trace.json of `run --report DIR`, or - for standard input")
    parser.add_argument("--upstream-test", choices=ENGINES, required=True, help="whose parser the test is for")
    parser.add_argument("--parser", metavar="NAME", help="the parser (default: the one that the run names)")
    parser.add_argument("--output", metavar="FILE", help="file to write (default: standard output)")
    parser.add_argument("--json", action="store_true", help="print one JSON document with the test and how it ended")
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    run = share_trace(read_bundle_file(options.bundle).trace)
    source = run.upstream_test(options.upstream_test, options.parser)
    trial = _try(source) if options.upstream_test == "vllm" else None
    log(_sentence(trial, options.upstream_test))
    if options.output:
        try:
            Path(options.output).write_text(source, encoding="utf-8")
        except OSError as error:
            reason = error.strerror or error
            raise RequestError(f"cannot write {options.output!r}: {reason}", field="--output") from None
        log(f"Wrote {options.output}")
    if options.json:
        print_json(_document(source, trial, options.upstream_test))
    elif not options.output:
        sys.stdout.write(source)
    return OK


def _try(source: str) -> Trial:
    log("Running the test in the installed vLLM")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "test_output.py"
        file.write_text(source, encoding="utf-8")
        return try_in_vllm(file)


def _sentence(trial: Trial | None, engine: str) -> str:
    if trial is None:
        return f"Not run: a test for {engine} is only written here."
    if trial.fails is None:
        return f"Not run: {trial.told}"
    if trial.fails:
        return f"vLLM {trial.version}: the test fails as the run says: {trial.told}"
    return f"vLLM {trial.version}: the test passes, so this release reads the output; report another one, or none."


def _document(source: str, trial: Trial | None, engine: Engine) -> JSONObject:
    document = UpstreamTestDocument(
        engine=engine,
        test=source,
        run=trial is not None and trial.fails is not None,
        version=None if trial is None else trial.version,
        fails=None if trial is None else trial.fails,
        told="" if trial is None else trial.told,
    )
    return document.model_dump(mode="json")
