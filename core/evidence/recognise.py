"""Which form a pasted text has. Looks, decides, and reads nothing that it does not need for that."""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.complete.dialects import dialect_of_answer
from prompt_debugger.core.diagnose.calls.written_calls import begun_bare_call
from prompt_debugger.core.diagnose.leftovers import repeated_token
from prompt_debugger.core.evidence.after_command import answer_after_command
from prompt_debugger.core.evidence.answers.native import prompt_of
from prompt_debugger.core.evidence.answers.read import events_in_list, is_answer, is_error, is_event_list
from prompt_debugger.core.evidence.answers.shapes import chunk_of_delta, chunk_within, is_called_function, is_chunk
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.programs import writes_markers
from prompt_debugger.core.evidence.values.json_of import json_lines, json_of, lenient_json_of
from prompt_debugger.core.evidence.values.objects_within import is_bare_call
from prompt_debugger.core.evidence.values.token_lists import is_token_list
from prompt_debugger.core.formats import CONTROL_TOKEN, TABLES
from prompt_debugger.core.report import is_bundle

# What only a model writes: control tokens and the tags of tool calls and reasoning, of a family that is known or not.
_TAGS = {*TABLES.call_markers, *(tag.strip() for pair in TABLES.reasoning_pairs for tag in pair)}
MARKER = re.compile(
    "|".join(
        [
            CONTROL_TOKEN.pattern,
            r"</?(?:tool_calls?|think|function_calls?|invoke)\b",
            r"functools\s{0,3}\[\s{0,9}\{\s{0,9}\"name\"",
            r"\[TOOL_CALL\]\s{0,8}\{\s{0,8}(?:tool\s{0,4}=>|\"(?:tool|name|tool_name)\")",
            *(re.escape(tag) for tag in sorted(_TAGS) if tag.startswith("<")),
        ]
    )
)
_STREAM = re.compile(
    r"\A(?:[ \t]*+(?:(?::|event:|id:|retry:)[^\n]*+)?\r?\n)*+[ \t]*+data:"
    r"(?![ \t]{0,4}')"  # a field of an object that JavaScript prints
)
_CURL = re.compile(r"(?:^|[\s;&|(`])curl(?:\.exe)?[ \t\\^]", re.IGNORECASE)
_CODE = re.compile(
    r"(?m)^[ \t]*(?:import |from [\w.]+ import |const |let |var )|\.create\(|\.parse\(|\.invoke\(|"
    r"^(?:await )?(?:(?:requests|httpx|client|session|axios)\.post|(?:litellm\.)?a?completion|fetch"
    r"|litellm\.a?responses)\(|"
    r"^(?!(?:time|level|ts)=)\w+ *=(?! ?\w+, [a-z]+ )"  # a value, which no clause of a sentence follows
)
_HEADER = re.compile(r"to=[\w.-]{1,64}(?: [\w<|>]{1,40})?<\|")  # of a message with a recipient, no assignment
_REQUEST_STARTS = ("dict(", "(", "/*", "```", "{", "[")
_STATUS_FIRST = re.compile(r"\[[45]\d\d\]: ?\S")  # an error's status, before its body
_FILES = ("%PDF-", "\x89PNG")
_BRACKETED = re.compile(
    r"\[(?:\d{4}[-/]\d\d[-/]\d\d|\d{1,2}/[A-Z][a-z]{2}/\d{4}|\d{1,2}:\d\d:\d\d)[\w .,:/+-]{0,40}\](?!\s*+[,\]}])"
    r"|\[(?!(?:true|false|null|None|True|False|NaN|dict|Infinity)\b)[A-Za-z][\w .:/-]{0,60}\][^,\]}]"
)  # a log's time or word
_AT_PROMPT = re.compile(r"\([\w.= -]{1,60}\) ?(?![,)\]}\s])")  # of a shell, or a log's process: no tuple of Python
PRINTED_LIST = re.compile(
    r"[\[(]\s{0,20}(?P<name>(?:[a-z_]\w{0,60}\.){0,6}[A-Z]\w{1,80})\(\w{1,80}="
)  # of objects, by Python
_CALLS_BEGIN = re.compile(r"\[\s{0,20}[a-z_][\w.]{0,100}\(")
_FUNCTION = re.compile(r"(?!(?:dict|list|set|tuple)$)(?:[a-z_]\w{0,60}\.){0,4}[a-z_]\w{0,100}")
_MAX_CALLS_CHARS = 20_000
_LOGGED = re.compile(r"(?:time=\S{1,60} )?level=[A-Za-z]{1,10} ")  # whose fields may quote markup
# An exception alone, whose words may quote markup.
_RAISED = re.compile(r"(?:[A-Za-z_]\w{0,60}\.){0,6}[A-Z]\w{2,60}(?:Error|Exception): [^\n]{0,600}\s*\Z")
_COMMENTS = re.compile(r"(?:[ \t]*+(?:#(?!#)|//)[^\n]*(?:\n\s*+|\Z))++")
_REQUEST_FIELDS = frozenset({"messages", "input", "tools", "tool_choice", "functions", "max_tokens", "temperature"})
_OF_LLAMA_CPP = frozenset({"n_predict", "cache_prompt", "grammar", "json_schema", "n_probs", "id_slot"})  # its own
_REQUEST_NAMES = ("request", "body", "request_body", "requestBody", "payload", "req", "kwargs", "params", "parameters")
_ANSWER_NAMES = (
    *("response", "response_body", "responseBody", "raw_response", "answer", "completion", "result", "reply", "resp"),
    *("res", "output", "outputs", "data", "error"),
)
_OUTPUT_NAMES = frozenset(
    {
        *("text", "content", "output", "outputtext", "response", "responsetext", "result", "answer", "completion"),
        *("reply", "generatedtext", "generation", "rawoutput", "rawtext", "modeloutput", "llmoutput", "rawresponse"),
    }
)
_RAW_NAMES = frozenset({"rawoutput", "rawtext", "rawcompletion", "modeloutput", "llmoutput"})  # of no message's text
_MAX_LOOKED_AT = 20  # entries of a list


def recognise(text: str) -> Form | None:
    """Return what a text is most likely meant to be; `None` if it looks like nothing that is known."""
    start = text.lstrip("\ufeff \t\r\n\u200b")
    if _STATUS_FIRST.match(start) is not None or start.startswith(_FILES) or _LOGGED.match(start) is not None:
        return None
    if start.startswith(("{", "[")):
        return _form_of_json(text, start)
    if _STREAM.match(start):
        return Form.STREAM
    if _CURL.search(text[:20_000]):
        return Form.REQUEST if answer_after_command(text) is None else Form.EXCHANGE
    if _CODE.search(text[:20_000]) and not start.startswith("<") and _HEADER.match(start) is None:
        return Form.REQUEST
    if MARKER.search(text):
        is_none = _RAISED.match(start) is not None or is_token_list(text) or writes_markers(text, MARKER)
        return None if is_none else Form.OUTPUT
    if repeated_token(text[:20_000]) is not None:  # of turns, which prose does not write five times in a row
        return Form.OUTPUT
    if _AT_PROMPT.match(start) is not None:
        return None
    comments = _COMMENTS.match(start)
    return Form.REQUEST if start.startswith(_REQUEST_STARTS, 0 if comments is None else comments.end()) else None


def _form_of_json(text: str, start: str) -> Form | None:
    value = json_of(text)
    if value is None and len(lines := json_lines(text)) > 1:
        values = [json_of(line) for line in lines[:20]]
        if len(values) > 2 and len(values) == len(lines) and values[-1] is None:
            values = values[:-1]  # a last line that was not copied whole
        if is_event_list(values):
            return Form.STREAM
        return Form.REQUEST if all(is_lone_message(one) for one in values) else Form.LINES
    if value is None and _BRACKETED.match(start) is not None and MARKER.match(start) is None:
        return Form.OUTPUT if MARKER.search(text) else None
    if value is None and (MARKER.match(start) or begun_bare_call(start) is not None or _is_list_of_calls(start)):
        return Form.OUTPUT
    if value is None:
        found = lenient_json_of(text)
        value = None if found is None else found[0]
        if value is None and PRINTED_LIST.match(start) is not None:
            return None
        if value is None:
            return Form.REQUEST  # which says where it is broken
    return form_of_value(value)


def _is_list_of_calls(text: str) -> bool:
    """Return whether a text is calls of functions as models write them in Python: `[f(a=1), g()]`.

    A list of objects as Python prints them has classes (`[Message(…)]`), and one of them within another.
    """
    if _CALLS_BEGIN.match(text) is None or len(text) > _MAX_CALLS_CHARS:
        return False
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    calls = tree.elts if isinstance(tree, ast.List) else []
    return bool(calls) and all(
        isinstance(call, ast.Call)
        and not call.args
        and not any(isinstance(part, ast.Call) for keyword in call.keywords for part in ast.walk(keyword))
        and _FUNCTION.fullmatch(ast.unparse(call.func)) is not None
        for call in calls
    )


def form_of_value(value: JSON) -> Form | None:
    """Return what a JSON value is; `None` if it is nothing that is known."""
    if isinstance(value, list):
        return _form_of_list(value)
    if not isinstance(value, dict):
        return None
    log = value.get("log")
    if (isinstance(log, dict) and isinstance(log.get("entries"), list)) or _is_har_entry(value):
        return Form.HAR
    if is_bundle(value):
        return Form.RUN
    return _form_of_object(value)


def _is_har_entry(value: JSON) -> bool:
    """Return whether a value is one entry of a HAR, as developer tools copy it."""
    asked, answered = (as_object(as_object(value).get(name)) for name in ("request", "response"))
    return "startedDateTime" in as_object(value) and "postData" in asked and isinstance(answered.get("content"), dict)


def _form_of_list(value: list[JSON]) -> Form | None:
    if value and all(isinstance(item, dict) and is_bare_call(item) and not is_called_function(item) for item in value):
        return Form.OUTPUT
    if events_in_list(value) is not None:
        return Form.STREAM
    if is_answer(value):
        return Form.ANSWER
    if len(value) == 1 and is_error(value[0]):
        return Form.ERROR
    if value and all(map(_is_har_entry, value[:_MAX_LOOKED_AT])):
        return Form.HAR
    if value and all(isinstance(one, dict) and is_entry(one) for one in value[:_MAX_LOOKED_AT]):
        return Form.LINES
    roles = [item for item in value if isinstance(item, dict) and "role" in item]
    return Form.REQUEST if len(roles) == len(value) or not value or tools_in(value) else None


def _form_of_object(value: JSONObject) -> Form | None:
    if pair_in(value) is not None:
        return Form.EXCHANGE
    if answer_in(value) is not None:
        return Form.ANSWER
    if isinstance(value.get("raw"), str) or raw_beside(value) is not None or is_bare_call(value):
        return Form.ANSWER if is_called_function(value) else Form.OUTPUT
    if chunk_within(value) or (isinstance(value.get("delta"), dict) and chunk_of_delta(value) is not None):
        return Form.STREAM
    if output_with_prompt(value) is not None:
        return Form.OUTPUT
    if is_event_list([value]) and not is_whole_answer(value):
        return Form.STREAM
    if is_request(value) or isinstance(request_in(value), dict):
        return Form.REQUEST
    if is_answer(value):
        return Form.ANSWER
    if is_error(value):
        return Form.ERROR
    return Form.OUTPUT if lone_output_in(value) is not None else _form_of_piece(value)


def _form_of_piece(value: JSONObject) -> Form | None:
    """Return the form of an object that contains a part of a request; `None` if it is no known form."""
    is_asked = is_lone_message(value) and value.get("role") != "tool"  # whose call would be missed
    return Form.REQUEST if is_asked or _REQUEST_FIELDS & value.keys() else None


def output_with_prompt(value: JSONObject) -> str | None:
    """Return the raw output of an object with a prompt and an output as texts, if it is not an answer; else `None`."""
    if not isinstance(value.get("prompt"), str) or is_answer(value) or "done" in value:
        return None
    names = ("completion", "output", "generated_text", "response", "generation", "model_output")
    return next((found for name in names if isinstance(found := value.get(name), str)), None)


def lone_output_in(value: JSONObject) -> str | None:
    """Return the only text of an object of no known form that holds markup, under a name that says it is an output."""
    names = [name for name in value if name.lower().replace("_", "") in _OUTPUT_NAMES]
    texts = [text for name in names if isinstance(text := value[name], str) and MARKER.search(text) is not None]
    is_lone = len(texts) == 1 and not {"role", "description"} & value.keys()
    return texts[0] if is_lone and not (texts[0].startswith("{") and is_answer(json_of(texts[0]))) else None


def raw_beside(value: JSONObject) -> str | None:
    """Return the raw output with markup that an object keeps beside the message that was made of it; else `None`."""
    if not isinstance(value.get("message"), dict):
        return None
    texts = (item for name, item in value.items() if name.lower().replace("_", "") in _RAW_NAMES)
    return next((text for text in texts if isinstance(text, str) and MARKER.search(text) is not None), None)


def is_lone_message(value: JSON) -> bool:
    """Return whether a JSON value is a message of a conversation, whatever its role."""
    if not isinstance(value, dict) or "messages" in value or "choices" in value:
        return False
    return isinstance(value.get("role"), str) and ("content" in value or "tool_calls" in value)


def tools_in(value: JSON) -> list[JSON]:
    """Return the tools that a JSON value is a list of, or an object of nothing else; none if it is anything else."""
    tools = value.get("tools") if isinstance(value, dict) and len(value) == 1 else value
    is_list = isinstance(tools, list) and all(isinstance(tool, dict) and _is_tool(tool) for tool in tools)
    return tools if isinstance(tools, list) and is_list else []


def _is_tool(value: JSONObject) -> bool:
    function = value.get("function") if "function" in value else value
    if not isinstance(function, dict) or not isinstance(function.get("name"), str) or "arguments" in function:
        return False
    return value.get("type") == "function" or "input_schema" in value or "description" in function


def is_request(value: JSON) -> bool:
    """Return whether a JSON value is the body of a request, of any of the APIs."""
    if not isinstance(value, dict):
        return False
    if any(isinstance(value.get(name), list) for name in ("messages", "contents")):
        return True
    if "messages" in value:
        return True
    if isinstance(value.get("prompt"), str | list) and ("model" in value or not _OF_LLAMA_CPP.isdisjoint(value)):
        return not is_answer(value)
    if prompt_of(value) is not None:
        return not is_answer(value)
    return isinstance(value.get("input"), str | list) and not is_answer(value)


def request_in(value: JSONObject) -> JSON:
    """Return the request in a line of a log: under one of the names that logs use, or as the body of one of them."""
    for name in _REQUEST_NAMES:
        found = value.get(name)
        if isinstance(found, dict) and not is_request(found) and "body" in found:
            found = json_of(body) if isinstance(body := found["body"], str) else body  # a recorded HTTP exchange
        if is_request(found):
            return found
    return None


def answer_in(value: JSONObject) -> JSON:
    """Return the answer in a line of a log: an object that is one, or a text under the name of one."""
    if dialect_of_answer(value) is not None:
        return None  # it is one itself
    has_request: bool | None = None
    for name in _ANSWER_NAMES:
        found = value.get(name)
        if isinstance(found, dict) and isinstance(found.get("body"), dict | list | str) and not is_answer(found):
            found = _drop_type(found["body"])  # of a batch's output, or of a recorded HTTP exchange
        if name == "result" and isinstance(found, dict) and found.get("type") in ("succeeded", "errored"):
            found = found.get("message", found.get("error"))  # of a batch of Anthropic's
        is_event = name == "data" and (isinstance(found, list) or is_chunk(found))
        if isinstance(found, dict | list) and not is_event and (is_answer(found) or _is_event_log(found)):
            return found
        if has_request is None:
            has_request = request_in(value) is not None or is_request(value) or is_error(found)
        if has_request and name == "error" and found:
            return {"error": found}
        if has_request and ((isinstance(found, str) and found.strip()) or is_error(found)):
            return found
    return None


def is_entry(value: JSONObject) -> bool:
    """Return whether an object is an entry of a log or of a batch's output: it holds an answer, and is none itself."""
    if is_lone_message(value) or is_chunk(value):
        return False
    return answer_in(value) is not None


def _drop_type(value: JSON) -> JSON:
    """Return what a recorder kept of an object of a client's package, without the name of its class."""
    if isinstance(value, list):
        return [_drop_type(one) if isinstance(one, dict) else one for one in value]
    return value["__data__"] if isinstance(value, dict) and "__data__" in value else value


def _is_event_log(value: JSON) -> bool:
    return isinstance(value, list) and events_in_list(value) is not None


class Pair(NamedTuple):
    """A request and what was answered."""

    request: JSONObject
    answer: JSON


def pair_in(value: JSONObject) -> Pair | None:
    """Return the request and the answer that an object holds; `None` unless it contains both."""
    answer = answer_in(value)
    if answer is None:
        return None
    request = request_in(value)
    if isinstance(request, dict):
        return Pair(request, answer)
    for name in ("input", "inputs"):
        given = value.get(name)
        if isinstance(given, dict) and is_request(given):
            return Pair(given, answer)
        if isinstance(given, list) and given and all(isinstance(one, dict) and "role" in one for one in given):
            return Pair({"messages": given}, answer)
    if is_request(value):
        kept = {name: item for name, item in value.items() if item is not answer and name != "error"}
        return Pair(kept, answer)
    return None


def is_whole_answer(value: JSONObject) -> bool:
    """Return whether an object that may be an event is a whole answer: Ollama's and Gemini's look alike."""
    return is_answer(value) and value.get("done") is not False and not is_chunk(value)
