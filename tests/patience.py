"""How long a test waits for something to happen before it takes it for hung.

Tests wait for events. How long one takes says how busy the machine is and nothing of
the code, so there is one limit for all, far above what the slowest machine needs.
Who hunts for what hangs sets `PATIENCE`, in seconds.
"""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

PATIENCE_S = int(os.environ.get("PATIENCE", "300"))
PATIENCE_MS = PATIENCE_S * 1000


def set_defaults(patch: pytest.MonkeyPatch, settings: type[Any], **values: object) -> None:
    """Let a dataclass of settings have other defaults, for anyone who makes one from now on."""
    fields = [field for field in dataclasses.fields(settings) if field.init and not field.kw_only]
    defaults = [(field.name, field.default) for field in fields if field.default is not dataclasses.MISSING]
    assert set(values) <= {name for name, _ in defaults}, settings
    patch.setattr(settings.__init__, "__defaults__", tuple(values.get(name, default) for name, default in defaults))


def be_patient(patch: pytest.MonkeyPatch) -> None:
    """Raise the limits of time at which the program goes on without an answer, or takes what it started for hung.

    A user would not wait for as long; on a busy machine a sound server, parser or grammar would be given up, and what
    is said of a run would be another. Limits of processor time stay as they are. A test of a limit names its own.
    """
    from prompt_debugger.core.complete import Timeouts
    from prompt_debugger.core.parse.engines import EngineLimits
    from prompt_debugger.core.tools.fixes import trial
    from prompt_debugger.core.tools.grammar import GrammarLimits

    set_defaults(patch, Timeouts, connect_s=60.0, probe_s=60.0)  # a server that is mute at a look costs as much
    set_defaults(patch, GrammarLimits, start_s=PATIENCE_S, question_s=PATIENCE_S, verdict_s=PATIENCE_S)
    set_defaults(patch, EngineLimits, start_s=PATIENCE_S, request_s=PATIENCE_S, cpu_s=45.0)  # as many as without this
    patch.setattr(trial, "_LIMIT_S", PATIENCE_S)
