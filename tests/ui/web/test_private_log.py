"""The log of a public page tells what failed and where, and no word of a visitor. Once set it stays: own processes."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.patience import PATIENCE_S

ROOT = Path(__file__).resolve().parents[3]
TYPED = "a-visitor-typed-this"
ENTRIES = {
    "a print of a library": ("print(typed)", ""),
    "an error on standard error": ("sys.stderr.write(typed)", ""),
    "a traceback": (
        "try: raise ValueError(typed)\nexcept ValueError:\n    import traceback; traceback.print_exc()",
        "an event failed: ValueError < <module>",
    ),
    "a warning": ("import warnings; warnings.warn(f'Value: {typed} is not in the list')", "UserWarning at "),
    "an entry of a library": ("logging.getLogger('gradio.x').warning('value %s', typed)", "WARNING gradio.x:"),
    "a library's own handler": ("uvicorn.error('bad %s', typed)", "ERROR uvicorn.error:"),
    "a library's exception": (
        "try: int(typed)\nexcept ValueError: uvicorn.exception(f'bad {typed}')",
        "ERROR uvicorn.error:",
    ),
    "an entry of ours": (
        "logging.getLogger('prompt_debugger.ui.web.x').warning('the lab failed: %s', typed)",
        "the lab failed: …",
    ),
    "an exception of ours": (
        "try: raise KeyError(typed)\n"
        "except KeyError: logging.getLogger('prompt_debugger.ui.web.x').exception('it failed')",
        "it failed: KeyError < <module>",
    ),
    "a thread that failed": (
        "def work(): raise RuntimeError(typed)\nt = threading.Thread(target=work); t.start(); t.join()",
        "a thread failed: RuntimeError < work",
    ),
    "an end that nobody foresaw": (
        "raise RuntimeError(typed)",
        "something failed that was not awaited: RuntimeError < <module>",
    ),
    "a refused connection": (
        "from prompt_debugger.core.base.egress import forbid_network; forbid_network()\n"
        "import socket\ntry: socket.getaddrinfo(typed + '.example', 1)\nexcept OSError: pass",
        "refused a connection: socket.getaddrinfo by __main__:",
    ),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_the_log_tells_kinds_and_places_alone(name: str) -> None:
    code, shown = ENTRIES[name]
    script = """
    import logging, sys, threading
    from prompt_debugger.ui.web.private_log import log_places_only
    uvicorn = logging.getLogger("uvicorn.error")
    uvicorn.addHandler(logging.StreamHandler())
    uvicorn.propagate = False
    typed = sys.argv[1]
    log_places_only()
    """

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script) + code, TYPED],
        cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S,
    )  # fmt: skip

    assert TYPED not in done.stdout + done.stderr
    assert shown in done.stderr
