"""The request sets a field that this server's releases no longer read.

What it finds:
    Fields of constrained output that vLLM removed in 0.12: `guided_json`,
    `guided_regex`, `guided_choice`, `guided_grammar` and what went with them.
    Silent for a server that is known to be older, or other software, of a
    request that was refused: what refused it reads the field, and beside a log
    whose sampling parameters have `GuidedDecodingParams`: an older release read it.

Why it matters:
    The server answers 200 and ignores them: the output is not constrained, and
    a client that decodes it fails occasionally.

Bad:
    `"guided_choice": ["yes", "no"]`

Good:
    `"structured_outputs": {"choice": ["yes", "no"]}`

Source:
    publisher: vLLM 0.12.0, release notes; vLLM 0.32 accepts any extra field and ignores it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.refusals.removed_fields import REMOVED_IN, SUCCESSORS
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import in_request

_READ = "guided_decoding=GuidedDecodingParams("  # as releases before 0.12 log a request that is constrained
_VERSION = re.compile(r"v?(\d{1,4})\.(\d{1,4})")


def find(trace: Trace) -> Iterator[Report]:
    """Report each removed field once."""
    server = trace.server
    if trace.refusal is not None or any(line.startswith(_READ) for line in trace.server_warnings):
        return
    if server is not None and server.kind not in (None, "", "vllm", "unknown"):
        return
    version = _VERSION.match(server.version or "") if server is not None else None
    if version is not None and (int(version[1]), int(version[2])) < REMOVED_IN:
        return
    for field in sorted(SUCCESSORS.keys() & trace.request.body.keys()):
        if trace.request.body[field] is None:
            continue
        yield Report(
            title=f"vLLM removed `{field}` in 0.12: the output is not constrained.",
            detail=f"From 0.12 on the server accepts `{field}` and ignores it. Use instead: {SUCCESSORS[field]}."
            + ("" if version is not None else " Which release answers here is unknown."),
            evidence=(in_request(field),),
            fix=f"Use {SUCCESSORS[field]} instead.",
            certainty=Certainty.OBSERVED if version is not None else Certainty.INFERRED,
        )


RULE: Rule = TraceRule(
    code="PD127",
    name="removed-field",
    severity=Severity.WARNING,
    stage=Stage.REQUEST,
    find=find,
    explains=("PD505", "PD511"),
)
