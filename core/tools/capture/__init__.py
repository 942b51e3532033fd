"""A recording proxy: what a client really sends, and what it really gets, one file each that this program opens.

    serve ──► proxy ──► recorder ──► record ──► store
    listens,  passes on,  one task     in the sandbox:   a folder,
    ends      keeps       each         assembly, keys  or lines
              (exchange)               taken out

    callers   who may use it          secrets   what clients send to show who they are
    limits    how much is kept

Public: `Capture`, `Outcome`, `serve_capture`, `is_loopback`.
"""

from prompt_debugger.core.tools.capture.callers import is_loopback
from prompt_debugger.core.tools.capture.recorder import Outcome
from prompt_debugger.core.tools.capture.serve import Capture, serve_capture

__all__ = ["Capture", "Outcome", "is_loopback", "serve_capture"]
