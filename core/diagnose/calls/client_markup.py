"""Calls in XML that no server's parser takes out: what clients teach in their prompts, and what Claude writes itself.

    <read_file>                                   <function_calls>
    <path>a.md</path>                             <invoke name="Bash">
    </read_file>                                  <parameter name="command">ls</parameter> …

And what models make up where nothing teaches them a notation, or clients teach: an element that says it is a call, with
the tool's name in a separate element, or as an element around JSON.

    <tool_use>                                    <toolcall><shell>{"command": "ls"}</shell></toolcall>
      <name>read</name>
      <arguments>{"path": "a.md"}</arguments> …   <functioncall {"name": "shell", "arguments": …}>

    <call_record tool="read"><parameter name="path">a.md</parameter></call_record>

JSON with the keys of an agent framework, where a text begins with it or names it, and calls as clients print them:

    Action:                                       Calling tools:
    {"tool_name": "read", "tool_arguments": {}}   [{'id': 'c1', 'type': 'function', 'function': {'name': 'read', …

DSML without its marks, Qwen-Agent's function prompt in other brackets, and JSON with `tool` after a made-up marker:

    <tool_calls><invoke name="find">              [FUNCTION] find               [TOOL_CALL]
    <parameter name="q" string="true">rain…       [ARGS] {"q": "rain"}          {"tool": "find", "args": …}

Half of one notation and half of another, where a model keeps to neither:

    <function=find={"q": "rain"}</function>       {"function=find", "q": …}     find(parameters={"q": "rain"})
    find{"q": "rain"}</function>                  <name>find</parameter><parameter=q>…

An element that has the name of its tool, which `named_tags` finds:

    <get_weather>{"city": "Oslo"}</get_weather>

The request that an MCP client sends to a server, at the end of a content, or of a tool that the request offers:

    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find", "arguments": {"q": "rain"}}}

Source: the system prompts of Cline, Roo Code and Cherry Studio; Anthropic's guide to tool use before its `tools` field,
2024.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from enum import StrEnum
from typing import NamedTuple

from prompt_debugger.core.base.types import Span
from prompt_debugger.core.diagnose.calls.named_tags import find_named_tag

_PREFIX = "antml:"
_INVOKE = re.compile(
    rf"(?m)^[ \t]*(?:<(?:{_PREFIX})?function_calls>\s{{0,8}}<(?:{_PREFIX})?invoke|<{_PREFIX}invoke)"
    r"\s{1,4}name=\"([\w.-]{1,100})\">"
)
_OPEN = re.compile(r"(?m)^[ \t]*<([a-z][a-z0-9_]{0,60})>(?=\s{0,8}(?:<[a-z_]{1,40}>|\{))")
_CALLS = "tool_use|tool_call|toolcall|tool|function_call|functioncall|function|invoke|action"
_HTML = r"(?!(?:br|p|div|span|code|pre|b|i|li|ul|ol|td|tr|table|summary|details)\b)"  # around what a page shows
_NAMED = re.compile(
    rf"<({_CALLS})>\s{{0,8}}<(?:name|tool_name|invoke_name|function_name|tool)>\s{{0,8}}([\w.:/-]{{1,100}})\s{{0,8}}</"
    # A declaration goes on with what it is for, or with the names of its parameters.
    r"(?!\w{1,20}>\s{0,8}<(?:description|parameters>\s{0,8}<parameter>\s{0,8}<name)>)"
)
# A whole element of a call whose name holds more than a name, most often the text of the answer.
_TEXT_AS_NAME = re.compile(
    rf"<({_CALLS})>\s{{0,8}}<(?P<of>name|tool_name|function_name)>(?P<text>[^<>]{{1,20000}})</(?P=of)>\s{{0,8}}"
    r"<(?P<tag>arguments|args|parameters|input)>\s{0,8}\{"
)
_AROUND_CALL = re.compile(
    r"<(tools|functions|tool|toolcall|function_call|functioncall|json)>\s{0,8}\{\s{0,8}\"name\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\"\s{0,4},\s{0,8}"
    r"\"(?:arguments|parameters)\"\s{0,4}:\s{0,4}\{(?!\s{0,8}\"(?:type|properties)\")"
)
_REACT = re.compile(
    r"(?m)^Action:[ \t]{0,4}(?!(?:None|none|N/A|null)[ \t]{0,4}\n)([\w.:/-][\w.:/ -]{0,99}?)[ \t]{0,4}\nAction Input:"
)
# An input that is the schema of the tool, as frameworks put it into their prompt: `AttributedDict()` is LlamaIndex's.
_SCHEMA_INPUT = re.compile(
    r"(?m)^Action:[ \t]{0,4}(?P<name>[\w.:/-][\w.:/ -]{0,99}?)[ \t]{0,4}\nAction Input:\s{0,4}"
    r"\{\s{0,8}['\"]type['\"]\s{0,4}:\s{0,4}['\"]object['\"]\s{0,4},\s{0,8}['\"]properties['\"]\s{0,4}:\s{0,4}"
    r"(?:\{|[A-Z]\w{0,40}\()"
)
_BEGINS = (  # of an answer, in a transcript of AutoGen, or below a word for it
    r"(?:\A\s{0,20}|(?m:^)[\w .-]{1,40} \(to [\w .-]{1,40}\):\s{0,4}"
    r"|(?m:^)(?:Action|Calling tools?|Tool calls?):\s{0,4}(?:```(?:json)?\s{0,4})?)"
)
_AGENTS = re.compile(  # words are an input only below a key that names the tool or the action: a record has `args`, too
    _BEGINS
    + r"\{\s{0,20}[\"'](?:(?:tool|function|action)(?:_name)?[\"']\s{0,4}:\s{0,4}[\"']([\w.:/-]{1,100})[\"']\s{0,4},"
    r"\s{0,20}[\"'](?:(?:tool|action)_(?:arguments|args|input|parameters|params)[\"']\s{0,4}:(?=\s{0,8}[{\"'])"
    r"|(?:arguments|args|input|parameters|params)[\"']\s{0,4}:(?=\s{0,8}[\"']?\{)))"
    r"(?!\s{0,8}\{\s{0,8}[\"'](?:type[\"']\s{0,4}:\s{0,4}[\"']object|properties)[\"'])"
)
_WRAPPED = re.compile(  # a list of calls as a field, each with its name first: no answer and no delta has that
    _BEGINS + r"\{\s{0,20}\"tool_calls\"\s{0,4}:\s{0,4}\[\s{0,20}\{\s{0,20}"
    r"\"(?:name|function|tool|tool_name|function_name)\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\""
)
_PRINTED = re.compile(
    _BEGINS
    + r"\[?\s{0,8}\{\s{0,20}(?:[\"']id[\"']: ?[\"'][^\"']{0,100}[\"'],\s{1,20}[\"']type[\"']: ?[\"']function[\"'],"
    r"\s{1,20}[\"']function[\"']: ?\{\s{0,20}[\"']name[\"']: ?[\"']([\w.:/-]{1,100})[\"']"
    r"|'name'\s{0,4}:\s{0,4}'([\w.:/-]{1,100})'\s{0,4},\s{0,20}'(?:arguments|parameters|args)'\s{0,4}:\s{0,8}\{"
    r"(?!\s{0,8}'(?:type'\s{0,4}:\s{0,4}'object|properties)'))"
)
_RPC = re.compile(
    r"\{(?:\s{0,20}\"(?:jsonrpc|id|method)\"\s{0,4}:\s{0,4}(?:\"[^\"\n]{0,80}\"|\d{1,20}|null)\s{0,4},){1,3}"
    r"\s{0,20}\"params\"\s{0,4}:\s{0,4}\{\s{0,20}\"name\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\""
)
_RPC_METHOD = '"tools/call"'
_FENCE_AROUND = re.compile(r"\s*+(?:```(?:json)?)?\s*+")
_DECODER = json.JSONDecoder(strict=False)
_PAIR = re.compile(
    r"<(?:function|tool)[-_]name>\s{0,4}(?P<name>[\w.:/-]{1,100})\s{0,4}</(?:function|tool)[-_]name>\s{0,8}"
    r"<(?P<tag>arguments|args|parameters|input)>\s{0,8}\{"
)
# `string` as an attribute of a parameter is DSML's alone.
_DSML = re.compile(
    r"(?:<(?:function_?calls?|tool_?calls?|calls)>\s{0,8})?<invoke name=\"([\w.:/-]{1,100})\">\s{0,8}"
    r"<parameter name=\"[^\"\n]{1,100}\" string=\"(?:true|false)\">"
)
_DSML_END = re.compile(r"</invoke>(?:\s{0,8}</(?:function_?calls?|tool_?calls?|calls)>)?")
_PROMPTED = re.compile(
    r"(?:\[FUNCTION\]|\u273fFUNCTION\u273f):?[ \t]{0,4}([\w.:/-]{1,100})"
    r"(?:,?\s{1,4}(?:\[ARGS\]|\u273fARGS\u273f):?[ \t]{0,4}|(?<=\w),?[ \t\n]{1,4})\{"
)
_MARKED = re.compile(
    r"\[TOOL_CALL\]\s{0,8}\{\s{0,8}\"(?:tool|tool_name|name|function)\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\""
)
# Of a tag, a key or a call in Python the name, and then the arguments in a form that does not go with it.
_MIXED = (
    re.compile(r"<function=(?P<name>[\w.:/-]{1,100})\s{0,4}[=,(:]?\s{0,4}(?=\{)"),
    re.compile(r"<name>\s{0,4}(?P<name>[\w.:/-]{1,100})\s{0,8}</parameter>\s{0,8}<parameter="),
    re.compile(r"\A\s{0,8}\{\s{0,8}\"(?:function|tool|name)=(?P<name>[\w.-]{1,80})\"\s{0,8},"),
    re.compile(r"\A\s{0,8}(?P<name>[A-Za-z_]\w{1,80})\(\s{0,4}(?:parameters|arguments|args)\s{0,4}=\s{0,4}(?=\{)"),
)
_HEADLESS = re.compile(r"\A\s{0,8}(?P<name>[A-Za-z_][\w.-]{1,80})\s{0,4}\(?(?=\{\s{0,8}[\"}])")
_CLOSES = "</function>"
_LISTED = re.compile(
    r"(?m)^(?:Tool|Function)[ _][Cc]alls?:[ \t]{0,4}\n[ \t]{0,4}[-*] ([\w.:/-]{1,100})(?:: ?(?=\{)|\((?=\{|\w{1,60}=))"
)
_AROUND_LIST = re.compile(
    r"<([a-z][a-z_-]{0,30})>\s{0,8}\{\s{0,8}\"tool_calls\"\s{0,4}:\s{0,4}\[\s{0,8}\{[^<>]{0,400}?"
    r"\"name\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\""
)
_IN_TAG = re.compile(  # JSON within the brackets of the tag itself
    r"<(functioncall|function_call|toolcall|tool_call)\s{1,4}\{\s{0,8}\"name\"\s{0,4}:\s{0,4}\"([\w.:/-]{1,100})\""
)
_TOOLCALL = re.compile(r"<toolcall>\s{0,8}(?=\{\s{0,8}\"(?:type|arguments)\")")  # the name comes last
# The tool's name is an attribute of an element that says it is a call, and each value has its name in one, too.
_ATTRIBUTED = re.compile(
    r"<(?!invoke |action |function name)"
    r"((?:[a-z]{1,20}[_-]){0,2}(?:tool|call|invoke|function|action)(?:[_-][a-z]{1,20}){0,2})"
    r"\s{1,4}(?:tool|function|tool_name|function_name|name)=\"([\w.:/-]{1,100})\"\s{0,4}>"
    r"\s{0,8}<(param|parameter|arg|argument) name=\"[^\"\n<>]{1,100}\">(?=[^<]{0,20000}</\3>)"
)
_AROUND_JSON = re.compile(rf"<({_CALLS})>\s{{0,8}}<{_HTML}([A-Za-z][\w.-]{{0,60}})>\s{{0,8}}\{{")
# Tools that Cline, Roo Code and their kin describe in their prompts.
_TAUGHT = frozenset(
    {
        "access_mcp_resource", "apply_diff", "ask_followup_question", "attempt_completion", "browser_action",
        "codebase_search", "delete_file", "edit_file", "execute_bash", "execute_command", "fetch_instructions",
        "insert_content",
        "list_code_definition_names", "list_files", "new_task", "plan_mode_respond", "read_file", "replace_in_file",
        "search_and_replace", "search_files", "str_replace_editor", "switch_mode", "update_todo_list", "use_mcp_tool",
        "write_file", "write_to_file",
    }
)  # fmt: skip


class Notation(StrEnum):
    """Whose notation it is."""

    CLAUDES = "Anthropic's"
    TAUGHT = "a client's"
    INVENTED = "nobody's"
    TOOLCALL = "Nemotron-Mini's"
    TEXT_AS_NAME = "text in place of a name"
    REACT = "lines of `Action`"
    LISTED = "a list in words"
    AGENTS = "JSON with keys of an agent framework"
    WRAPPED = "JSON with a list `tool_calls`"
    PRINTED = "a printed copy of a call"
    DSML = "DeepSeek's tags without their marks"
    PROMPTED = "lines of Qwen-Agent's function prompt"
    MARKED = "JSON after a made-up marker"
    MIXED = "a mixture of notations"
    TOOL_TAG = "an element with the tool's name"
    JSON_RPC = "a JSON-RPC request of MCP"


class ClientCall(NamedTuple):
    """A call in such a notation.

    Attributes:
        name: The tool.
        span: Where it is.
        notation: Whose notation it is.
    """

    name: str
    span: Span
    notation: Notation


_LINES = (
    (_REACT, Notation.REACT),
    (_LISTED, Notation.LISTED),
    (_AGENTS, Notation.AGENTS),
    (_WRAPPED, Notation.WRAPPED),
    (_PRINTED, Notation.PRINTED),
    (_PROMPTED, Notation.PROMPTED),
    (_MARKED, Notation.MARKED),
)


def find_client_call(text: str, offered: Collection[str] = ()) -> ClientCall | None:
    r"""Return the first call in a notation that no server's parser reads; `None` where there is none.

    >>> find_client_call("Let me look.\n<read_file>\n<path>a.md</path>\n</read_file>").name
    'read_file'
    >>> find_client_call('<toolcall><shell>{"command": "ls"}</shell></toolcall>').name
    'shell'
    >>> find_client_call('Action:\n{"tool_name": "read", "tool_arguments": {"path": "a.md"}}').name
    'read'
    >>> find_client_call('{"tool_calls": [{"function": "light_on", "args": {"room": "hall"}}]}').name
    'light_on'
    >>> find_client_call('<function=read={"path": "a.md"}</function>').notation
    <Notation.MIXED: 'a mixture of notations'>
    >>> find_client_call("<details>\n<summary>More</summary>\n</details>")
    """
    if (tagged := _DSML.search(text)) is not None:  # first, as Claude's tags are the same without its attribute
        closed = _DSML_END.search(text, tagged.end())
        return ClientCall(tagged[1], Span(tagged.start(), len(text) if closed is None else closed.end()), Notation.DSML)
    invoked = _INVOKE.search(text)
    if invoked is not None:
        return ClientCall(invoked[1], Span(invoked.start(), len(text)), Notation.CLAUDES)
    left = _TAUGHT
    for opened in _OPEN.finditer(text):
        name = opened[1]
        if name not in left:
            continue
        closer = f"</{name}>"
        end = text.find(closer, opened.end())
        if end >= 0:
            return ClientCall(name, Span(opened.start(), end + len(closer)), Notation.TAUGHT)
        left -= {name}
    if (named := find_named_tag(text, offered)) is not None:
        return ClientCall(named.name, named.span, Notation.TOOL_TAG)
    if (mini := _in_toolcall(text)) is not None:
        return mini
    return _in_lines(text) or _in_json_rpc(text, offered) or _in_invented_xml(text) or _in_two_notations(text)


def find_schema_input(text: str) -> ClientCall | None:
    r"""Return the first call in lines of `Action` whose input is a schema; `None` where there is none.

    >>> find_schema_input("Action: now\nAction Input: {'type': 'object', 'properties': {}}").name
    'now'
    >>> find_schema_input('Action: now\nAction Input: {"type": "object", "at": "x"}')
    """
    found = _SCHEMA_INPUT.search(text)
    return None if found is None else ClientCall(found["name"], Span(*found.span()), Notation.REACT)


def _in_lines(text: str) -> ClientCall | None:
    for lines, notation in _LINES:
        if (found := lines.search(text)) is not None:
            return ClientCall(found[found.lastindex or 1], Span(*found.span()), notation)
    return None


def _in_json_rpc(text: str, offered: Collection[str]) -> ClientCall | None:
    """Return a call as MCP's clients send it: at the end of a text, or of a tool that is offered; not an example."""
    found = _RPC.search(text)
    if found is None or _RPC_METHOD not in found[0]:
        return None
    try:
        _, stop = _DECODER.raw_decode(text, found.start())
    except (ValueError, RecursionError):
        return None
    is_end = _FENCE_AROUND.fullmatch(text, stop) is not None
    return ClientCall(found[1], Span(found.start(), stop), Notation.JSON_RPC) if is_end or found[1] in offered else None


def _in_toolcall(text: str) -> ClientCall | None:
    """Return a call as Nemotron-Mini's template teaches it: an object with `type`, `arguments` and then `name`."""
    found = _TOOLCALL.search(text)
    if found is None:
        return None
    try:
        value, _ = _DECODER.raw_decode(text, found.end())
    except (ValueError, RecursionError):
        return None
    name = value.get("name") if isinstance(value, dict) and isinstance(value.get("arguments"), dict) else None
    return ClientCall(name, _element(text, found, "toolcall"), Notation.TOOLCALL) if isinstance(name, str) else None


def _in_two_notations(text: str) -> ClientCall | None:
    found = next((match for shape in _MIXED if (match := shape.search(text)) is not None), None)
    if found is None:
        found = _HEADLESS.match(text)
        if found is None or text.find(_CLOSES, found.end()) < 0:
            return None
    end = text.find(_CLOSES, found.end())
    stop = len(text.rstrip()) if end < 0 else end + len(_CLOSES)
    return ClientCall(found["name"], Span(found.start(), stop), Notation.MIXED)


def _in_invented_xml(text: str) -> ClientCall | None:
    if (pair := _PAIR.search(text)) is not None:
        return ClientCall(pair["name"], _element(text, pair, pair["tag"]), Notation.INVENTED)
    if (broken := _TEXT_AS_NAME.search(text)) is not None and _NAMED.match(text, broken.start()) is None:
        return ClientCall(broken["text"].strip(), _element(text, broken, broken[1]), Notation.TEXT_AS_NAME)
    for shape in (_NAMED, _AROUND_CALL, _AROUND_LIST, _AROUND_JSON, _IN_TAG, _ATTRIBUTED):
        if (found := shape.search(text)) is None:
            continue
        if shape is _AROUND_CALL and found[1] == "function_call" and "</function_call>" not in text[found.end() :]:
            continue  # as Granite 20B writes it
        return ClientCall(found[2], _element(text, found, found[1]), Notation.INVENTED)
    return None


def _element(text: str, opened: re.Match[str], tag: str) -> Span:
    """Return where an element is, up to its closing tag or, without one, to the end of the text."""
    _, _, after = text[opened.end() :].partition(f"</{tag}>")
    return Span(opened.start(), len(text) - len(after))
