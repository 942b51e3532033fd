"""A call in a notation that no server parses: what it is, and what helps. `client_markup` finds it."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Certainty, Severity, Span, Stage, Trace
from prompt_debugger.core.diagnose.calls.broken_arguments import stops_early
from prompt_debugger.core.diagnose.calls.client_markup import (
    ClientCall,
    Notation,
    find_client_call,
    find_schema_input,
)
from prompt_debugger.core.diagnose.calls.written_calls import READ_AS_CONTENT, is_request_known
from prompt_debugger.core.diagnose.fields import message_texts, request_tools
from prompt_debugger.core.diagnose.rules.base import Report
from prompt_debugger.core.diagnose.trace_queries import in_message

BEFORE_OTHERS = (Notation.CLAUDES, Notation.DSML)  # whose tags other families share
# What calls are that no parser takes out, and what helps.
_OF_NOTATION = {
    Notation.CLAUDES: (
        "It is Anthropic's own notation in plain text. Claude writes it if the tools or earlier calls are in the "
        "prompt as text instead of in the API's fields; no parser reads it there.",
        "Send the tools in `tools`, and calls and results of the history as `tool_use` and `tool_result` blocks, not "
        "as text in prompts. A proxy in between that writes them out has to read them back, too.",
    ),
    Notation.INVENTED: (
        "It is not the notation of a model family: the model made this XML up, or learnt it from a prompt or from "
        "examples in the history. Only a client that taught it can read it.",
        "Check that the request has the tools in its field `tools`, and that the prompt contains them (`render`): a "
        "model that is offered no tools, or only reads about them in text, invents a notation. Send calls of the "
        "history as `tool_calls`, not as text. If a client's prompt asks for this XML, use the client that reads it.",
    ),
    Notation.TOOLCALL: (
        "Nemotron-Mini's template teaches these tags in small letters, with `name` after `arguments`. The server "
        "returned them as text: its parsers look for other tags.",
        "Read the call in the client: the tag contains JSON with `name` and `arguments`. Or take a model whose calls "
        "this server parses; a larger token limit or another prompt does not change it.",
    ),
    Notation.REACT: (
        "It is the ReAct notation, which agent frameworks teach in their prompt and read themselves. The server "
        "returned it as text, as it should.",
        "Use the framework's ReAct agent, and stop the model at `Observation:`. If the model has its own notation for "
        "calls, send the tools in `tools` instead and drop the ReAct prompt, which makes it write another.",
    ),
    Notation.TAUGHT: (
        "It is XML that a client teaches in its prompt, as Cline and Roo Code do, and reads itself. The server "
        "returned it as text, as it should.",
        "Set the client's tool protocol for this model to XML, or to native calls if the server parses them: the "
        "client shows the XML where it expects native calls. Other clients do not read it.",
    ),
    Notation.LISTED: (
        "It is a list in words, as clients and proxies write out calls of the history: the model repeats what it read.",
        "Send calls of the history as `tool_calls` and their results as messages with the role `tool`. If the history "
        "contains none, check that the prompt contains the tools (`render`): a model without a notation writes words.",
    ),
    Notation.AGENTS: (
        "Agent frameworks teach such JSON in their prompt and read it from the text themselves. The server returned it "
        "as text, as it should.",
        "Let the framework read the calls from the text, with its agent for JSON actions. Or have it send `tools`, to "
        "a server that parses this model's calls, and drop the prompt that teaches this form: it hides the model's "
        "own notation. If the request has `tools` already, the model departs from its notation: update the server and "
        "the template.",
    ),
    Notation.WRAPPED: (
        "A model writes it whose prompt or schema describes this object. The server returned it as text, as it should.",
        "Read the object from the text in the client. For calls in `tool_calls`, send `tools` to a server that parses "
        "this model's own notation, and drop the prompt or schema that describes this object.",
    ),
    Notation.PRINTED: (
        "It is a call in the form that clients keep and print, not in a model's notation: the model repeats what it "
        "read in the history, where calls are written out as text.",
        "Send calls of the history as `tool_calls` and their results as messages with the role `tool`; update the "
        "agent framework, which may have written them into the text. Start again without these turns, as the model "
        "repeats them.",
    ),
    Notation.DSML: (
        "The attribute `string` shows it: these are the tags of DeepSeek V3.2 and V4 (DSML), but without the marker "
        "`｜DSML｜` that their parsers look for. It was removed in transit, or the model left it out.",
        "If the model is DeepSeek's, start the server with the parser of its version (vLLM `deepseek_v32` or "
        "`deepseek_v4`, SGLang `deepseekv32` or `deepseekv4`) in a current release, and check whether the raw "
        "output has the markers. Another model writes these tags only if it read them: send calls of the history as "
        "`tool_calls`, not as text, and check that the prompt contains the tools in its own notation (`render`).",
    ),
    Notation.PROMPTED: (
        "It is the form that Qwen-Agent teaches in its prompt (`✿FUNCTION✿`, `✿ARGS✿`) and reads from the text itself; "
        "a server does not parse it, and in other brackets Qwen-Agent does not find it, either.",
        "Let Qwen-Agent read the text, and use a model that keeps to the form; or send `tools` to a server that parses "
        "this model's own notation (Qwen-Agent: `use_raw_api`; vLLM: `--enable-auto-tool-choice --tool-call-parser "
        "hermes` for Qwen2.5 and Qwen3).",
    ),
    Notation.MARKED: (
        "It is JSON with the key `tool` after `[TOOL_CALL]`, which no family's template teaches: the model made it up, "
        "or repeats what a client wrote into the history.",
        "Check that the request has the tools in its field `tools`, and that the prompt contains them (`render`). Send "
        "calls of the history as `tool_calls`, not as text, and start again without these turns: the model repeats "
        "them.",
    ),
    Notation.MIXED: (
        "Its name is in one form and its arguments are in another. Parsers look for one notation whole, such as "
        "`<function=NAME>` with values in tags or a JSON object with `name` and `arguments`, and leave everything else "
        "in the text.",
        "Do not run this call; ask again. Check that the tools' instructions in the prompt (`render`) and the calls of "
        "the history are in one notation, that of the model's own template. A grammar for calls keeps them whole "
        "(`tool_choice` as `required`, or `strict` in the tool, where the server constrains calls by it).",
    ),
    Notation.TOOL_TAG: (
        "The tool's name is the name of the tag. No model family's template teaches that: the model made it up, or a "
        "prompt or an example in the history describes its tools so, and only the client that wrote it can read it.",
        "Check that the request has the tools in its field `tools`, and that the prompt contains them in the model's "
        "own notation (`render`); then have the server parse that. Send calls of the history as `tool_calls`, not as "
        "text. If a prompt teaches these tags, read them from the text in the client, or drop them from the prompt.",
    ),
    Notation.JSON_RPC: (
        "It is what a client of MCP sends to a server (`tools/call`), not the notation of a model: the model read "
        "about the protocol, in a prompt or in the history, and writes the client's part. No server parses it.",
        "Have the client list the tools of the MCP server and send them in the request's field `tools`; then the model "
        "writes its own notation, and the client makes the `tools/call` request of it. Drop JSON-RPC from the prompt "
        "and from the history.",
    ),
}
_IN_WORDS = (
    Notation.REACT,
    Notation.LISTED,
    Notation.AGENTS,
    Notation.WRAPPED,
    Notation.PRINTED,
    Notation.DSML,
    Notation.PROMPTED,
    Notation.MARKED,
    Notation.MIXED,
    Notation.JSON_RPC,
)
_OF_XLAM = (  # of a model that nothing names
    " The first models of xLAM (such as `xLAM-1b-fc-r`) write it, too.",
    " For the first xLAM models, give vLLM a parser for it (`--tool-parser-plugin FILE`): its own `xlam` reads "
    "the list alone.",
)
_AS_DATA = (Notation.AGENTS, Notation.WRAPPED, Notation.JSON_RPC)  # JSON, which a request may want
_MADE_UP = re.compile(r"\nObservation:[ \t]*\S")


def client_call(trace: Trace, content: str) -> ClientCall | None:
    """Return a call in a notation that no server parses; JSON is an answer where the request wants some."""
    offered = [tool.name for tool in request_tools(trace.request)]
    found = find_client_call(content, offered)
    if found is None or found.notation not in _AS_DATA:
        return found
    is_wanted = bool(trace.request.body.get("response_format")) or (offered and found.name not in offered)
    return None if is_wanted else found


def report_client_call(trace: Trace, call: ClientCall, content: str) -> Report:
    """Report a call in XML that is not the model family's notation, so that no server's parser takes it out."""
    if call.notation is Notation.TEXT_AS_NAME:
        return _report_text_as_name(call, content)
    if call.notation is Notation.REACT and (copied := find_schema_input(content)) is not None:
        return _report_schema_input(copied, content)
    is_made_up = call.notation is Notation.REACT and _MADE_UP.search(content, call.span.stop) is not None
    given = content[call.span.stop :].strip() if call.notation is Notation.REACT else ""
    if given.startswith("{") and stops_early(given):
        return _report_open_input(trace, call, content)
    if call.notation is Notation.REACT and not is_made_up and _teaches_react(trace):
        return _report_as_asked(call, content)
    detail, fix = _OF_NOTATION[call.notation]
    if call.notation is Notation.WRAPPED and _may_be_xlams(trace):
        detail, fix = f"{detail}{_OF_XLAM[0]}", f"{fix}{_OF_XLAM[1]}"
    if call.notation is Notation.PROMPTED and "ARGS" not in content[slice(*call.span)]:
        detail += " The marker before the arguments is missing, so Qwen-Agent takes them for a part of the name."
    may_be_example = call.notation is Notation.JSON_RPC and _is_after_words(trace, call, content)
    if may_be_example:
        detail += " The request is unknown, so it may be an example that was asked for."
    if is_made_up:
        if READ_AS_CONTENT in trace.notes:  # as it was pasted: it may be a framework's log
            return _report_observed(call, content)
        detail += (
            " It continues with an `Observation:`: the model made the tool's result up, as nothing stopped it there."
        )
    return Report(
        title=f"A tool call to `{call.name}` is in content as {form_of(call)} that no server parses.",
        detail=detail,
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix=fix,
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE if may_be_example else Severity.WARNING,
    )


def _may_be_xlams(trace: Trace) -> bool:
    """Return whether the model may be one of xLAM: nothing names another model or parser."""
    server = trace.server
    known = () if server is None else (server.tool_parser, server.model, *server.served_models)
    names = [name for name in (trace.request.body.get("model"), *known) if isinstance(name, str) and name]
    return not names or any("xlam" in name.lower() for name in names)


def _is_after_words(trace: Trace, call: ClientCall, content: str) -> bool:
    """Return whether a text has words before a call whose tool no request is known to offer."""
    has_words = content[: call.span.start].strip(" \n\t`").removesuffix("json").strip(" \n\t`") != ""
    return has_words and not is_request_known(trace)


def form_of(call: ClientCall) -> str:
    """Return what a call is written as."""
    return call.notation.value if call.notation in _IN_WORDS else "XML"


def _teaches_react(trace: Trace) -> bool:
    """Return whether the request's own text asks for calls in ReAct: then its client reads them."""
    asked = (field for field in message_texts(trace.request) if field.role != "assistant")
    return any("Action Input:" in field.text for field in asked)


def _report_as_asked(call: ClientCall, content: str) -> Report:
    return Report(
        title=f"The call to `{call.name}` is in content as lines of `Action`, as the request's prompt asks.",
        detail="The prompt teaches the ReAct notation, which the agent framework that wrote it reads from the text.",
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix="If the framework does not run it, check how its parser reads this text. For calls in `tool_calls`, have "
        "it send `tools` instead of this prompt.",
        severity=Severity.NOTE,
    )


def _report_open_input(trace: Trace, call: ClientCall, content: str) -> Report:
    """Report a call in ReAct whose input is JSON without an end: no framework can read it."""
    is_copy = READ_AS_CONTENT in trace.notes
    return Report(
        title=f"The input of the call to `{call.name}` in content, in lines of `Action`, is not closed.",
        detail=f"Below `Action Input:` a JSON object begins, and the text ends inside it, with {content[-60:]!r}."
        + (" It may also go on where it was copied from." if is_copy else ""),
        evidence=(in_message("content", content[call.span.start :], Span(call.span.start, len(content))),),
        fix="Do not run this call. If finish_reason is `length`, raise `max_tokens`; otherwise look at the `stop` "
        "strings of the request, of which none may occur in a tool's input, and ask again.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _report_schema_input(call: ClientCall, content: str) -> Report:
    """Report a call in ReAct whose input is the schema that the framework's prompt shows of the tool."""
    return Report(
        title=f"The input of the call to `{call.name}` in content, in lines of `Action`, is a schema, not values.",
        detail="Below `Action Input:` is an object with `type` and `properties`, as the framework's prompt declares "
        "the tool: the model copied the declaration. A framework passes its keys to the tool, which has no parameters "
        "called so.",
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix="Do not run this call; ask again. Show in the prompt what an input looks like, and `{}` for a tool "
        "without parameters. Small models copy what they are shown: if the server parses this model's own calls, have "
        "the framework send `tools` (its agent for function calling) instead of this prompt.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )


def _report_observed(call: ClientCall, content: str) -> Report:
    """Report a call and its result in a text that may be an agent's log, in which the framework wrote the result."""
    return Report(
        title=f"The text contains a call to `{call.name}` as lines of `Action`, and an `Observation:` after it.",
        detail="It is the ReAct notation, which agent frameworks teach in their prompt and read themselves. In a log "
        "of an agent nothing is wrong with it: the framework ran the tool and wrote the `Observation:`. Only if all of "
        "this is one answer of the model did the model write the result itself.",
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix="To settle it, look at the server's answer that contains this call: if it goes on after the line "
        '`Action Input:`, send `stop: ["Observation:"]`.',
        certainty=Certainty.INFERRED,
        severity=Severity.NOTE,
    )


def _report_text_as_name(call: ClientCall, content: str) -> Report:
    """Report a call whose element for the name holds other text: no client finds a tool of that name."""
    return Report(
        title="A tool call in content has other text where its tool's name belongs.",
        detail=f"The element for the name holds {len(call.name):,} characters, beginning with "
        f"{call.name[:60]!r}: the model put its answer, or part of it, into the call. The XML is that of a client's "
        "prompt, and the client looks for a tool of that name.",
        evidence=(in_message("content", content[slice(*call.span)], call.span),),
        fix="Switch the client's tool calls from its prompt to the API's own (native, function calling), which keeps "
        "text and call apart. If it has to be the prompt, ask again without this turn in the history: the model "
        "repeats what it reads.",
        certainty=Certainty.INFERRED,
        severity=Severity.WARNING,
        stage=Stage.COMPLETE,
    )
