"""What Kilo Code says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Kilo Code"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The provider repeatedly ended the response before returning usable output",
        Stage.COMPLETE,
        "Several answers in a row ended without a text or a call that the program could use; these words are the "
        "program's own, and do not show what came.",
        "Look at the raw answers (`capture` between program and server): all of the output may be reasoning, the limit "
        "of tokens may be reached, or a gateway may close the stream early.",
        "https://github.com/diegosouzapw/OmniRoute/issues/8320",
        cause=Cause.OUTPUT,
    ),
)
