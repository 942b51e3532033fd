"""Write a parser plugin for vLLM, made of this program's own readers: one file that needs nothing but vLLM."""

from __future__ import annotations

import argparse
import sys

from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.report.wire import dump_document
from prompt_debugger.core.tools.fixes.exports import Written
from prompt_debugger.core.tools.plugin.write import PARSER_NAME, write_plugin
from prompt_debugger.ui.cli.output import OK, print_json
from prompt_debugger.ui.cli.progress import log


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--family", default="all", metavar="NAME", help="model family to read, such as kimi_k2 (default: all)"
    )
    parser.add_argument("--output", metavar="FILE.py", help="file to write (default: standard output)")
    parser.add_argument("--json", action="store_true", help="print one JSON document with the source")
    parser.set_defaults(run=_run, doing="Writing the plugin")


def _run(options: argparse.Namespace) -> int:
    source = write_plugin(options.family)
    if options.json:
        print_json(dump_document(Written(f"plugin {options.family}", source)))
    elif options.output is None:
        sys.stdout.write(source)
    if options.output is None:
        return OK
    write_named(options.output, (source,), field="--output")
    log(f"Wrote {options.output}. Start vLLM with:")
    log(f"  --enable-auto-tool-choice --tool-parser-plugin {options.output} --tool-call-parser {PARSER_NAME}")
    log(f"  and for a model that reasons: --reasoning-parser-plugin {options.output} --reasoning-parser {PARSER_NAME}")
    return OK
