r"""What speaks of errors though none came: programs, commands, headings of a manual, words that nothing was put into.

raise ValueError(f"Could not parse tool call from: {text}")      a program
vllm-mlx serve MODEL --rate-limit 60                             a command
## Too many requests                                             a heading
"""

from __future__ import annotations

import ast
import re
import warnings

from prompt_debugger.core.evidence.errors.documentation import drop_documentation, has_front_matter

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
# A name between braces before the end of the literal that contains it.
_CALLS = re.compile(r"\W{0,8}(?:\w{1,30}_)?tool_calls?['\"]?\s{0,4}[:=]{1,6}\s{0,8}[\[{]")
_UNFILLED = re.compile(
    r"%[sr](?![\w%])(?:[^\"'\n]{0,80}[\"'](?:,|\s?\))|[^\n%]{0,120}%[sdr](?![\w%]))"
    r"|(?<!\{)\{(?:[a-z_][\w.\[\]]{0,60}|\d{1,2})(?:![rs])?(?::[^{}\"'\n]{0,8})?\}[^\"'\n{}]{0,60}[\"']\s?\)"
)
_HANDLER = re.compile(
    r"(?m)^(?:[ \t]{0,40}console\.(?:error|warn|log)\([^\n]{0,300}\);?[ \t]*|[ \t]{0,40}(?:return )?new Response\($"
    r"|[ \t]{0,40}\{ ?status: \d{3}[^\n]{0,200}\}[ \t]*|[^\n]{0,200}\([\w, :]{0,60}\)(?: =>)? \{[ \t]*)(?:\n|\Z)"
)
# The rows of a table of possible errors, below a head that says what to do.
_MANUAL = re.compile(
    r"(?mi)^[ \t]{0,4}\|[^\n]{0,200}\b(?:causes?|solutions?|resolutions?|meaning|fix|remedy|action|description|when)\b"
    r"[^\n]{0,200}\|[ \t]*\n[ \t]{0,4}\|[-: |]+\|[ \t]*\n(?:[ \t]{0,4}\|[^\n]*(?:\n|\Z))+"
)
_NOTICE = re.compile(
    r"(?m)^[ \t]{0,8}(?:> ?)?\[!(?:TIP|NOTE|IMPORTANT|WARNING|CAUTION)\][^\n]*(?:\n[ \t]{0,8}\S[^\n]*)*"
)
_HEADINGS = re.compile(r"(?m)^#{1,5} [^\n]{1,120}")
_MIN_HEADINGS = 3
_OF_FORM = re.compile(
    r"(?i)\bbug|\bissue|expected|actual|\brepro|regression|environment|\bsteps\b|what happen|observed"
    r"|\A#+ (?:the )?problem|\A#+ (?:the )?error|error (?:message|log|output)|checklist|describe|symptom"
)
# Of a manual: a list of what is the case where an option is not given, a heading deep within, and what not to use.
_CASES = re.compile(
    r"(?mi)^(?:(?:when|if|unless)\b[^\n]{0,200}\b(?:not (?:specified|set|given|enabled|used|provided|passed|present"
    r"|configured)|omitted)|without)\b[^\n]{0,200}:[ \t]*\n"
    r"(?:[ \t]*(?:[-*+\u2022]|\d{1,2}[.)])[^\n]*(?:\n|\Z))+"
)
_SECTION = re.compile(r"(?mi)^#{3,6} (?![^\n]*\b(?:bugs?|issues?|problem)\b)[^\n]*")
_DISCOURAGED = re.compile(r"(?m)^[^\n]{0,40}\bDo (?:\*\*|_)?not(?:\*\*|_)? use\b[^\n]*")
_PERSON = re.compile(r"\bI(?:'m|'ve)? [a-z]|\b[Mm]y [a-z]")
# What a page of advice tells its reader, and a report does not.
_ELEMENT = re.compile(r"\s{0,20}<([A-Za-z][A-Za-z_]{1,30})>")
_OF_PAGES = frozenset(
    {
        "details", "summary", "p", "pre", "code", "div", "span", "html", "body", "table", "tr", "td", "ul", "ol", "li",
        "b", "i", "a", "br", "em", "strong", "blockquote", "sub", "sup", "error", "message", "exception", "fault",
        "response",
    }
)  # fmt: skip
_ADDRESSED = re.compile(
    r"\b[Yy]ou (?:send|run|call|start|try|launch|make|deploy)\b[^\n.:]{0,160}\b(?:and|but) (?:you )?"
    r"(?:get|see|receive)\b[^\n.:]{0,40}:"
)
_PLACE = re.compile(
    r"\A\{[{%]|(?<![{\"'$])\{[a-z_][\w.]{0,60}\}(?!\})|'\{[a-z_][\w.]{0,60}\}'|\$\{?[A-Za-z_\d]|\]\(|\|\s*$"
)
_COMMAND = re.compile(
    r"(?:[$%>] )?(?:export |sudo )?(?:[A-Z][A-Z0-9_]*=\S* )*[./]{0,2}[a-z][\w./-]{0,60}(?= )"
    r"[^\n]*? --?[A-Za-z][\w-]*(?:[ =]|$)"
    r"|(?:[$%] |export |cd |pip |uv |npm |git |docker |sudo )\S"
)
# A JSON object of its own, alone or between fences, and the keys under which errors are reported in one.
_DOCUMENT = re.compile(
    r"(?ms)(?:\A|^[ \t]{0,8}(?:```|~~~)\w{0,20}[ \t]*\n)"
    r"(?P<object>\s{0,40}\{\s{0,40}\"(?:(?!^[ \t]{0,8}(?:```|~~~)).)*+)"
)
_KEY = re.compile(r'"([A-Za-z_][\w -]{0,40})"\s{0,4}:')
_OF_REPORTS = frozenset(
    {
        "error", "errors", "err", "message", "messages", "msg", "detail", "details", "code", "status", "reason",
        "exception", "cause", "stack", "level", "stderr", "stdout", "output", "log", "logs", "body", "response", "data",
        "result", "raw", "content", "text", "role", "arguments", "choices", "failed_generation",
    }
)  # fmt: skip
# What rules for programs and descriptions of functions say: which errors to handle, and when one may come.
_GUIDANCE = re.compile(
    r"(?m)^[^\w\n]{0,12}(?:Add|Include|Implement|Ensure|Prefer|Provide|Use|Do not use|Missing|Improve)\b[^\n]{0,80}"
    r"\berrors?[ -](?:handling|enums?|types?|messages?)\b(?! (?:the |this |your )?request)[^\n]*"
    r"|^[ \t]{0,40}Raises:[ \t]*\n(?:[ \t]{1,60}[^\n]*(?:\n|\Z)){1,40}"
    r"|^[^\n]{0,300}?(?:\braises? `?[A-Z]\w{1,60}(?:Error|Exception)`? (?:if|when|for|unless)\b|\b(?:may|might|can) "
    r"(?:also )?(?:return|raise|throw|respond with) (?:an? )?(?:`?[45]\d\d\b|`?[A-Z]\w{1,60}Error))[^\n]*"
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


def is_source(text: str) -> bool:
    """Return whether a text is a program and not its traceback.

    >>> is_source('raise ValueError("Model does not support tools")'), is_source("ValueError: no tools")
    (True, False)
    """
    if _RAISES_ALONE.match(text) is not None and _RAISED.search(text) is None:
        return True
    lines = sum(1 for _, _ in zip(range(_MAX_CODE_LINES), _CODE_LINE.finditer(text), strict=False))
    return lines == _MAX_CODE_LINES and _FRAME.search(text) is None


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


def below_source(text: str) -> str:
    """Return what follows the last line of a program."""
    last = 0
    for found in _CODE_LINE.finditer(text):
        last = found.end()
    return text[last:].partition("\n")[2]


def has_code(text: str) -> bool:
    """Return whether a text contains a line of a program."""
    return _CODE_LINE.search(text) is not None


def drop_manual(text: str) -> str:
    """Return a text without the tables that list which errors may come, and without notes to a page's reader."""
    if "[!" in text:
        text = _NOTICE.sub("", text)
    return _MANUAL.sub("", text) if "|" in text else text


def drop_advice(text: str) -> str:
    r"""Return a text without what only a manual says of faults: which case is meant, and what to keep away from.

    >>> drop_advice("Do not use `--parser a`: content is null.\nWithout one:\n- content is null\nMine is null.")
    '\nMine is null.'
    """
    return _DISCOURAGED.sub("", _SECTION.sub("", _CASES.sub("", text)))


def drop_guidance(text: str) -> str:
    r"""Return a text without the lines that say which errors a program may meet, as rules and docstrings do.

    >>> drop_guidance("- Add error handling.\nRaises:\n  XError: If full.\nIt may return a 400 error.\nXError: If so")
    '\n\nXError: If so'
    """
    return drop_documentation(_GUIDANCE.sub("", text))


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


def drop_documents(text: str) -> str:
    r"""Return a text without the JSON objects that report nothing: an error that they mention came from no server.

    >>> drop_documents('{"review": "It failed with `KeyError`.", "score": 1}'), drop_documents('{"error": "x"}')
    ('', '{"error": "x"}')
    """
    if "{" not in text:
        return text
    return _DOCUMENT.sub(lambda found: found[0] if _reports(found["object"]) else "", text)


def _reports(document: str) -> bool:
    return not _OF_REPORTS.isdisjoint(key.lower() for key in _KEY.findall(document)) or _KEY.search(document) is None


def is_manual(text: str) -> bool:
    r"""Return whether a text is a page of a manual: headings, none of them from a tracker's form, and no *I*.

    >>> is_manual("# A\n## B\n## C\nIt returns 404."), is_manual("# A\n## B\n## Steps\nIt returns 404.")
    (True, False)
    """
    if has_front_matter(text):
        return True
    headings = _HEADINGS.findall(text)
    is_form = any(_OF_FORM.search(heading) for heading in headings)
    is_page = len(headings) >= _MIN_HEADINGS and _PERSON.search(text) is None
    return (is_page or is_advice(text)) and not is_form


def is_tagged(text: str) -> bool:
    """Return whether a text is a model's, in elements that a prompt asked for: no one reports anything in it.

    >>> is_tagged("<explanation>It names `KeyError`.</explanation>"), is_tagged("<details>It fails.</details>")
    (True, False)
    """
    begun = _ELEMENT.match(text)
    return begun is not None and begun[1].lower() not in _OF_PAGES and f"</{begun[1]}>" in text


def is_advice(text: str) -> bool:
    """Return whether a text tells its reader which errors come, as a page of advice does."""
    return _ADDRESSED.search(text) is not None and _PERSON.search(text) is None


def is_unfilled(words: str) -> bool:
    """Return whether words come from a program's source, where a value would have been put into them.

    >>> is_unfilled('Could not parse: {text}")'), is_unfilled("missing variables {x}. Escape it like '{{x}}'.")
    (True, False)
    >>> is_unfilled('No answer from %s: %s", host, error)'), is_unfilled('Not callable: %s in strftime_now("%Y-%m-%d")')
    (True, False)
    """
    return _UNFILLED.search(words) is not None


def is_field_of_calls(words: str) -> bool:
    r"""Return whether words are a message's calls under their name, as a script prints them: values may say anything.

    >>> is_field_of_calls("invalid_tool_calls: [{'args': \"{'message': 'x'}\"}]"), is_field_of_calls("tool_calls: bad")
    (True, False)
    """
    return _CALLS.match(words) is not None


def is_of_program(words: str) -> bool:
    """Return whether words hold a name that a program or a script would replace, a link, or a row of a table.

    >>> is_of_program("Unknown argument ${1}"), is_of_program("Unknown argument --x")
    (True, False)
    """
    return _PLACE.search(words) is not None


def is_command(text: str) -> bool:
    r"""Return whether a text is nothing but commands of a shell.

    >>> is_command("serve model \\\n --rate-limit 60"), is_command("error: unknown option --rate-limit")
    (True, False)
    """
    lines = [line.strip() for line in _GOES_ON.sub(" ", text).split("\n")]
    typed = [line for line in lines if line and not line.startswith("#")]
    return 0 < len(typed) <= _MAX_COMMANDS and all(_COMMAND.match(line) is not None for line in typed)
