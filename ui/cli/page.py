"""Open the page in the browser (the command when none is given)."""

from __future__ import annotations

import argparse

from ui.cli.run import add_target_arguments, target_from_options


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_target_arguments(parser)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=7860, help="port to listen on (default: 7860)")
    parser.add_argument(
        "--public", action="store_true", help="settings for a public Space: allow-listed endpoints only"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    from ui.web import launch_app  # gradio takes seconds to import: only this command pays

    launch_app(
        target=target_from_options(options),
        host=options.host,
        port=options.port,
        public=options.public,
        lab=options.lab and not options.endpoint,
    )
    return 0
