"""See what a chat request becomes: prompt, completion, message, and where it got lost.

    import prompt_debugger as pd

    print(pd.diagnose(answer).verdict.sentence)

`docs/python.md` shows how. What is imported here is loaded when it is first used: the
program's helper processes import this package, too, and should start at once.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prompt_debugger.core.api import (
        Parsed,
        Rendered,
        Verified,
        check,
        check_async,
        diagnose,
        diagnose_async,
        parse,
        parse_async,
        render,
        render_async,
        run,
        run_async,
        to_json,
        verify,
        verify_async,
    )
    from prompt_debugger.core.base.errors import DebuggerError
    from prompt_debugger.core.base.types import Finding, Parse, Prompt, Trace, Verdict
    from prompt_debugger.core.pipeline import Progress, Target
    from prompt_debugger.core.tools.check import Check
    from prompt_debugger.core.tools.lab import LabPool
    from prompt_debugger.ui.testing import assert_no_lost_calls

__version__ = "0.2.0"

# In a checkout `core`, `ui` and `assets` beside this file are links to the folders above it. Zip files, uploads to a
# Space and checkouts on Windows bring text files in their place, or nothing: then the folders are found there.
_HERE = Path(__file__).parent
if not (_HERE / "core").is_dir() and (_HERE.parent / "core").is_dir():
    __path__.append(str(_HERE.parent))

__all__ = [
    "Check",
    "DebuggerError",
    "Finding",
    "LabPool",
    "Parse",
    "Parsed",
    "Progress",
    "Prompt",
    "Rendered",
    "Target",
    "Trace",
    "Verdict",
    "Verified",
    "assert_no_lost_calls",
    "check",
    "check_async",
    "diagnose",
    "diagnose_async",
    "parse",
    "parse_async",
    "render",
    "render_async",
    "run",
    "run_async",
    "to_json",
    "verify",
    "verify_async",
]

_MODULES = {
    "Check": "core.tools.check",
    "DebuggerError": "core.base.errors",
    "LabPool": "core.tools.lab",
    "Progress": "core.pipeline",
    "Target": "core.pipeline",
    **dict.fromkeys(("Finding", "Parse", "Prompt", "Trace", "Verdict"), "core.base.types"),
    "assert_no_lost_calls": "ui.testing",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(f"{__name__}.{_MODULES.get(name, 'core.api')}"), name)
    import_module(f"{__name__}.core.base.types").Trace._repr_html_ = _show_in_notebook
    return found


def _show_in_notebook(trace: "Trace") -> str:
    """Return the report of a run in a frame, as notebooks show it; nothing is asked of the network."""
    return str(import_module(f"{__name__}.ui.report").trace_to_notebook(trace))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
