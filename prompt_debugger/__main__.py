"""Entry of the command line, as installed and as `python -m prompt_debugger`."""

from __future__ import annotations

import sys

from prompt_debugger.core.base.egress import forbid_network


def main() -> int:
    """Run the program; the network is shut before any code that is not ours is read."""
    forbid_network()
    from prompt_debugger.core.base.errors import PluginError
    from prompt_debugger.ui.frozen_memory import kept_for_good

    try:
        with kept_for_good():
            from prompt_debugger.ui.cli import main as run
    except PluginError as error:  # a file of a family, rule or engine, ours or of a package that is installed
        sys.stderr.write(f"PluginError: {error.message} {error.hint}\n")
        return 2

    return run()


if __name__ == "__main__":
    sys.exit(main())
