"""The tool parser in a server's flags is made for another notation than the model's name stands for.

What it finds:
    A model whose name names its family, or is that of a series whose notation is
    known, and a tool parser that is made for other families. A conclusion from
    names, so a warning. Silent where calls came back, where a chat template other
    than the model's own is served, and where the output shows the notation itself,
    of which other rules speak.

Why it matters:
    Every call is left in content or lost, and nothing in the server's log says so.

Bad:
    `vllm serve Qwen/Qwen3.5-9B --tool-call-parser hermes`

Good:
    `vllm serve Qwen/Qwen3.5-9B --tool-call-parser qwen3_coder`

Source:
    tracker: QwenLM/Qwen3-Coder#537, sgl-project/sglang#26790, NVIDIA/TensorRT-LLM#18084.
"""

from __future__ import annotations

from collections.abc import Iterator

from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Certainty, FindingEvidence, Server, Severity, Stage, Trace
from prompt_debugger.core.diagnose.calls.unparsed_calls import OF_GLM4, family_of_model, is_glm4, named_parser
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, asked_server
from prompt_debugger.core.formats import TABLES


def find(trace: Trace) -> Iterator[Report]:
    """Compare the flags of a command with the model that it serves."""
    server, named = trace.server, named_parser(trace)
    if server is not None and server.tool_parser and server.kind in ("vllm", "sglang") and is_glm4(server.model or ""):
        yield from _report_glm4(trace, server)
        return
    is_alone = trace.refusal is None and trace.raw is None and trace.chat is None and trace.chat_stream is None
    if server is None or named is None or server.chat_template or not is_alone or asked_server(trace):
        return
    yield Report(
        title=f"The parser `{server.tool_parser}` is not the one for `{server.model}`.",
        detail="Judging by its name, the model writes its calls in the notation of "
        f"`{family_of_model(server.model or '')}`, which `{named}` reads and `{server.tool_parser}` does not: calls "
        "would stay in content.",
        evidence=(FindingEvidence("server", quote=f"--tool-call-parser {server.tool_parser}"),),
        fix=f"Start the server with `--tool-call-parser {named}` in place of `{server.tool_parser}`.",
        certainty=Certainty.INFERRED,
    )


def _report_glm4(trace: Trace, server: Server) -> Iterator[Report]:
    """Report any parser set for a model whose calls no parser reads."""
    is_alone = trace.refusal is None and trace.raw is None and trace.chat is None and trace.chat_stream is None
    if server.chat_template or not is_alone or asked_server(trace) or server.tool_parser not in _KNOWN:
        return
    yield Report(
        title=f"The parser `{server.tool_parser}` does not read what `{server.model}` writes.",
        detail="By its name, the model is a GLM-4 of before 4.5, which writes a call as its name and, on the next "
        "line, JSON.",
        evidence=(FindingEvidence("server", quote=f"--tool-call-parser {server.tool_parser}"),),
        fix=OF_GLM4,
        certainty=Certainty.INFERRED,
    )


_KNOWN = frozenset(name for names in TABLES.tool_parsers.values() for name in names)

RULE: Rule = TraceRule(
    code="PD465",
    name="parser-of-other-model",
    severity=Severity.WARNING,
    stage=Stage.PARSE,
    find=find,
    needs=TracePart.SERVER,
    threads=("QwenLM/Qwen3-Coder#537", "sgl-project/sglang#26790", "NVIDIA/TensorRT-LLM#18084"),
)
