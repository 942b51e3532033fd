"""A report as a person writes it in a tracker: a title, headings of a form, prose, and fenced blocks.

    [Bug]: Calls stay in content #123          a title, as a page shows it
    someone opened on Jul 25, 2025
    ### Your current environment               headings of a form
    **What is the bug?**

Its content is read block by block; the text around the blocks is talk, and shows at most a line of an output.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.evidence.errors.tracebacks import cut_traceback, stack_alone
from prompt_debugger.core.evidence.errors.unknown import other_program
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.no_errors.advice import shows_possible_error
from prompt_debugger.core.evidence.no_errors.catalogues import is_catalogue
from prompt_debugger.core.evidence.no_errors.manuals import is_manual
from prompt_debugger.core.evidence.no_errors.programs import has_code, is_source
from prompt_debugger.core.evidence.no_errors.snippets import is_snippet
from prompt_debugger.core.evidence.no_errors.transcripts import harmless, is_agents_log
from prompt_debugger.core.evidence.recognise import MARKER, PRINTED_LIST, recognise
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.values.json_of import json_of, lenient_json_of
from prompt_debugger.core.evidence.values.token_lists import is_token_list
from prompt_debugger.core.formats import TABLES

NEEDED = (
    "Paste a request, a response or its stream, the raw output with its tags, an error, or a server's log, "
    "complete and unchanged."
)
_NEEDED_BESIDE_COMMAND = (
    "The words beside the command were not read: paste the answer (or its stream) with the request that it answers, or "
    "the server's error, to find what went wrong."
)
_TOLD_WORD = re.compile(r"[A-Za-z][a-z']{0,30}[.,:;!?]?\Z")
_QUOTE_MARK = re.compile(r"(?m)^> ?")
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_MIN_TOLD, _MIN_WIDE = 8, 12  # words, characters
_HEADING = re.compile(
    r"(?mi)^[ \t>]{0,4}(?:#{1,6} |\*\*)[^\n]{0,20}?\b(?:bug|issue|description|describe|environment|version|summary|"
    r"expected|actual|observed|steps|reproduc\w*|to reproduce|what happen\w*|which|question|motivation|proposal|"
    r"system info|logs?|additional|checklist|prerequisites|problem|error message|root cause|workaround|"
    r"umgebung|beschreibung|erwartet\w*|fehler\w*)\b|^[ \t>]{0,4}(?:#{1,6} |\*\*)[^\n]{0,10}"
    r"(?:环境|问题|描述|复现|预期|期望|日志|版本|現象|バグ|環境)"
)
_TITLE = re.compile(
    r"\A\s{0,9}(?:#{1,3} )?(?:\[(?:bug|issue|usage|feature|question|rfc|help)[^\]\n]{0,20}\]|"
    r"[^\n]{8,200} #\d{1,7}[ \t]*\n)",
    re.IGNORECASE,
)
_PAGE = re.compile(
    r"(?m)^[^\n]{1,60}(?: · (?:description|comment|review) · \d{4}-|"
    r"\b(?:opened|commented)(?: this issue)? on [A-Z][a-z]{2} \d)"
)
_RENDER = "To try it with a request: `render REQUEST --chat-template FILE`; alone: `check --chat-template FILE`."
_AGENTS_LOG = (
    "The text is the log of an agent that runs code which its model writes; an error of that code goes back to the "
    "model and is not one of the server. It contains no answer as the server sent it."
)
_FILES = (
    ("%PDF-", "a PDF"), ("PK\x03\x04", "an archive"), ("\x1f\x8b", "an archive"), ("\x1f\ufffd", "an archive"),
    ("\x89PNG", "an image"), ("\ufffdPNG", "an image"), ("GIF8", "an image"),
    ("GGUF", "a model's file"),
)  # fmt: skip
_CONTROL = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f-\x9f\ufffd]")
_PAGE_SOURCE = re.compile(r"(?i)<!doctype html|<html[ >]")
_TEMPLATE = re.compile(r"\{%-?\s{0,9}(?:for|if|set|macro|elif|endfor|endif)\b")
# Ollama's, in Go's notation; Helm and others have none of these fields.
_GO_TEMPLATE = re.compile(
    r"\{\{-?\s{0,9}(?:(?:if|else if|range|with)\b[^{}\n]{0,120}?)?[.$](?:Messages|System|Prompt|Response|Tools|"
    r"ToolCalls|Role|Content)\b[^{}\n]{0,80}\}\}"
)
# A field in single braces within a text that the template prints, as Python's `format` would fill it in.
_BARE_FIELD = re.compile(
    r"(?<![\w}])'[^'\n{}]{0,200}\{(?P<name>role|content|prompt|system|user|message|input|instruction)\}[^'\n{}]{0,200}"
    r"(?:'(?!\s{0,4}(?:\.|\|\s{0,4})format)|\n)"
)
_STOP = re.compile(r"(?m)^PARAMETER stop [\"']?([^\"'\n]{1,80})[\"']?[ \t]*$")
_ENDS_OF_TURNS = frozenset(TABLES.end_texts)
_MARKER = re.compile(r"<[^\s<>]{1,60}>|\[/?[A-Z_]{2,40}\]")
_TOOLS = re.compile(r"\btools\b")
_GO_TOOLS = re.compile(r"\{\{[^{}\n]{0,120}\$?\.Tools\b")
# What converters of models log: the template that they write into the file.
_LOGGED_TEMPLATE = re.compile(r"(?m)^[^\n{<\[]{0,80}\b(?:[Ss]etting )?chat[_ ]template(?: to|:) \{[%{#]")
_DIFF_OF_TEMPLATE = re.compile(
    r"\s*+(?:(?:diff --git|index|new file|---|\+\+\+) [^\n]*\n){2,5}@@ [^\n]*\n"
    r"(?:[-+ ]?[^\n{]*\n){0,8}[-+ ][ \t]*\{[%{#]"
)
_MODELFILE = re.compile(r"(?:#[^\n]*\n|\s)*+(?:FROM [^\n]{1,300}\n|TEMPLATE [\"])")
_TEMPLATE_OPTION = re.compile(r"(?m)^(?!<)[^\n<{]{0,2000}\s--chat-templat(?:e|\Z|\n)")
_MAX_PROSE = 200_000  # characters in which the parts of a report must show
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,80}")
# A person's words behind the last closing marker of an output, on its line.
_CLOSED_LINE = re.compile(
    r"(?P<closer>(?:^|(?<=\n))[ \t]{0,8}(?:</[\w:|]{1,40}>|\[/[A-Z_]{1,40}\]))[ \t]{1,8}[^\n<>{}\[\]]{4,300}\Z"
)
_OPEN_CALL = re.compile(r"\s*+(?:<tool_call>\s*+)?<function=[\w.-]{1,100}>\s*+<parameter=[\w.-]{1,100}>\s")
_SAID_WORD = re.compile(r"[^\W\d_]{2,}")
_OF_OUTPUT = re.compile(r"[{}<>\[\]|=]")
_ENDS = (">", "]", ")", "}", "\uff5c")


def is_report(blocks: Sequence[Block]) -> bool:
    """Return whether a text is a report: its prose has a title, lines of a tracker's page, or headings of a form."""
    prose = "\n".join(block.text for block in blocks if block.kind is BlockKind.PROSE)
    return _is_titled(prose)


def _is_titled(prose: str) -> bool:
    return any(shape.search(prose, 0, _MAX_PROSE) is not None for shape in (_TITLE, _PAGE, _HEADING))


def is_template(text: str) -> bool:
    """Return whether a text is a chat template, or a piece of one: what it prints is no one's output."""
    return _TEMPLATE.search(text) is not None or _GO_TEMPLATE.search(text) is not None


def gives_template(text: str) -> bool:
    """Return whether a text is a command with a chat template as the value of its option: no one's output."""
    found = _TEMPLATE_OPTION.search(text)
    return found is not None and _TEMPLATE.search(text, found.end()) is not None


_OPENED = re.compile(r"(?:\A|\n)[ \t]*(?:\"{3}|'{3})[ \t]*\n*\Z")  # the literal that goes on below


def is_no_report(block: Block, blocks: Sequence[Block]) -> bool:
    """Return whether an apparent error is a literal between lines of a program, or the remark above a command."""
    at = next(index for index, one in enumerate(blocks) if one is block)
    if block.kind is BlockKind.PROSE and block.text.startswith("#") and "\n" not in block.text.strip():
        return at + 1 < len(blocks) and blocks[at + 1].kind is BlockKind.COMMAND
    whole = "\n".join(one.text for one in blocks)
    if shows_possible_error(whole) or is_manual(whole) or is_catalogue(whole):
        return True
    if is_snippet(whole.replace("=\n{", "={")):  # a value that is a block of its own
        return True
    above, below = (
        "\n".join(one.text for one in part if one.kind is not BlockKind.FENCED)
        for part in (blocks[:at], blocks[at + 1 :])
    )
    if block.kind is not BlockKind.FENCED and _OPENED.search(above) is not None and has_code(above):
        return True  # a literal of a program, in which a page notes what it prints
    is_between = block.kind is not BlockKind.FENCED and has_code(above) and has_code(below)
    return is_between and is_source(f"{above}\n{below}")


def begins_template(text: str) -> bool:
    """Return whether a text is a chat template from its first character on, its diff or log, or a Modelfile."""
    is_begun = text.lstrip("\ufeff \t\r\n").startswith(("{%", "{#", "{{-", "{{ "))
    logged = _LOGGED_TEMPLATE.search(text)
    is_logged = logged is not None and MARKER.search(text, 0, logged.start()) is None
    is_diff = _DIFF_OF_TEMPLATE.match(text) is not None
    return ((is_begun or is_logged or is_diff) and is_template(text)) or _is_modelfile(text)


def _is_modelfile(text: str) -> bool:
    return _MODELFILE.match(text) is not None and _GO_TEMPLATE.search(text) is not None


def shown_output(prose: str) -> str | None:
    """Return the only lines of prose that are an output by themselves: from a marker that begins a line to its end.

    A report may show them twice.
    """
    if MARKER.search(prose) is None:
        return None
    found: list[str] = []
    lines: list[str] = []
    above = ""  # of a call of GLM, its name
    at = 0  # where the line begins: a marker may need what is on the next one
    for line in [*prose.split("\n"), ""]:
        begins = bool(line.strip()) and MARKER.match(prose, at + len(line) - len(line.lstrip())) is not None
        at += len(line) + 1
        if line.strip() and (begins or lines):
            is_name = not lines and line.strip().startswith("<arg_key>") and _NAME.fullmatch(above.strip()) is not None
            lines += [above, line] if is_name else [line]
            continue
        above = line
        if lines:
            found.append("\n".join(lines))
        lines = []
    found = [_CLOSED_LINE.sub(r"\g<closer>", _drop_words_below(text)) for text in found]
    kept = [text for text in found if _is_to_its_end(text) and recognise(text) is Form.OUTPUT]
    kept = [text for text in kept if MARKER.sub("", text).strip(" \t\n<>/|[]")]  # one marker is not an output
    return kept[0] if len({*kept}) == 1 else None


def _drop_words_below(text: str) -> str:
    """Return lines that begin with a marker without a person's words below the line that ends with the last one."""
    ends = [marker.end() for marker in MARKER.finditer(text)]
    last = ends[-1] if ends else 0
    line_end = text.find("\n", last)
    is_at_line_end = bool(ends) and line_end > 0 and not text[last:line_end].strip()
    words = text[line_end:] if is_at_line_end else ""
    is_told = _OF_OUTPUT.search(words) is None and len(_SAID_WORD.findall(words)) >= _MIN_TOLD
    return text[:line_end] if is_told else text


def _is_to_its_end(text: str) -> bool:
    """Return whether lines are an output to its end; a call within whose value it ends is no one's sentence either."""
    return text.rstrip().endswith(_ENDS) or _OPEN_CALL.match(text) is not None


def needed_beside_command(blocks: Sequence[Block]) -> tuple[str, ...]:
    """Return what to say of a report that shows how a server was started, and tells the rest in words."""
    prose = " ".join(block.text for block in blocks if block.kind is BlockKind.PROSE)
    spoken = [word for word in prose.split() if _TOLD_WORD.match(word) is not None]
    is_told = len(spoken) >= _MIN_TOLD or len(_WIDE.findall(prose)) >= _MIN_WIDE
    return (_NEEDED_BESIDE_COMMAND,) if is_told else ()


def not_recognised(text: str, *, is_about: bool = False) -> RequestError:
    """Return what to say of a text that was not understood: what it looks like, and what would be needed.

    Args:
        text: The text.
        is_about: Whether it is known to be words about an output.
    """
    if not text.strip("\ufeff \t\r\n"):
        return RequestError("Nothing was pasted.", NEEDED)
    if (cut := cut_traceback(text) or cut_traceback(_QUOTE_MARK.sub("", text))) is not None:
        return RequestError(cut, "Paste the traceback to its end, with the line of the log above it.")
    if (stack := stack_alone(text)) is not None:
        return RequestError(stack, "Copy the line above the first `at` as well, with the words of the error.")
    if (unrelated := other_program(text) or harmless(text)) is not None:
        return RequestError(unrelated, NEEDED)
    if is_agents_log(text):
        return RequestError(_AGENTS_LOG, NEEDED)
    value = json_of(text)
    if value is None and (found := lenient_json_of(text) if text.lstrip().startswith(("{", "[")) else None) is not None:
        value = found[0]
    template = value.get("chat_template") if isinstance(value, dict) else None
    if isinstance(template, str) and is_template(template):
        return _refuse_template("a tokenizer's configuration with a chat template", template)
    if isinstance(value, dict):
        names = ", ".join(f"`{name[:40]}`" for name in list(value)[:12])
        problem = f"The JSON object was not recognized; it has {names}." if names else "The JSON object is empty."
    elif isinstance(value, list):
        problem = f"The JSON list of {len(value):,} was not recognized; it begins with {shorten(value[:1], 60)}."
    else:
        return _refuse_words(text, is_about=is_about)
    return RequestError(problem, NEEDED)


def _refuse_words(text: str, *, is_about: bool) -> RequestError:
    start = text.lstrip("\ufeff \t\r\n")[:2_000]
    kind = next((kind for sign, kind in _FILES if start.startswith(sign)), None)
    if kind is None and len(_CONTROL.findall(start)) * 10 > len(start):
        kind = "a file that is not text"
    if kind is not None:
        return RequestError(f"The text is the content of {kind}.", "Copy the words that it shows, and paste those.")
    if (printed := PRINTED_LIST.match(start)) is not None:
        return RequestError(
            f"The text is a printed list of `{printed['name']}` objects: that class is not one of a request or an "
            "answer.",
            NEEDED,
        )
    if _PAGE_SOURCE.match(start) is not None:
        return RequestError(
            "The text is the source of an HTML page.",
            "Copy the text that the page shows, or what the server's log says.",
        )
    if is_token_list(text):
        return RequestError("The text lists the tokens of a vocabulary; a model wrote none of it.", NEEDED)
    if _GO_TEMPLATE.search(text) is not None:
        return _refuse_go_template(text)
    if is_template(text):
        return _refuse_template("or contains a chat template", text)
    if is_about or _is_titled(text):
        return RequestError(
            "The text is a report in words; it contains no request, response, raw output, error or log that can be "
            "read.",
            NEEDED,
        )
    return RequestError(f"The text was not recognized; it begins with {shorten(text.strip()[:60], 50)}.", NEEDED)


def _refuse_template(what: str, template: str) -> RequestError:
    problem = f"The text is {what}, but nothing that was rendered with it."
    if (bare := _BARE_FIELD.search(template)) is not None:
        problem += (
            f" The template prints `{{{bare['name']}}}` as it is: Jinja fills in only `{{{{ {bare['name']} }}}}`."
        )
    is_loop = "{% endfor" in template.replace("{%-", "{%") and "\n@@ " not in template
    if is_loop and _TOOLS.search(template) is None:
        problem += " What is shown of the template never reads `tools`: the tools of a request do not reach the model."
    is_whole = "for " in template and "add_generation_prompt" in template
    for opener in TABLES.turn_openers if is_whole else ():
        end = _end_of(opener) if opener in template else None
        if end is not None and not any(one in template for one in (*_ENDS_OF_TURNS, "eos_token")):
            problem += f" It opens turns with `{opener}` and never writes `{end}`, which ends them."
    return RequestError(problem, _RENDER)


def _end_of(opener: str) -> str | None:
    """Return the text that ends the turns of an opener, where its name says which: `<|im_end|>`, `<turn|>`."""
    twins = (opener.replace("start", "end"), opener.replace("START", "END"), f"<{opener[2:-1]}|>")
    return next((one for one in twins if one in _ENDS_OF_TURNS), None)


def _refuse_go_template(text: str) -> RequestError:
    what = "a Modelfile" if _is_modelfile(text) else "a template"
    problem = f"The text is or contains {what} of Ollama, but nothing that was rendered with it."
    if _GO_TOOLS.search(text) is None:
        problem += " What is shown of the template has no `.Tools`: Ollama answers a request with tools that the model "
        problem += "does not support tools."
    stops, template = _STOP.findall(text)[:8], text[text.find("TEMPLATE") :] if "TEMPLATE" in text else ""
    printed = _STOP.sub("", template)
    is_of_turns = not {*stops}.isdisjoint(TABLES.turn_openers)
    if template and is_of_turns and all(_MARKER.fullmatch(stop) and stop not in printed for stop in stops):
        listed = ", ".join(f"`{stop}`" for stop in stops)
        problem += f" Its stop strings ({listed}) are of another notation: the template writes none of them."
    return RequestError(
        problem,
        "Templates in Go's notation are not rendered here. Paste the request with its answer, or give `check` the "
        "model's own Jinja template.",
    )
