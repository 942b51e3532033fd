"""The answer shows a fault that the server's tool parser is known for.

What it finds:
    Server software and tool parser that are in a table of known faults, an answer, error
    or report that shows the fault's sign, and a release that may have it: not one that was
    tested and does not have it. A conclusion from the three, so a note in addition to the
    finding that says what is wrong.

Why it matters:
    Neither the request nor the model is at fault, and a newer release, or a whole
    answer in place of a stream, is all that is needed.

Bad:
    vLLM 0.17.0, `--tool-call-parser glm47`, streamed arguments `{"x":2{"x": 2}`

Good:
    The same with vLLM 0.26.0: `{"x": 2}`

Source:
    derived: outputs read by the parsers of vLLM 0.11.0 to 0.32.0 and SGLang 0.5.9 to 0.5.23.
    tracker: vllm-project/vllm#39253, vllm-project/vllm#13622, sgl-project/sglang#23071, ml-explore/mlx-lm#1307,
    ollama/ollama#11112, ollama/ollama#11505, ggml-org/llama.cpp#18591, ggml-org/llama.cpp#24644.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.text import capitalized
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Server, Severity, Stage, Trace
from prompt_debugger.core.diagnose.parser_faults import Fault, Sign, known_fault
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule, thread_url

_TITLES = {"vllm": "vLLM", "sglang": "SGLang", "mlx-lm": "mlx-lm", "ollama": "Ollama", "llama.cpp": "llama.cpp"}


def find(trace: Trace) -> Iterator[Report]:
    """Report the fault with its releases."""
    found, server = known_fault(trace), trace.server
    if found is None or server is None:
        return
    fault, call = found
    maker = _TITLES[fault.kind]
    of_call = "" if call is None or not call.name else f" (the call to `{call.name}`)"
    parser = f"parser `{server.tool_parser}`" if fault.parsers else "server"
    shown = f"--tool-call-parser {server.tool_parser}" if fault.parsers else f"{maker} {server.version or ''}".strip()
    subject = "This" if trace.chat is None else "This answer"
    yield Report(
        title=f"{subject} matches a known fault of {maker}'s {parser}: it {fault.does}.",
        detail=f"{_releases(fault, maker)} {_name_release(server)} {_shown(trace, of_call)}",
        evidence=(FindingEvidence("server", quote=shown),),
        fix=_fix(fault, maker),
        certainty=Certainty.INFERRED,
        links=tuple(thread_url(thread) for thread in fault.threads),
    )


def _shown(trace: Trace, of_call: str) -> str:
    if trace.chat is not None:
        return f"The answer shows it{of_call}; the raw output would prove it."
    if trace.refusal is not None:
        return "The error shows it."
    return "The text shows it." if trace.raw is not None else "The words of the report say it; an answer would show it."


def _releases(fault: Fault, maker: str) -> str:
    if fault.before:
        since = f"{maker} {fault.seen} does this, and {fault.before} did not"
        return (
            f"{since}; {fault.mended} does not." if fault.mended else f"{since}; no later release without it is known."
        )
    if fault.mended:
        return f"{maker} {fault.seen} does this, and {fault.mended} does not."
    return f"{maker} {fault.seen} does this; no release without this fault is known."


def _name_release(server: Server) -> str:
    return "The release that answered is not known." if server.version is None else f"{server.version} answered."


def _fix(fault: Fault, maker: str) -> str:
    whole = "ask without streaming, as a whole answer is parsed at once"
    if fault.sign is Sign.AFTER_TEXT:
        return "Have the prompt ask for nothing but the call, without words before it; the parser reads nothing else."
    if fault.before and not fault.mended:
        return f"Run the newest release of {maker}; if it has the fault too, go back to {fault.before}, which does not."
    if fault.sign is Sign.NOTHING and not fault.mended:
        return f"Run a release after {maker} {fault.seen}; its log at level DEBUG shows what the model wrote."
    if fault.mended and fault.sign is Sign.NOTHING:
        return f"Run {maker} {fault.mended} or later."
    if fault.mended:
        return f"Run {maker} {fault.mended} or later; until then, {whole}."
    return f"{capitalized(whole)}, and see whether a release after {maker} {fault.seen} has fixed it."


RULE: Rule = TraceRule(
    code="PD471",
    name="known-parser-fault",
    severity=Severity.NOTE,
    stage=Stage.PARSE,
    find=find,
    threads=("vllm-project/vllm#39253", "vllm-project/vllm#13622", "sgl-project/sglang#23071"),
)
