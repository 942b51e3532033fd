r"""Programs, commands and what they hold in place of values: they name errors that did not come.

raise ValueError(f"Could not parse tool call from: {text}")      a program
vllm-mlx serve MODEL --rate-limit 60                             a command
"""

from __future__ import annotations

import ast
import re
import warnings
from itertools import islice, pairwise

from prompt_debugger.core.evidence.no_errors.declared import is_declared
from prompt_debugger.core.evidence.no_errors.snippets import is_snippet

# Lines of a program: errors that its text mentions were not reported by anyone.
_CODE_LINE = re.compile(
    r"(?m)^[ \t]{0,24}(?:(?:async )?def \w|class \w{1,60}[(:{]|from [\w.]{1,80} import |import [\w{*]|return\b"
    r"|raise \w|(?:export |async )*function\b|(?:export )?(?:const|let|var) \w"
    r"|if [^\n]{1,80}[:{]$|#include|public |private |func [\w(]|package \w{1,40}$|assert\b"
    r"|print\(|echo \S|(?:fi|done|esac|else|then|try:|else:)$|elif |except\b|with \w[^\n]*:$|@\w{2,40}(?:\(|$)|#\["
    r"|(?:pub )?(?:fn|impl|mod) \w|use \w+::|let mut |\.\w{1,40}\(|\w{1,40}: [^\n]{1,60} = field\("
    r"|\w{1,40}(?:, \w{1,40})? := \S|[^\n]{0,200}(?:\) \{|\);|=> \{)$)"
)
_SCRIPT = re.compile(r"(?m)^[ \t]*(?:import |from [\w.]+ import |def |async def )|\.(?:create|invoke|parse|generate)\(")
_MAX_SCRIPT = 20_000
# What a comment of a program says that someone got: the name of an exception, a status, a body.
_IN_COMMENT = re.compile(r"\b[A-Z]\w{2,60}(?:Error|Exception)\b|\b[45]\d\d\b|[\"']error[\"']|\berror ?:|Traceback")
_MAX_CODE_LINES = 4
_FRAME = re.compile(
    r"(?m)^[ \t]*File \"[^\"\n]{1,200}\", line \d{1,7}|\bat [\w.$<> ]{1,80} \(?[\w./\\:-]{1,120}\.[jt]sx?:\d{1,7}"
)
# A name between braces before the end of the literal that contains it, or a place of `%` formatting.
_UNFILLED = re.compile(
    r"%[srvwq](?![\w%])(?:[^\"'\n]{0,80}[\"'](?:,|\s?\))|[^\n%]{0,120}%[sdrvwq](?![\w%])|(?:\\n)?\W{0,3}\Z)"
    r"|%[vw]\\n\""
    r"|(?<!\{)\{(?:[a-z_][\w.\[\]]{0,60}|\d{1,2})(?:![rs])?(?::[^{}\"'\n]{0,8})?\}[^\"'\n{}]{0,60}[\"']\s?\)"
)
_FORMATTED = re.compile(
    r"(?<!\w)f(?:\"{1,3}|'{1,3})[^\"'\n{]{0,200}(?<!\{)\{[a-z_][\w.]{0,60}[}!:(\[]"
)  # a literal of Python
_CALLS = re.compile(r"\W{0,8}(?:\w{1,30}_)?tool_calls?['\"]?\s{0,4}[:=]{1,6}\s{0,8}[\[{]")
_HANDLER = re.compile(
    r"(?m)^(?:[ \t]{0,40}console\.(?:error|warn|log)\([^\n]{0,300}\);?[ \t]*|[ \t]{0,40}(?:return )?new Response\($"
    r"|[ \t]{0,40}\{ ?status: \d{3}[^\n]{0,200}\}[ \t]*|[^\n]{0,200}\([\w, :]{0,60}\)(?: =>)? \{[ \t]*)(?:\n|\Z)"
)
_PLACE = re.compile(
    r"\A\{[{%]|(?<![{\"'$])\{[a-z_][\w.]{0,60}\}(?!\})|'\{[a-z_][\w.]{0,60}\}'|\$\{?[A-Za-z_\d]|\]\(|\|\s*$"
    r"|\A\W{0,3}\}\}|\}\}\{\{"  # of a template, between two of its expressions
)
_COMMAND = re.compile(
    r"(?:[$%>] )?(?:export |sudo )?(?:[A-Z][A-Z0-9_]*=\S* )*[./]{0,2}[a-z][\w./-]{0,60}(?= )"
    r"[^\n]*? --?[A-Za-z][\w-]*(?:[ =]|$)"
    r"|(?:[$%] |export |cd |pip |uv |npm |git |docker |sudo )\S"
)
# A statement that alone raises an error, or asks for one; and the line that reports one.
_RAISES_ALONE = re.compile(
    r"\s{0,20}(?:raise (?:\w{1,60}\.){0,4}\w{1,60}\(|throw new \w{1,60}\(|except \w[^\n]{0,200}:[ \t]*(?:\n|\Z)"
    r"|(?:if|elif) [^\n]{0,200}\bin (?:str|repr)\([^\n]{1,80}\)[^\n]{0,80}:[ \t]*(?:\n|\Z))"
)
_RAISED = re.compile(
    r"(?m)^[^\w\n]{0,12}(?:\w{1,60}\.){0,8}[A-Z]\w{0,60}(?:Error|Exception)(?:: |[ \t]*$)|^ {2,8}at \w"
)
# An exception that Python's source raises over several lines, and a field that it declares.
_RAISES_HERE = re.compile(
    r"(?m)^([ \t]{0,40})raise [\w.]{1,80}\([ \t]*\n(?:\1[ \t]+[^\n]*\n){1,20}\1\)[^\n]*"
    r"|^[ \t]{0,40}(?:error|exception|failed)\w{0,20}: (?:Optional|Union|Literal|str|bool|int|dict|list|Any)\b"
    r"(?:\[[^\n]*|(?: \|[^\n]*)?(?: = [^\n]*)?)$"
)
_GOES_ON = re.compile(r"\\\n[ \t]*")
_MAX_COMMANDS = 20
_LITERALS = ("`", '"""', "'''")  # of several lines
_MAX_MARKERS = 400
_DOCSTRING = re.compile(r"(?m)^[ \t]{0,40}\"{3}[ \t]*\n\s{0,80}(?:async def |def |class |@\w)")
_CLOSED_FIRST = re.compile(r"[^`]*+`[,);]*[ \t]*\n")
# Fields of a literal of Go or JavaScript, which open another one, and the line that closes it.
_OF_STRUCT = re.compile(
    r"(?m)^[ \t]*(?:\w{1,60}: {1,20}(?:&?[\w.\[\]]{1,80}[({]|`|\"|(?:nil|true|false),)[^\n]{0,400}"
    r"|\{|\},|\}\),?|\w{1,60},)[ \t]*$"
)
# A comment or a literal has begun before the end of a line.
_WITHIN_CODE = re.compile(r"(?:^|[ \t])(?://|#|/?\*)|[\"']")


def is_source(text: str) -> bool:
    """Return whether a text is a program and not its traceback.

    >>> is_source('raise ValueError("Model does not support tools")'), is_source("ValueError: no tools")
    (True, False)
    """
    if _RAISES_ALONE.match(text) is not None and _RAISED.search(text) is None:
        return True
    if is_snippet(text) or is_declared(text) or (has_docstring(text) and _FRAME.search(text) is None):
        return True
    lines = sum(1 for _, _ in zip(range(_MAX_CODE_LINES), _CODE_LINE.finditer(text), strict=False))
    return lines == _MAX_CODE_LINES and _FRAME.search(text) is None


def has_docstring(text: str) -> bool:
    """Return whether a text is Python in which a docstring ends above a definition; not a page that shows some."""
    return "```" not in text and _DOCSTRING.search(text) is not None


def writes_markers(text: str, marker: re.Pattern[str]) -> bool:
    r"""Return whether a text is a program that has markers in its literals and comments, and nowhere else.

    Args:
        text: All of it.
        marker: Pattern of what models write.

    >>> tag = re.compile("</?call>")
    >>> code = "import re\nx := 1\ny := 2\nfunc f() {\n"
    >>> writes_markers(f'{code}  cut(s, "</call>")', tag), writes_markers(f"{code}</call>", tag)
    (True, False)
    """
    if len(text) > _MAX_SCRIPT or not (is_source(text) or len(_OF_STRUCT.findall(text)) >= _MAX_CODE_LINES):
        return False
    ends = [0, *(found.start() for found in islice(marker.finditer(text), _MAX_MARKERS))]
    is_open = dict.fromkeys(_LITERALS, False)  # whether each sign of a literal was met an odd number of times
    is_open["`"] = _CLOSED_FIRST.match(text) is not None  # as the text begins within one
    for start, end in pairwise(ends):
        for sign in _LITERALS:
            is_open[sign] ^= text.count(sign, start, end) % 2 == 1
        line = text[text.rfind("\n", 0, end) + 1 : end]
        if not any(is_open.values()) and _WITHIN_CODE.search(line) is None:
            return False
    return True


def is_program(text: str) -> bool:
    """Return whether a text is Python that calls a client, and nothing else: no error was printed in it or with it.

    >>> is_program("x = client.chat.completions.create(max_tokens=9)  # Required field"), is_program("Required field")
    (True, False)
    """
    if len(text) > _MAX_SCRIPT or _SCRIPT.search(text) is None:
        return False
    if any(_IN_COMMENT.search(line.partition("#")[2]) is not None for line in text.split("\n") if "#" in line):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    does = [one for one in body if not isinstance(one, ast.Expr) or isinstance(one.value, ast.Call | ast.Await)]
    return len(does) == len(body) and not any(isinstance(one, ast.AnnAssign) and one.value is None for one in body)


def is_script(text: str) -> bool:
    """Return whether a text begins with Python that calls a client: objects in it are written there, not printed."""
    return _SCRIPT.search(text[:_MAX_SCRIPT]) is not None


def is_command(text: str) -> bool:
    r"""Return whether a text is nothing but commands of a shell.

    >>> is_command("serve model \\\n --rate-limit 60"), is_command("error: unknown option --rate-limit")
    (True, False)
    """
    lines = [line.strip() for line in _GOES_ON.sub(" ", text).split("\n")]
    typed = [line for line in lines if line and not line.startswith("#")]
    return 0 < len(typed) <= _MAX_COMMANDS and all(_COMMAND.match(line) is not None for line in typed)


def is_of_program(words: str) -> bool:
    """Return whether words hold a name that a program or a script would replace, a link, or a row of a table.

    >>> is_of_program("Unknown argument ${1}"), is_of_program("Unknown argument --x")
    (True, False)
    """
    return _PLACE.search(words) is not None


def is_unfilled(words: str) -> bool:
    """Return whether words come from a program's source, where a value would have been put into them.

    >>> is_unfilled('Could not parse: {text}")'), is_unfilled("missing variables {x}. Escape it like '{{x}}'.")
    (True, False)
    >>> is_unfilled('No answer from %s: %s", host, error)'), is_unfilled('Not callable: %s in strftime_now("%Y-%m-%d")')
    (True, False)
    """
    return _UNFILLED.search(words) is not None or _FORMATTED.search(words) is not None


def is_field_of_calls(words: str) -> bool:
    r"""Return whether words are a message's calls under their name, as a script prints them: values may say anything.

    >>> is_field_of_calls("invalid_tool_calls: [{'args': \"{'message': 'x'}\"}]"), is_field_of_calls("tool_calls: bad")
    (True, False)
    """
    return _CALLS.match(words) is not None


def has_code(text: str) -> bool:
    """Return whether a text contains a line of a program."""
    return _CODE_LINE.search(text) is not None


def below_source(text: str) -> str:
    """Return what follows the last line of a program."""
    last = 0
    for found in _CODE_LINE.finditer(text):
        last = found.end()
    return text[last:].partition("\n")[2]


def drop_handlers(text: str) -> str:
    r"""Return a text without the lines in which a program handles, raises or declares an error that has not come.

    >>> drop_handlers("onError: (error) => {\n  console.error('Failed:', error);\nThe error: it is full.")
    'The error: it is full.'
    >>> drop_handlers('raise E(\n  400, {"error": "x is required"},\n)\nerror: str | None = None')
    '\n'
    """
    if _FRAME.search(text) is None:
        text = _RAISES_HERE.sub("", text)
    if not any(sign in text for sign in ("=> {", "console.", "new Response(", "status:")):
        return text
    return _HANDLER.sub("", text)
