"""Serve the lab model on a real vLLM and print its base URL; `--install` sets vLLM up."""

from __future__ import annotations

import argparse
import sys

from prompt_debugger.core.tools.lab import LabSpec, run_lab
from prompt_debugger.ui.cli.front import interrupt, stopped_by
from prompt_debugger.ui.cli.lab_environment import add_environment_arguments, is_about_environment, run_environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_lab_arguments(parser)
    parser.add_argument("--port", type=int, help="port on 127.0.0.1 (default: any free one)")
    parser.add_argument("--renderer", action="store_true", help="no engine: prompts and parsing only, needs no weights")
    parser.add_argument("--json", action="store_true", help="print one JSON line with base_url, model, pid and parsers")
    add_environment_arguments(parser)
    parser.set_defaults(run=_run)


def add_lab_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what decides how a lab is started."""
    parser.add_argument(
        "--lab-model", metavar="DIR_OR_HUB_ID", help="model to serve (default: the miniature lab model)"
    )
    parser.add_argument(
        "--tool-parser", metavar="NAME", help="vLLM's tool parser, or `none` (default for the lab: kimi_k2)"
    )
    parser.add_argument(
        "--reasoning-parser", metavar="NAME", help="vLLM's reasoning parser (default for the lab: none)"
    )
    parser.add_argument(
        "--lab-arg", action="append", default=[], metavar="ARG", help="further argument for vLLM, repeatable"
    )


def spec_from_options(options: argparse.Namespace) -> LabSpec:
    """Return the lab that the options ask for."""
    spec = LabSpec(
        tool_parser="kimi_k2" if options.tool_parser is None else named(options.tool_parser),
        reasoning_parser=named(options.reasoning_parser),
        extra_args=tuple(options.lab_arg),
        port=getattr(options, "port", None) if options.command == "lab" else None,
        kind="renderer" if getattr(options, "renderer", False) else "engine",
        **({"model_dir": options.lab_model} if options.lab_model else {}),
    )
    return spec


def named(parser: str | None) -> str | None:
    """Return the name of a parser; `None` for none."""
    return None if parser in (None, "", "none") else parser


def _run(options: argparse.Namespace) -> int:
    if is_about_environment(options):
        return run_environment(options)
    with stopped_by(interrupt):
        return run_lab(spec_from_options(options), as_json=options.json, out=sys.stdout, log=sys.stderr)
