"""What the page says of a run that failed, and what the log says: on a public page nothing of another visitor."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path

from prompt_debugger.core.base.errors import DebuggerError, LabError
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import with_key_field

_FRAMES = 6  # of a fault's places that are logged

_log = logging.getLogger(__name__)


def as_visitors_see(error: DebuggerError, settings: PageSettings) -> DebuggerError:
    """Return an error as a visitor may see it: the log of a lab can hold words of other visitors."""
    if settings.public and isinstance(error, LabError):
        _log.warning("the lab failed: %s", error.message)
        return LabError("the lab of this page failed", "It is started anew with the next run: run again.")
    return with_key_field(error, is_public=settings.public)


def log_fault(error: Exception, settings: PageSettings) -> None:
    """Log a fault of ours; on a public page without its words, which may be a visitor's."""
    if not settings.public:
        _log.exception("a run failed in a way that nobody foresaw")
        return
    places = [f"{Path(frame.filename).name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)]
    _log.error("a run failed in a way that nobody foresaw: %s at %s", type(error).__name__, " ".join(places[-_FRAMES:]))
