"""Every exchange read as it passes: the recording proxy, a reader that never delays it, rates, alarms.

    capture's proxy ──► kept ──► reading ──► counts ──► alarms, /metrics
    passes on            SQLite   sandbox     tallies    terminal, webhook

What is kept is a journal of `verify` (`core.tools.verify.journal`), so everything that opens one opens it.
`sessions` stitches exchanges together and says where the prefix cache breaks.

Public: `Watch`, `serve_watch`, `open_watched`, `Counts`, `Alarm`.
"""

from prompt_debugger.core.tools.watch.alarms import Alarm
from prompt_debugger.core.tools.watch.canary import Canary, CanaryResult, write_canary_junit
from prompt_debugger.core.tools.watch.counts import Counts, open_watched
from prompt_debugger.core.tools.watch.serve import Watch, serve_watch

__all__ = [
    "Alarm",
    "Canary",
    "CanaryResult",
    "Counts",
    "Watch",
    "open_watched",
    "serve_watch",
    "write_canary_junit",
]
