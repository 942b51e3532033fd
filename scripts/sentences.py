"""Every sentence that a person may read, and what the style guide has against it.

    python scripts/sentences.py                list all of them, each with its place and its kind
    python scripts/sentences.py --kind error   list one kind
    python scripts/sentences.py --lint         list what breaks the style, and exit with 1 if anything does

Python is read as a syntax tree, so that a text that goes over several lines is one sentence; a value in it is
shown as `{…}`. The arguments of an error are its message and its hint; a keyword such as `title` or `fix` names
its kind; every other text of three words or more is listed as `text`. Scripts of the page are read by their
quotes. Docstrings and comments are not for users, and left out.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PYTHON, SCRIPTS = ("core", "ui"), ("assets/js",)
PAGES = ("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/guides/*.md", "docs/rules/*.md", "docs/tutorial/*.md")
VALUE = "{…}"
MESSAGES = ("error", "hint", "title", "detail", "fix", "notice", "means", "remedy")
_KINDS = {
    "message": "error",
    "hint": "hint",
    "title": "title",
    "detail": "detail",
    "fix": "fix",
    "means": "means",
    "remedy": "remedy",
    "help": "help",
    "description": "help",
    "epilog": "help",
    "label": "label",
    "placeholder": "label",
    "info": "label",
}
_ERRORS = ("DebuggerError", "RequestError", "RenderError", "BackendError", "LabError", "EngineError", "SandboxError")
_MORE_ERRORS = (
    *("MachineError", "PluginError", "GrammarMissingError", "GrammarTooMuchError", "HelperSpentError"),
    *("HelperFailedError", "LimitError", "NoServerError"),
)
_ARGUMENTS = {
    **dict.fromkeys((*_ERRORS, *_MORE_ERRORS), ("error", "hint")),
    "KnownError": ("quoted", "stage", "means", "remedy"),
    "Notice": ("field", "notice"),
    "note": ("notice",),
}
_NOT_MESSAGES = ("Engine", "Field")  # names of servers, and descriptions of fields
_PLAIN_START = re.compile(r"(?!pip )[a-z]+[ ,:]")  # not `vLLM`, `messages[0]`, a path or a command
_WORD = re.compile(r"[A-Za-z][a-z'’]+")
_QUOTED = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')
_CODE = re.compile(r"`[^`\n]*`|\{…\}|\"[^\"\n]{0,40}\"|'[^'\n]{1,40}'")

# Words and turns that make an English reader stop, with what to write instead.
PRIVATE = {
    r"(?<!there )\b(?:is|are|was|were|be) (?:no|none)\b(?! (?:longer|more|other|better|less)\b)": "is not",
    r"\bbehind\b(?! (?:a |the )?(?:proxy|proxies|gateway|reverse))": "after",
    r"\b(?:told|untold)\b": "reported, distinguished, …",
    r"\btells?\b(?! (?:the|which) model\b)": "reports, shows, distinguishes",
    r"(?<!or )(?<!and )\botherwise(?: than| set| escaped| written| printed)\b": "differently",
    r"\bheld against\b": "compared with",
    r"\bsuch an?\b": "this kind of, a … like this",
    r"\bof (?:its|their|his|your|our) own\b": "own, separate",
    r"\bthere is no (?:telling|saying|knowing)\b": "cannot be known",
    r"\bstands?\b(?! (?:for|alone)\b)": "is, occurs",
    r"\blately\b": "recently",
    r"\bbesides\b": "in addition",
    r"\bnobody\b": "no one, or the passive",
    r"\bwhoever\b": "anyone who",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\bcures?\b": "fix",
    r"\bstrangers?\b": "visitors, untrusted users",
    r"\bcannot be said\b": "unknown",
    r"\bstand-in\b": "approximate",
    r"\bwithout a word\b": "silently",
    r"\bworked cases?\b": "example",
}
_PRIVATE = tuple((re.compile(turn, re.IGNORECASE), better) for turn, better in PRIVATE.items())


class Sentence(NamedTuple):
    """A text that a person may read.

    Attributes:
        path: File, from the top of the project.
        line: Its line, from 1.
        kind: What it is: `error`, `hint`, `title`, `help`, `text`, `page`, ….
        text: The words, a value in them as `{…}`.
    """

    path: str
    line: int
    kind: str
    text: str


def sentences() -> Iterator[Sentence]:
    """Yield the sentences of the program, file by file."""
    for folder in PYTHON:
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from of_python(file.read_text("utf-8"), str(file.relative_to(ROOT)))
    for folder in SCRIPTS:
        for file in sorted((ROOT / folder).rglob("*.js")):
            yield from of_script(file.read_text("utf-8"), str(file.relative_to(ROOT)))


def of_python(source: str, path: str) -> Iterator[Sentence]:
    """Yield the sentences of a Python file."""
    tree = ast.parse(source)
    skipped, kinds = _docstrings(tree), _kinds(tree)
    for node in ast.walk(tree):
        if id(node) in skipped or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in node.values)
        text = _text(node)
        kind = kinds.get(id(node), "text")
        if text is not None and _is_prose(text, kind):
            yield Sentence(path, node.lineno, kind, text)


def of_script(source: str, path: str) -> Iterator[Sentence]:
    """Yield the sentences of a script of the page."""
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith(("//", "*", "/*", "import ")):
            continue
        for found in _QUOTED.finditer(line.split(" // ")[0]):
            text = re.sub(r"\$\{[^}]*\}", VALUE, found[0][1:-1])
            if _is_prose(text, "text") and "${" not in text and "=>" not in text:
                yield Sentence(path, number, "text", text)


def of_pages() -> Iterator[Sentence]:
    """Yield the paragraphs of the documentation."""
    for pattern in PAGES:
        for file in sorted(ROOT.glob(pattern)):
            yield from of_page(file.read_text("utf-8"), str(file.relative_to(ROOT)))


def of_page(source: str, path: str) -> Iterator[Sentence]:
    """Yield the lines of a page that are prose, code left out."""
    is_code = False
    for number, line in enumerate(source.splitlines(), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code and line.strip():
            yield Sentence(path, number, "page", line)


def faults(sentence: Sentence) -> Iterator[str]:
    """Yield what the style guide has against a sentence."""
    words = _CODE.sub("`…`", sentence.text)
    for turn, better in _PRIVATE:
        if (found := turn.search(words)) is not None:
            yield f"{found[0]!r}: write {better}"
    if sentence.kind in MESSAGES and not _is_part(sentence.text):
        if _PLAIN_START.match(sentence.text):
            yield "a message begins with a capital"
        if not sentence.text.startswith("pip ") and not sentence.text.rstrip("\"'`)*").endswith(
            (".", "?", "!", "…", VALUE)
        ):
            yield "a message ends with a full stop"


def _is_part(text: str) -> bool:
    """Return whether a text is joined to others, and so needs no sentence of its own."""
    return text != text.strip() or (text.startswith(VALUE) and text.endswith(VALUE))


def _is_prose(text: str, kind: str) -> bool:
    words = _WORD.findall(text.replace(VALUE, " "))
    return len(words) >= (2 if kind != "text" else 3) and " " in text


def _text(node: ast.Constant | ast.JoinedStr) -> str | None:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    return "".join(str(part.value) if isinstance(part, ast.Constant) else VALUE for part in node.values)


def _docstrings(tree: ast.AST) -> set[int]:
    """Return the texts that are statements of their own: what documents code."""
    return {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def _kinds(tree: ast.AST) -> dict[int, str]:
    """Return what each text is, as far as the call that it is an argument of says it."""
    kinds: dict[int, str] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        for keyword in () if name in _NOT_MESSAGES else node.keywords:
            if keyword.arg in _KINDS:
                _mark(keyword.value, _KINDS[keyword.arg], kinds)
        for kind, argument in zip(_ARGUMENTS.get(name, ()), node.args, strict=False):
            _mark(argument, kind, kinds)
    return kinds


def _mark(node: ast.expr, kind: str, kinds: dict[int, str]) -> None:
    """Note the kind of a text, and of both branches of a choice between two."""
    if isinstance(node, ast.IfExp):
        _mark(node.body, kind, kinds)
        _mark(node.orelse, kind, kinds)
    else:
        kinds.setdefault(id(node), kind)


def main() -> int:
    """Print the sentences, or their faults."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--lint", action="store_true", help="list what breaks the style; exit with 1 if anything does")
    parser.add_argument("--pages", action="store_true", help="read the documentation as well")
    parser.add_argument("--kind", help="list one kind")
    options = parser.parse_args()
    found = [*sentences(), *(of_pages() if options.pages else ())]
    n_faults = 0
    for one in found:
        if options.kind not in (None, one.kind):
            continue
        if not options.lint:
            print(f"{one.path}:{one.line}\t{one.kind}\t{one.text}")
            continue
        for fault in faults(one):
            n_faults += 1
            print(f"{one.path}:{one.line}: {fault}\n    {one.text}")
    print(f"{len(found)} sentences" + (f", {n_faults} faults" if options.lint else ""), file=sys.stderr)
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())
