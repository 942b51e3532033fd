"""How long we wait and how much we read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long we wait for a server.

    Attributes:
        connect_s: Seconds until the connection stands.
        read_s: Seconds of silence while waiting for the answer or for its next bytes.
        total_s: Seconds from sending to the last byte.
        probe_s: Seconds for each look at what a server offers.
        run_s: Seconds for all that one client asks, from its making; `None` for as long as it takes.
    """

    connect_s: float = 5.0
    read_s: float = 180.0
    total_s: float = 900.0
    probe_s: float = 8.0
    run_s: float | None = None


MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_EVENTS = 131_072  # of one stream: one for each token of the longest answers
MAX_PIECES = 2 * MAX_EVENTS  # in which one answer comes
MAX_LINES = 4 * MAX_EVENTS  # of one stream, comments and empty ones among them
MAX_EVENT_BYTES = 8 * 1024 * 1024
MAX_CHOICES = 1_024  # of one event
MAX_CALLS = 10_000  # of one message: more than a model that loops writes into the longest contexts
EXCERPT_CHARS = 2000
