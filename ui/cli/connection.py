"""What a connection to a server needs besides its address and key: headers of a gateway, certificates of one's own."""

from __future__ import annotations

import argparse

from prompt_debugger.core.complete import read_headers

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
