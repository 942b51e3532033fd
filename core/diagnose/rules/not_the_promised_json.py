"""The answer is not the JSON that the request promises.

What it finds:
    With `response_format` of type `json_object` or `json_schema`, or with
    `structured_outputs.json`, an answer without tool calls whose content is not JSON, or
    breaks the schema: the constraint was ignored; or is the document several times, end to
    end. A warning at the stage `complete` where a
    limit cut the answer before its JSON was complete; an answer that is complete although a limit
    was reached is not judged. A document that is not closed, and reasoning instead of JSON,
    have separate rules.

Why it matters:
    The caller decodes without checking. Some servers drop a constraint that they do not
    support, and answer 200.

Bad:
    `"response_format": {"type": "json_object"}`, content `Here is the JSON: {…}`

Good:
    Content `{…}`

Source:
    tracker: vllm-project/vllm#50948, vllm-project/vllm#47027, mlc-ai/xgrammar#192.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Severity, Stage, Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.fields import content_of, reasoning_of
from prompt_debugger.core.diagnose.markers import CHANNEL
from prompt_debugger.core.diagnose.output_limit import output_limit
from prompt_debugger.core.diagnose.promised import Breach, Promise, breach_of, promised_json
from prompt_debugger.core.diagnose.rules.base import Report, TraceRule
from prompt_debugger.core.diagnose.thinking import switched_off, thinks_by_effort
from prompt_debugger.core.diagnose.thought_switches import is_ollamas_own
from prompt_debugger.core.diagnose.trace_queries import TracePart, completion_tokens, in_message, in_request
from prompt_debugger.core.diagnose.words import counted

_SEES_NO_END = Step(
    "Ask with thinking switched off, and compare: servers constrain what follows the reasoning, and where the "
    "reasoning parser does not see its end, nothing. If it is right then, report it to the authors of that parser."
)
_OF_A_PART = "Check that the server supports this part of the schema: some drop an unsupported constraint silently."
_WITH_THINKING = (
    "Ask without `{off}`, and compare: some servers apply the constraint only after the reasoning, which is not "
    "written then."
)
_AT_TENSORRT = (
    "Start the server with `guided_decoding_backend: xgrammar` in the file of `--extra_llm_api_options`; without it, "
    "`trtllm-serve` answers as if `response_format` had not been sent. If that does not help, update TensorRT-LLM: "
    "some releases enforce JSON, but not the schema (NVIDIA/TensorRT#4855)."
)
_AT_OLLAMA = (
    "Update Ollama, and compare with another build of the same model: some releases ignore `format` for MLX builds "
    "(ollama/ollama#17183)."
)
_NOT_AT_OLLAMA = (
    "Send the schema, or `json`, in `format`: Ollama's own API reads no other field for it. `response_format` belongs "
    "to its `/v1/chat/completions`."
)
_FENCE = re.compile(r"\A\s*+```\w{0,10}\n(.*?)\n?```", re.DOTALL)


def find(trace: Trace) -> Iterator[Report]:
    """Decode and validate the content that was promised as JSON."""
    promise = promised_json(trace)
    breach = None if promise is None else breach_of(trace, promise)
    if promise is None or breach is None or trace.chat is None:
        return
    if isinstance(trace.chat.message.get("content"), dict):  # the server decoded it, as Cloudflare's does
        return
    kind, words = breach
    content = content_of(trace.chat.message) or ""
    evidence = (in_message("content", content), in_request(promise.field, promise.kind))
    if kind is Breach.CUT:
        yield _cut_short(trace, promise, content, words)
    elif kind is Breach.SCHEMA:
        is_other_type = words.startswith("$: ") and " is not of type " in words
        yield Report(
            title=f"The answer is JSON, but violates the schema that `{promise.field}` gives.",
            detail=f"Content is {content[:80]!r}: {words}. The server did not enforce "
            + ("any of it." if is_other_type else "it.")
            + _echo(content),
            evidence=evidence,
            fix=(_enforced(trace, promise),) if is_other_type else _OF_A_PART,
        )
    elif kind is Breach.REPEATED:
        yield Report(
            title=f"The answer contains the JSON that `{promise.field}` promises more than once.",
            detail=f"Content is {content[:80]!r}: {words}, so it is not JSON as a whole. Each of them is complete.",
            evidence=evidence,
            fix="Decode the first document and leave the rest out (Python: `json.JSONDecoder().raw_decode`). The "
            "model went on after a complete document, which the server's constraint did not prevent: report it to "
            "the server's authors. If it happens with tools, offer none in the request that asks for the document.",
        )
    elif kind is Breach.IGNORED and not content.strip():
        yield _nothing(trace, promise)
    elif kind is Breach.IGNORED and CHANNEL.match(content) is None:  # which has its own rule
        yield Report(
            title=f"The answer is not the JSON that `{promise.field}` promises.",
            detail=(
                f"Content is {content[:80]!r}: {words}. Constrained output could not begin like this: the "
                f"server ignored the constraint.{_dress(content)}"
            ),
            evidence=evidence,
            fix=(
                *([] if reasoning_of(trace.chat.message) is None else [_SEES_NO_END]),
                _enforced(trace, promise),
            ),
        )


def _nothing(trace: Trace, promise: Promise) -> Report:
    """Report an empty answer: no constraint allows it, so it was not applied, or what was written was removed."""
    off = switched_off(trace)
    is_of_ollama = is_ollamas_own(trace.chat)
    written = completion_tokens(trace)
    counts = "" if not written else f" The server counted {counted(written, 'token')} of output."
    always = " This model always thinks; it takes only levels." if thinks_by_effort(trace) else ""
    return Report(
        title=f"The answer is empty where `{promise.field}` promises JSON.",
        detail=f"Empty text is not JSON: the constraint was not applied, or a parser removed what was written.{counts}",
        evidence=(in_message("content", ""), in_request(promise.field, promise.kind)),
        fix=(
            *([] if off is None else [Step(_WITH_THINKING.format(off="think" if is_of_ollama else off) + always)]),
            _enforced(trace, promise),
        ),
    )


def _enforced(trace: Trace, promise: Promise) -> Step:
    """Return what to check where a constraint was not applied at all."""
    if trace.server_kind == "tensorrt-llm":
        return Step(_AT_TENSORRT)
    if is_ollamas_own(trace.chat):
        return Step(_AT_OLLAMA if promise.field == "format" else _NOT_AT_OLLAMA)
    return Step(
        f"Check that this server and its release read `{promise.field}`, and that it supports this schema: "
        "some drop an unsupported constraint silently."
    )


def _echo(content: str) -> str:
    """Say that the JSON is a schema, where it is one: the model repeated what it was to follow."""
    value = decode_json(content)
    is_schema = isinstance(value, dict) and {"type", "properties"} <= value.keys()
    return " It is a JSON Schema: the model repeated the schema instead of following it." if is_schema else ""


def _dress(content: str) -> str:
    """Say what surrounds the JSON in a text that is not JSON as a whole."""
    fenced = _FENCE.search(content)
    if fenced is not None and decode_json(fenced[1]) is not None:
        return " The JSON is in a code fence; a client can read what is inside it."
    start, stop = content.find("{"), content.rfind("}") + 1
    if 0 <= start < stop and isinstance(decode_json(content[start:stop]), dict):
        return " There is text around a JSON object; a client can read just the object."
    return ""


def _cut_short(trace: Trace, promise: Promise, content: str, cut: str) -> Report:
    """Report a promise that was broken by a limit and not by the server's constraint."""
    limit = output_limit(trace)
    when = "was complete" if content.strip() else "began"
    return Report(
        title=f"The answer was cut before the JSON that `{promise.field}` promises {when}.",
        detail=f"Content ends with {content[-60:]!r}, and {cut}. Cut by {limit.name}.",
        evidence=(in_message("content", content), in_request(promise.field, promise.kind)),
        fix=(Step(f"Do not decode this answer. {limit.step.text}"),),
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


RULE: Rule = TraceRule(
    code="PD505",
    name="not-the-promised-json",
    severity=Severity.ERROR,
    stage=Stage.CONTRACT,
    find=find,
    needs=TracePart.ANSWER,
    threads=("vllm-project/vllm#50948", "vllm-project/vllm#47027", "mlc-ai/xgrammar#192"),
)
