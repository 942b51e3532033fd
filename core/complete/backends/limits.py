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
    """

    connect_s: float = 5.0
    read_s: float = 180.0
    total_s: float = 900.0
    probe_s: float = 8.0


MAX_ANSWER_BYTES = 32 * 1024 * 1024
EXCERPT_CHARS = 2000
