"""Which field of the request, or which message, the words of an error name: written as a path of the body."""

from __future__ import annotations

import re

from prompt_debugger.core.known_errors._listed import drop_listed_values

_TOP = (
    r"messages|input|tools|tool_choice|response_format|functions|contents|system|system_instruction"
    r"|generation_?config|stream_options|extra_body|chat_template_kwargs|metadata|reasoning|thinking"
    r"|tool_config|text|instructions|max_tokens|max_completion_tokens|temperature|top_p|stop|stream"
    r"|model|parallel_tool_calls"
)
_PATH = re.compile(rf"(?<![\w./])(?P<path>(?:{_TOP})(?:\.?\[[\w-]{{1,60}}\]|\.\w{{1,60}}){{1,14}})(?![\w/])")
_OF_REQUEST = re.compile(rf"(?:{_TOP})(?=[.\[]|\Z)")
_ARROWS = re.compile(rf"\bbody -> (?P<path>(?:{_TOP})(?: -> [\w-]{{1,60}}){{0,14}})")
_FIELD = re.compile(
    r"(?:field|parameter|param|argument|property|key)s?:? ?[`'\"](?P<path>[A-Za-z_][\w.\[\]]{0,160})[`'\"]",
    re.IGNORECASE,
)
_PLAIN = re.compile(
    r"\bthe (?!(?:first|second|third|last|next|same|other|following|given|named|required|missing|unknown|new|old)\b)"
    r"(?P<path>[a-z]\w{1,60}) (?:field|parameter|argument)\b",
    re.IGNORECASE,
)
# What serde says of a field within a place: `messages[3]: missing field `name``.
_WITHIN = re.compile(
    rf"(?P<path>(?:{_TOP})\[\d{{1,6}}\][\w.\[\]]{{0,120}}): (?:missing|unknown|duplicate) field `(?P<name>\w{{1,60}})`"
)
_NAMED = re.compile(
    r"(?<!method )(?<!function )(?<!tool )(?<!node )(?<!class )(?<!module )(?<!model )"
    r"(?<!of type )(?<!input )(?<!attribute )"  # names of things in a program
    r"(?<![\"']: )(?<![\"']:)"  # and values of JSON that the words quote
    r"(?<!\.)[`'\"](?P<path>[a-z]{1,30}(?:_[a-z]{1,30}){1,5})[`'\"](?!\.[`'\"])"  # not a table's name before its column
)
_INDEX = re.compile(
    r"(?:\bmessages?\b.{0,60}?\b(?:at )?(?:index|position|number|#) ?#?|messages? index |messages\[|message"
    r" )(?P<index>\d{1,5})\b",
    re.IGNORECASE,
)
_HOLDER = re.compile(r"(?:\btools|\btool_calls)\[\d{1,6}\](?:\.function)?\Z|\btool_choice\Z")  # of a `function`
_HOLDER_CHARS = 40
_KIND = re.compile(
    r"\.(?:assistant|tool_use|tool_result|text|image|thinking|custom|function|ephemeral|str|int|list"
    r"|dict)(?=\.)"
)


def field_in(words: str) -> str | None:
    """Return the path of the request field that words name; `None` if they name none.

    >>> field_in("messages.65.content.1.tool_use.text: Extra inputs are not permitted")
    'messages[65].content[1].text'
    >>> field_in("Extra inputs are not permitted, field: 'messages[8].reasoning'")
    'messages[8].reasoning'
    >>> field_in("body -> messages -> 3 -> tool_calls -> 0 -> function: Field required")
    'messages[3].tool_calls[0].function'
    >>> field_in("reasoning_content is missing in assistant tool call message at index 19")
    'messages[19]'
    >>> field_in("messages[3]: missing field `tool_call_id` at line 1 column 9")
    'messages[3].tool_call_id'
    """
    if (arrows := _ARROWS.search(words)) is not None:
        return as_path(arrows["path"].replace(" -> ", "."))
    if (within := _WITHIN.search(words)) is not None:
        return as_path(f"{within['path']}.{within['name']}")
    for pattern in (_PATH, _FIELD, _PLAIN):
        found = pattern.search(words)
        if found is not None and not found["path"].endswith((".py", ".js", ".ts", ".go")):
            return as_path(found["path"])
    index = _INDEX.search(words)
    if index is not None:
        return f"messages[{index['index']}]"
    named = _NAMED.search(drop_listed_values(words))
    return None if named is None else named["path"]


def is_request_path(path: str) -> bool:
    """Return whether a path leads into a request's body, by the name of its first field.

    >>> is_request_path("messages[2].content"), is_request_path("choices[0].message")
    (True, False)
    """
    return _OF_REQUEST.match(path) is not None


def as_path(named: str) -> str:
    """Return a path with its numbers in brackets, without the names of classes that validators put between.

    >>> as_path("tools.3.custom.input_examples"), as_path("messages.[0].content")
    ('tools[3].input_examples', 'messages[0].content')
    >>> as_path("tools.0.function.function.strict"), as_path("tools[0].function.name"), as_path("tools.0.function.type")
    ('tools[0].function.strict', 'tools[0].function.name', 'tools[0].function.type')
    """
    path = re.sub(r"\.?\[(\d{1,6})\]|\.(\d{1,6})(?=\.|$)", lambda one: f"[{one[1] or one[2]}]", named)
    return _KIND.sub(lambda kind: kind[0] if _is_key(path, kind) else "", path.rstrip("."))


def _is_key(path: str, kind: re.Match[str]) -> bool:
    """Return whether `function` is a key of a tool or call, and not the kind of one, which validators name before."""
    is_function = kind[0] == ".function" and not path.startswith(".function.", kind.end())
    return is_function and _HOLDER.search(path[max(0, kind.start() - _HOLDER_CHARS) : kind.start()]) is not None
