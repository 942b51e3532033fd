"""The command line: the commands of the outside contract, one file each.

Exit status: 0 ran and found no error, 1 ran and found one, 2 could not run.
Only `page` imports gradio, and only when asked for.
"""

from prompt_debugger.ui.cli.main import main

__all__ = ["main"]
