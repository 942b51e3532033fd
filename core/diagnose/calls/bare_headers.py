"""Headers of calls in the notation of OpenAI's models, in content and without their arguments.

null to=functions.edit  some other words json
to=functions.edit {
"""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Certainty, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message

_HEADER = re.compile(
    r"(?m)^[ \t]{0,4}(?:(?:null|assistant|analysis|commentary) ?)?to=functions\.(?P<name>[\w-]{1,64})\b"
)
_QUOTED = re.compile(r"```|`to=functions")
_MIN_LINES = 2  # that begin so, of which a sentence about them has no second one


def report_headers(trace: Trace, content: str) -> Report | None:
    """Report content in which the model tried to call a tool as it does within its own notation."""
    found = list(_HEADER.finditer(content))
    if len(found) < _MIN_LINES or found[0].start() > 0 or _QUOTED.search(content) is not None:
        return None
    name = found[0]["name"]
    own = trace.server is not None
    fix = (
        "Start the server with the parser of this family (vLLM `--tool-call-parser openai`), in a current release."
        if own
        else "Report the answer to the provider: its API should not return this as text."
    )
    return Report(
        title=f"Content consists of headers of calls to `{name}`, and no call was returned.",
        detail=f"`to=functions.{name}` is how OpenAI's models address a tool in their own notation, which belongs in "
        f"no text; {len(found)} lines begin so. The model wrote it without the markers around it, and nothing was "
        "called.",
        evidence=(in_message("content", found[0][0]),),
        fix=f"Ask again without this turn in the history, as models repeat what they read there. {fix}",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )
