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
        probe_s: Seconds for each look at what a server offers.
        wake_s: Seconds for the first of them: a server that was put to sleep for want of requests starts again.
        beside_s: Seconds that looks sent together may take after the first of them has answered.
        run_s: Seconds for all that one client asks, from its making; `None` for as long as it takes.
    """

    connect_s: float = 5.0
    read_s: float = 180.0
    total_s: float = 900.0
    probe_s: float = 8.0
    wake_s: float = 30.0
    beside_s: float = 2.0
    run_s: float | None = None


MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_EVENTS = 131_072  # of one stream: one for each token of the longest answers
MAX_PIECES = 2 * MAX_EVENTS  # in which one answer comes
MAX_LINES = 4 * MAX_EVENTS  # of one stream, comments and empty ones among them
MAX_EVENT_BYTES = 8 * 1024 * 1024
MAX_UNREADABLE = 65_536  # bytes of one answer that are not UTF-8
MAX_CHOICES = 1_024  # of one event
MAX_CALLS = 10_000  # of one message: more than a model that loops writes into the longest contexts
MAX_VALUES = 131_072  # of one message: keys, items and what they hold; 10,000 calls have 70,000
MAX_STREAM_VALUES = 8 * MAX_EVENTS  # of all events of one stream; a part of a call has six
MAX_LOGPROBS = 131_072  # of one answer: no context is longer where all of it is listed
MAX_ALTERNATIVES = 20 * 32_768  # to the tokens of one answer: those of the first ones are kept
MAX_IDS = 1 << 20  # of a prompt, or of an output: the longest contexts have a million
MAX_ITEMS = 2 * MAX_IDS  # of one answer that is not a run, such as ids and what each stands for
MAX_LOOK_BYTES = 4 * 1024 * 1024  # of what a server says of itself
EXCERPT_CHARS = 2000
