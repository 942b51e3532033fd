r"""The command that starts the server ends before some of its flags.

What it finds:
    A command over several lines in which one line does not continue: it has no
    `\` at its end, has a space after it, or is a comment. The flags below never
    reach the server. Silent where calls came back, and where no other line of
    the text continues: then copying lost the marks.

Why it matters:
    The server starts without an error, or with one of the shell that is easily
    missed, and reads no call: `--tool-call-parser` was never set.

Bad:
    `--enforce-eager`, then a line `--tool-call-parser hermes`

Good:
    `--enforce-eager \`, then a line `--tool-call-parser hermes`

Source:
    tracker: SecretiveShell/MCP-Bridge#51.
    derived: a shell ends a command at the end of a line.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Severity, Stage, Trace
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server
from prompt_debugger.core.diagnose.words import counted

_MAX_NAMED = 4


def find(trace: Trace) -> Iterator[Report]:
    """Report the flags below the end of the command."""
    server = trace.server
    results = [result for result in (trace.chat, trace.chat_stream) if result is not None]
    if server is None or not server.lost_flags or asked_server(trace):
        return
    if any(result.message.get("tool_calls") for result in results):
        return
    first, rest = server.lost_flags[0], server.lost_flags[_MAX_NAMED:]
    named = ", ".join(f"`{name}`" for name in server.lost_flags[:_MAX_NAMED])
    more = f" and {counted(len(rest), 'further one')}" if rest else ""
    yield Report(
        title=f"The command ends before `{first}`: the server starts without it.",
        detail="The line above does not continue: it has no `\\` at its very end, or is a comment. The shell ends the "
        f"command there, and {named}{more} never {'reach' if len(server.lost_flags) > 1 else 'reaches'} the server.",
        evidence=(FindingEvidence("server", quote=first),),
        fix="End every line of the command except the last with `\\`, with no space after it and no comment between "
        "the lines; the server's log then shows the flag among its arguments.",
        certainty=Certainty.INFERRED,
    )


RULE: Rule = TraceRule(
    code="PD472",
    name="flags-lost-in-shell",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.SERVER,
    threads=("SecretiveShell/MCP-Bridge#51",),
)
