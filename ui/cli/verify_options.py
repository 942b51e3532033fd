"""Options of the published verifiers (K2VV, MiniMax) as `verify` reads them; those it cannot follow say what to do."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

from prompt_debugger.core.base.errors import RequestError

_INSTEAD: Mapping[str, str] = {
    "--api-key": (
        "Keys are read only from the environment: put it into OPENAI_API_KEY, or give another variable with "
        "--api-key-env."
    ),
    "--loop": "Run the command once for each loop, each with a different --output; `--baseline` compares two.",
    "--module": "Give files with --output and --summary.",
    "--mm-model": "Compare with stored results: --baseline RESULTS.jsonl.",
    "--debug": "For the first ten rows, use --limit 10.",
}


class _Refused(argparse.Action):
    """Remembers that an option was given that we have not, and not its value, which may be a key."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        namespace.refused = self.option_strings[0]


def positive(text: str) -> int:
    """Read a number of at least 1, for argparse."""
    number = count(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1")
    return number


def count(text: str) -> int:
    """Read a number of at least 0, for argparse."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a count")
    return int(text)


def add_published_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that K2VV and MiniMax's verifier have besides ours."""
    parser.add_argument("--base-url", "--url", dest="endpoint", metavar="URL", help="the same as --endpoint")
    parser.add_argument("--tokenizer-model", dest="tokenizer", metavar="NAME", help="the same as --tokenizer")
    parser.add_argument(
        "--max-workers", dest="concurrency", type=positive, metavar="N", help="the same as --concurrency"
    )
    parser.add_argument(
        "--use_raw_completions",
        "--use-raw-completions",
        action="store_true",
        help="for compatibility with K2VV; answers are always checked against the raw output",
    )
    parser.add_argument(
        "--incremental", action="store_true", help="for compatibility with K2VV; it always continues where it stopped"
    )
    parser.add_argument("--stream", action="store_true", help="send every request as a stream")
    for name in _INSTEAD:
        parser.add_argument(name, action=_Refused, nargs="?", dest="refused", help=argparse.SUPPRESS)


def check_published(options: argparse.Namespace) -> None:
    """Refuse an option of a published verifier that we have not, and say what does the same.

    Raises:
        RequestError: There is one.
    """
    if options.refused is not None:
        raise RequestError(f"`verify` has no {options.refused}", _INSTEAD[options.refused], field=options.refused)
