"""What a script is given about a lab that runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class LabDocument:
    """What `lab --json` prints once the lab answers.

    Attributes:
        base_url: For clients, up to and including `/v1`.
        model: Name to send.
        pid: Process that ends the lab when it is asked to end.
        kind: `engine`, or `renderer` for one without weights.
        tool_parser: vLLM's tool parser.
        reasoning_parser: vLLM's reasoning parser.
    """

    base_url: str
    model: str
    pid: int | None
    kind: str
    tool_parser: str | None
    reasoning_parser: str | None
