"""How much of the traffic is recorded. The traffic itself is not limited: that is between client and server."""

from __future__ import annotations

MAX_REQUEST_BYTES = 8_000_000  # of one body; what `inspect` reads of a text
MAX_ANSWER_BYTES = 32 * 1024 * 1024  # of one answer, as it came
MAX_HELD_BYTES = 256 * 1024 * 1024  # of all exchanges under way, and of those that wait to be written
MAX_STORED_BYTES = 1024 * 1024 * 1024  # in the folder or file
MAX_EVENTS = 2_000  # of one stream that are written besides its message
MAX_EVENT_CHARS = 400_000  # in all of those
MAX_EXCERPT_CHARS = 2_000  # of what is not JSON
HEAD_S = 30.0  # for the head of a request, from the connection's start or the end of the answer before
BODY_IDLE_S = 30.0  # between two pieces of a request's body
BODY_WHOLE_S = 600.0  # for all of it; how long an answer takes is for client and server to say
MAX_UNDER_WAY = 512  # exchanges at a time; more are answered with 503
