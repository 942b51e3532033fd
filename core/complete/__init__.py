"""3 · Prompt or request → what the server answered. The only place that speaks HTTP.

    ServerClient ──▶ backends/   http.py: one connection, its limits, its failures in words
       │                         openai_chat.py completions.py vllm.py probe.py: the wire protocols
       │                         sse.py: bytes → events
       ▼
    gather ──▶ ladder.py         what the raw output rests on, and why

Public: `ServerClient`, `Timeouts`, `RenderAnswer`, `gather`, `Gathered`.
"""

from core.complete.backends.limits import Timeouts
from core.complete.backends.vllm import RenderAnswer
from core.complete.client import ServerClient
from core.complete.evidence import gather
from core.complete.ladder import Gathered

__all__ = ["Gathered", "RenderAnswer", "ServerClient", "Timeouts", "gather"]
