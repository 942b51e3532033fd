"""What a request is aimed at: the options that say so, and the target that they make."""

from __future__ import annotations

import argparse
import math
import os

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.types import Api
from prompt_debugger.core.complete import may_carry_key, read_headers
from prompt_debugger.core.pipeline import RUN_S, Target
from prompt_debugger.ui.cli.lab import add_lab_arguments, named, spec_from_options
from prompt_debugger.ui.cli.output import read_input

DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY"


def add_target_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what a request is aimed at."""
    parser.add_argument("--endpoint", metavar="URL", help="base URL of a server, such as http://localhost:8000/v1")
    parser.add_argument(
        "--model", metavar="NAME", help="model name to send (default: the request's, else the server's first)"
    )
    parser.add_argument("--tokenizer", metavar="DIR_OR_HUB_ID", help="tokenizer and chat template of the model")
    parser.add_argument(
        "--chat-template", metavar="FILE", help="Jinja file that overrides the tokenizer's own template"
    )
    add_template_name(parser)
    add_key_variable(parser)
    add_connection_arguments(parser)
    parser.add_argument(
        "--lab", action=argparse.BooleanOptionalAction, default=True, help="start the lab when there is no endpoint"
    )
    add_lab_arguments(parser)


def add_run_time(parser: argparse.ArgumentParser) -> None:
    """Declare how long a run may take."""
    parser.add_argument(
        "--run-time",
        type=_seconds,
        default=RUN_S,
        metavar="S",
        help=f"seconds that a run may take once its server is ready; what has arrived is kept (default: {RUN_S:g})",
    )


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError
    return value


def target_from_options(options: argparse.Namespace, base_url: str | None = None) -> Target:
    """Return what the options aim at.

    Raises:
        RequestError: There is no endpoint, and the lab was ruled out.
    """
    endpoint = options.endpoint or (base_url if not options.lab else None)
    if endpoint is None and not options.lab:
        raise RequestError(
            "No server to run against.", "Give --endpoint URL, or leave out --no-lab.", field="--endpoint"
        )
    headers = extra_headers(options)
    if headers and endpoint is None:
        raise RequestError(
            "`--extra-headers` needs a server to send them to.", "Give --endpoint URL.", field="--extra-headers"
        )
    spec = spec_from_options(options)
    return Target(
        base_url=endpoint,
        model=options.model,
        api_key=api_key_for(endpoint, options.api_key_env),
        tokenizer=options.tokenizer,
        chat_template=read_input(options.chat_template) if options.chat_template else None,
        template_name=getattr(options, "template_name", None),
        tool_parser=named(options.tool_parser),
        reasoning_parser=named(options.reasoning_parser),
        lab=spec,
        extra_headers=tuple(headers.items()),
        ca_file=options.ca_file,
        asks_once=getattr(options, "ask", "more") == "once",
        run_s=getattr(options, "run_time", RUN_S),
        api=api_from_options(options),
    )


def api_from_options(options: argparse.Namespace) -> Api | None:
    """Return the API to ask by; `None` for the request's own."""
    named = getattr(options, "api", None)
    return None if named in (None, "all") else Api(named)


def api_key_for(endpoint: str | None, variable: str | None) -> str | None:
    """Return the key for an endpoint.

    A key that the person did not name (it is in OPENAI_API_KEY for something else) is left out where it would go
    over the network in clear, instead of refusing to run.
    """
    if endpoint is None:
        return None
    if variable is None and not may_carry_key(endpoint):
        return None
    return os.environ.get(variable or DEFAULT_KEY_VARIABLE)


def add_key_variable(parser: argparse.ArgumentParser) -> None:
    """Declare which environment variable contains the API key."""
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help=f"environment variable that contains the API key (default: {DEFAULT_KEY_VARIABLE})",
    )


def add_template_name(parser: argparse.ArgumentParser) -> None:
    """Declare which of a model's named templates is meant."""
    parser.add_argument(
        "--template-name",
        metavar="NAME",
        help=(
            "which of the model's templates to use, if it has several (default: `tool_use` for a request with "
            "tools, as in transformers, else `default`)"
        ),
    )


_FLAG = "--extra-headers"


def add_connection_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        _FLAG,
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help=(
            "header to send to --endpoint with every request, for example for a gateway; may be repeated, or "
            "be a JSON object; its value is never saved"
        ),
    )
    parser.add_argument(
        "--ca-file",
        metavar="FILE",
        help="certificates (PEM) to trust in addition to the public ones, for an https --endpoint",
    )


def extra_headers(options: argparse.Namespace) -> dict[str, str]:
    """Return the headers to add to every request.

    Raises:
        RequestError: One is not a header, or is given twice; no value is repeated.
    """
    return read_headers(options.extra_headers, _FLAG)
