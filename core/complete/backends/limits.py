"""How long we wait and how much we read."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long we wait for a server.

    Attributes:
        connect_s: Seconds until the connection is open.
        read_s: Seconds of silence while waiting for the answer or for its next bytes.
        total_s: Seconds from sending to the last byte.
        probe_s: Seconds for each request that finds out what a server offers.
        wake_s: Seconds for the first of those: a server that sleeps while idle has to wake up.
        beside_s: Seconds that the others of several sent together may take after the first has been answered.
        run_s: Seconds for everything that one client asks, from its creation; `None` for no limit.
    """

    connect_s: float = 5.0
    read_s: float = 180.0
    total_s: float = 900.0
    probe_s: float = 8.0
    wake_s: float = 30.0
    beside_s: float = 2.0
    run_s: float | None = None


MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_EVENTS = 131_072  # per stream: one for each token of the longest answers
MAX_PIECES = 2 * MAX_EVENTS  # in which one answer may arrive
MAX_LINES = 4 * MAX_EVENTS  # per stream, including comments and empty lines
MAX_EVENT_BYTES = 8 * 1024 * 1024
MAX_UNREADABLE = 65_536  # bytes that are not UTF-8, per answer
MAX_CHOICES = 1_024  # per event
MAX_CALLS = 10_000  # per message: more than a looping model can write into the longest context
MAX_VALUES = 131_072  # keys, items and values, per message; 10,000 calls have 70,000
MAX_STREAM_VALUES = 8 * MAX_EVENTS  # in all events of a stream together; a piece of a call has six
MAX_LOGPROBS = 131_072  # per answer: more than the longest context
MAX_ALTERNATIVES = 20 * 32_768  # alternative tokens, per answer; those of the first tokens are kept
MAX_IDS = 1 << 20  # per prompt or output: the longest contexts have a million
MAX_ITEMS = 2 * MAX_IDS  # per answer that is not a run, such as a list of ids and their texts
MAX_LOOK_BYTES = 4 * 1024 * 1024  # per answer about the server itself
EXCERPT_CHARS = 2000
