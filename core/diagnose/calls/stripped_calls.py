r"""A content that is what is left of a call whose control tokens were taken out: each family leaves something else.

commentary to=functions.f json{"a": 1}        harmony
get_weather\n{"city": "Oslo"}                name and arguments, each between tokens
print(default_api.f(a=1))                     Gemini, with `tool_code` above it or glued to it, or without
call:f{a:1}                                   Gemma
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from prompt_debugger.core.base.json_values import decode_json
from prompt_debugger.core.base.types import Certainty, Severity, Span, Trace
from prompt_debugger.core.diagnose.advice import KEEP_SPECIAL_TOKENS, Step
from prompt_debugger.core.diagnose.calls.bare_lists import model_names
from prompt_debugger.core.diagnose.calls.unparsed_calls import OF_GLM4, is_glm4, parser_steps
from prompt_debugger.core.diagnose.calls.written_calls import is_request_known
from prompt_debugger.core.diagnose.fields import request_tools
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message
from prompt_debugger.core.formats import find_stripped_calls

_DECODER = json.JSONDecoder(strict=False)  # a text that was copied has line feeds in its strings
_RECIPIENT = re.compile(r"(?:analysis|commentary) ?to=functions\.([\w\-]{1,64}?) ?(?:json|code)?(?=\{)")
# Of a header only the recipient is left, with whatever came between it and the arguments.
_LOOSE = re.compile(r"(?m)^[ \t]{0,8}to=functions\.([\w\-]{1,64})\b[^\n{}`\"'<]{0,24}\n?[ \t]{0,8}(?=\{\s{0,8}\")")
_PYTHON = re.compile(
    r"\A\s*+(?:```\w{0,12}\s)?+\s*+(?:print\()?default_api\.([\w.]{1,64})\((.{0,4000})\)\s{0,8}(?:```)?\s{0,8}\Z",
    re.DOTALL,
)
_TOOL_CODE = re.compile(
    r"(?m)^[ \t]{0,8}`{0,3}tool_code\s{0,8}(?:print\s?\()?\s{0,4}default_api\.([\w.]{1,64})\((?:[^`]{0,4000}\))?"
)
_FIRST_LINE = re.compile(
    r"([A-Za-z]\w{0,60}[_.-]\w[\w.-]{0,60})[ \t]{0,4}\n\s{0,8}(?=\{\s*+\")"
)  # a tool's name, no word
_GEMMA = re.compile(r"call:([A-Za-z_][\w.-]{0,64})\{")  # which no sentence begins with
_KIMI = re.compile(r"functions\.([\w.-]{1,64}):\d{1,4}\s{0,4}(?=\{)")
_MAX_NAMES = 20


def stripped_calls(trace: Trace, content: str) -> Iterator[Report]:
    """Report a content that is nothing but what is left of a call."""
    names = tuple(tool.name for tool in request_tools(trace.request))
    text = content.strip()
    if (headed := _report_without_tokens(trace, content, names)) is not None:
        yield headed
        return
    if (python := _PYTHON.match(content)) is not None:
        yield _report_python(content, python[1], Span(0, len(content)))
        return
    if (named := _FIRST_LINE.match(text)) is not None and (report := _named_in_first_line(trace, named, names)):
        yield report
        return
    headed_by = _GEMMA.match(text)
    named_by = headed_by or _KIMI.match(text)
    known = names if named_by is None or is_request_known(trace) else (named_by[1],)
    found = next(iter(find_stripped_calls(text, known)), None)
    if found is None or found.char_span.start > 0 or not re.search(r"\}\]?\Z", text):
        return
    yield Report(
        title=f"Content looks like a tool call to `{found.name}` that lost its markers.",
        detail=f"It is {text[:120]!r}, which is what remains of a tool call when its control tokens are removed.",
        evidence=(in_message("content", content, Span(0, len(content))),),
        fix=parser_steps(trace, "gemma4" if headed_by is not None and "<escape>" not in text else found.format),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _named_in_first_line(trace: Trace, named: re.Match[str], names: tuple[str, ...]) -> Report | None:
    """Report a tool's name on its own line, and its arguments below: the markers around both are missing."""
    is_offered = named[1] in names or not is_request_known(trace)
    if not is_offered or not isinstance(decode_json(named.string[named.end() :]), dict):
        return None
    evidence = (in_message("content", named.string, Span(0, len(named.string))),)
    if any(map(is_glm4, model_names(trace))):
        return Report(
            title=f"Content is a tool call to `{named[1]}` as GLM-4 writes it.",
            detail=f"Its first line is the name, and the rest a JSON object: {named.string[:120]!r}.",
            evidence=evidence,
            fix=OF_GLM4,
            certainty=Certainty.INFERRED,
            severity=Severity.WARNING,
        )
    return Report(
        title=f"Content looks like a tool call to `{named[1]}` that lost its markers.",
        detail=f"Its first line is the name, and the rest a JSON object: {named.string[:120]!r}. Families with special "
        "tokens around name and arguments leave this when a server removes the tokens, or the model left them out.",
        evidence=evidence,
        fix=(KEEP_SPECIAL_TOKENS, Step("Start the server with the tool parser of this model's family.")),
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )


def _report_without_tokens(trace: Trace, content: str, names: tuple[str, ...]) -> Report | None:
    """Report a call whose header and arguments are left: `commentary to=functions.f json{…}`."""
    offered = names if is_request_known(trace) else tuple(dict.fromkeys(_RECIPIENT.findall(content)[:_MAX_NAMES]))
    places = [(one.name, one.char_span) for one in find_stripped_calls(content, offered) if one.format == "harmony"]
    for name, head in [*places, *((one[1], Span(*one.span())) for one in _LOOSE.finditer(content))]:
        try:
            arguments, stop = _DECODER.raw_decode(content, head.stop)
        except (ValueError, RecursionError):
            continue
        if isinstance(arguments, dict):
            span = Span(head.start, stop)
            return Report(
                title=f"A tool call to `{name}` is in content without its control tokens.",
                detail=f"Content contains {content[slice(*span)].strip()[:120]!r}: a header of gpt-oss (harmony) with "
                "its recipient, and the arguments. The model called the tool; the server took its control tokens out "
                "and handed the call on as text.",
                evidence=(in_message("content", content[slice(*span)], span),),
                fix=parser_steps(trace, "harmony"),
                certainty=Certainty.INFERRED,
            )
    return None


def report_tool_code(trace: Trace, content: str) -> Report | None:
    """Report Gemini's call as Python below the word `tool_code`; of Gemma, whose family it is, others say more."""
    found = _TOOL_CODE.search(content) if "default_api." in content else None
    if found is None or any("gemma" in name.lower() for name in model_names(trace)):
        return None
    return _report_python(content, found[1], Span(*found.span()))


def _report_python(content: str, name: str, span: Span) -> Report:
    return Report(
        title=f"A tool call to `{name}` is in content as Python text.",
        detail=f"Content has {content[slice(*span)].strip()[:120]!r}: `default_api` is the name under which Gemini "
        "writes its calls as Python, and this one was not returned as a call.",
        evidence=(in_message("content", content[slice(*span)], span),),
        fix="Do not run the text. Check that the request declares the tools in its own field, then ask again; simpler "
        "schemas and names make this rarer.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
    )
