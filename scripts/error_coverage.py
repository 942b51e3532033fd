"""How does the program read the errors that an engine can raise? Each message of its sources, pasted as a user would.

python scripts/error_coverage.py FOLDER [--maker NAME] [--in PATTERN] [--body] [--out FILE]

FOLDER is an installed package or an unpacked tree. Collected are the messages of `raise`, of HTTP errors and error
responses, and of logged errors (Python), of error types and `bail!` (Rust), and of `raise_exception` (chat templates);
with --in, only of files whose path the pattern finds. Variable parts get a plausible value by their names. What is
raised is pasted as a traceback's last line; with --body, what is not raised at the start of a server is pasted as the
answer that the server makes of it. Printed are the counts of readings and what is shown only as unknown; --out writes
every message with its reading, tab-separated.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.errors import DebuggerError  # noqa: E402  # the checkout must be on the path first
from prompt_debugger.core.diagnose.refusals.understand import Understood, understand  # noqa: E402
from prompt_debugger.core.evidence import Form, gather_evidence  # noqa: E402
from prompt_debugger.core.known_errors import Cause  # noqa: E402

_SKIPPED = re.compile(r"(?:^|/)(?:tests?|benchmarks?|examples?|docs|third_party|__pycache__)/|(?:^|/)test_[^/]*$")
_PLACEHOLDER = re.compile(r"\{(\w*)[^{}]{0,40}\}|%(?:\((\w+)\))?[-+.\d]*[sdrif]")
_STARTUP = re.compile(
    r"(?:^|/)(?:configs?|engine/arg_utils|server_args|arg_groups|cli|launchers?|launch_\w+)(?:/|\.py|$)"
)
_MIN_LETTERS = 12  # of a message's fixed words: less says nothing
_LOGGED = frozenset({"error", "warning", "exception", "critical", "warning_once", "error_once"})
_RESPONDING = re.compile(r"error_response$|^ErrorResponse$")
_MESSAGE_NAMES = ("detail", "message", "msg", "err_msg")

_VALUES: tuple[tuple[str, str], ...] = (
    (r"status|http_code", "400"),
    (r"tool_call_id|call_id|^id$|_id$", "call_7"),
    (r"role", "critic"),
    (r"(?:tool|reasoning).*parser|parser", "qwen9"),
    (r"model|served", "my-model"),
    (r"tool.*name|function.*name|func", "get_weather"),
    (r"^(?:e|ex|exc|err|error|exception|cause|reason|why)$|str\(e", "it did not work"),
    (r"len|num|count|max|min|limit|total|size|index|idx|tokens?$|budget|top_|n$|^i$|port|pos|depth|bytes", "7"),
    (r"temperature|penalty|_p$|ratio|scale", "7.5"),
    (r"url|uri", "http://localhost:8000/a.png"),
    (r"path|file|dir", "/data/a.json"),
    (r"type|class|cls|kind", "dict"),
    (r"keys|names|choices|supported|available|allowed|valid|list|options|modalities", "['a', 'b']"),
    (r"schema|json|body|payload|request|kwargs|params|config|data", "{'a': 1}"),
    (r"modality", "image"),
    (r"flag|arg|option", "--my-option"),
    (r"name|field|key|param|attr", "my_name"),
    (r"token|text|content|string|value|msg|message", "some text"),
)


class Reading(StrEnum):
    """How the program reads a message."""

    KNOWN = "known"
    OTHER_MAKER = "known of another"
    CLASS = "class"
    CAUSE = "only its cause"
    UNKNOWN = "unknown"
    OTHER_FORM = "taken for something else"
    NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Message:
    """An error message of some sources.

    Attributes:
        text: Its words, with values in the variable parts.
        place: The file and line that it comes from.
        raised: How it gets out: the exception's name, `log`, or "" for the body of an answer.
    """

    text: str
    place: str
    raised: str

    @property
    def paste(self) -> str:
        """The message as a user would have it: a traceback's last line, a log line, or a body."""
        if self.raised == "log":
            return f"ERROR 11-29 16:30:05 [{Path(self.place).name}] {self.text}"
        if self.raised:
            return f"{self.raised}: {self.text}"
        return json.dumps({"error": {"message": self.text, "type": "BadRequestError", "param": None, "code": 400}})


@dataclass(frozen=True, slots=True)
class Read:
    """A message, and how it was read.

    Attributes:
        message: The message.
        reading: How.
        by: The maker and sentence, the class, or the form.
    """

    message: Message
    reading: Reading
    by: str


def messages_of(folder: Path, only: str = "", *, is_body: bool = False) -> list[Message]:
    """Return the error messages of the sources in a folder, each text once.

    Args:
        folder: An installed package or an unpacked tree.
        only: Pattern that is found in the path of a file that counts; "" for all.
        is_body: Whether what is raised reaches the user as the body of an answer.
    """
    found: dict[str, Message] = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        collect = _COLLECTORS.get(file.suffix)
        if collect is None or _SKIPPED.search(name) or (only and not re.search(only, name)):
            continue
        for line, raised, text in collect(file.read_text(encoding="utf-8", errors="replace")):
            words = " ".join(text.split())
            found.setdefault(words, Message(words, f"{name}:{line}", _as_pasted(raised, name, is_body=is_body)))
    return list(found.values())


def _as_pasted(raised: str, name: str, *, is_body: bool) -> str:
    is_answer = is_body and raised != "log" and not _STARTUP.search(name)
    return "" if is_answer else raised


def _of_python(source: str) -> Iterator[tuple[int, str, str]]:
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    texts = _texts_by_name(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            call, raised = node.exc, _name(node.exc.func)
            raised = "" if "HTTP" in raised else raised
        elif isinstance(node, ast.Call) and _is_error(node):
            call, raised = node, "log" if _name(node.func) in _LOGGED else ""
        else:
            continue
        text = next((text for value in _values(call) if (text := _text(value, texts)) is not None), None)
        if text is not None and len(re.findall(r"[^\W\d]", text[1])) >= _MIN_LETTERS:
            yield node.lineno, raised, text[0]


def _is_error(call: ast.Call) -> bool:
    name = _name(call.func)
    if isinstance(call.func, ast.Attribute) and name in _LOGGED:
        return "log" in _name(call.func.value).lower()
    return bool(_RESPONDING.search(name))


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Call | ast.Subscript):
        return _name(node.func if isinstance(node, ast.Call) else node.value)
    return node.id if isinstance(node, ast.Name) else ""


def _values(call: ast.Call) -> Iterator[ast.expr]:
    for keyword in call.keywords:
        if keyword.arg in _MESSAGE_NAMES:
            yield keyword.value
    yield from call.args


def _texts_by_name(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what is assigned to names such as `msg`, before it is raised."""
    return {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant | ast.JoinedStr | ast.BinOp)
        for target in node.targets
        if isinstance(target, ast.Name) and re.search(r"msg|message|err|detail", target.id)
    }


def _text(node: ast.expr, texts: dict[str, ast.expr]) -> tuple[str, str] | None:
    """Return a text with values in its variable parts, and its fixed words alone; `None` if it is no text."""
    if isinstance(node, ast.Constant):
        return _of_constant(node.value) if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        parts = [
            (one.value, one.value)
            if isinstance(one, ast.Constant) and isinstance(one.value, str)
            else (_filled(one), "")
            for one in node.values
        ]
        return "".join(part[0] for part in parts), "".join(part[1] for part in parts)
    if isinstance(node, ast.BinOp):
        left = _text(node.left, texts)
        if left is None or isinstance(node.op, ast.Mod):
            return left
        right = _text(node.right, texts) or (_value_for(ast.unparse(node.right)), "")
        return left[0] + right[0], left[1] + right[1]
    if isinstance(node, ast.IfExp):
        return _text(node.body, texts)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _text(node.func.value, texts)
    if isinstance(node, ast.Name) and node.id in texts:
        return _text(texts[node.id], {})
    return None


def _of_constant(text: str) -> tuple[str, str]:
    filled = _PLACEHOLDER.sub(lambda found: _value_for(found[1] or found[2] or ""), text)
    return filled, _PLACEHOLDER.sub("", text)


def _filled(node: ast.expr) -> str:
    if not isinstance(node, ast.FormattedValue):
        return ""
    value = _value_for(ast.unparse(node.value))
    return repr(value) if node.conversion == ord("r") and not value[:1].isdigit() else value


def _value_for(name: str) -> str:
    last = re.sub(r"\(.*|\[.*", "", name).rsplit(".", 1)[-1]
    wanted = f"{last or name}".lower()
    return next((value for pattern, value in _VALUES if re.search(pattern, wanted)), "some_value")


_RUST = re.compile(
    r"(?:#\[error\(|(?:bail|anyhow|ensure)!\((?:[^\"();]{1,80},)?|(?:Error|Err)\w*\()\s*\"((?:[^\"\\]|\\.){8,400})\""
)
_TEMPLATE = re.compile(r"raise_exception\(\s*(['\"])((?:(?!\1).){4,400})\1")


def _of_pattern(pattern: re.Pattern[str], raised: str) -> Callable[[str], Iterator[tuple[int, str, str]]]:
    def collect(source: str) -> Iterator[tuple[int, str, str]]:
        for found in pattern.finditer(source):
            text, words = _of_constant(re.sub(r"\\\n\s*", "", found[found.lastindex or 0]).replace('\\"', '"'))
            if len(re.findall(r"[^\W\d]", words)) >= _MIN_LETTERS:
                yield source.count("\n", 0, found.start()) + 1, raised, text

    return collect


_COLLECTORS: dict[str, Callable[[str], Iterator[tuple[int, str, str]]]] = {
    ".py": _of_python,
    ".rs": _of_pattern(_RUST, ""),
    ".jinja": _of_pattern(_TEMPLATE, "jinja2.exceptions.TemplateError"),
}


def read_message(message: Message, maker: str) -> Read:
    """Return how the program reads a message that is pasted.

    Args:
        message: The message.
        maker: Whose it is, as its table of known sentences says; "" if it has none.
    """
    try:
        evidence = gather_evidence([message.paste])
    except DebuggerError:
        return Read(message, Reading.NOTHING, "")
    if evidence.error is None:
        is_nothing = evidence.form is Form.LOG
        return Read(message, Reading.NOTHING if is_nothing else Reading.OTHER_FORM, evidence.form.value)
    return Read(message, *_reading(understand(evidence.error), maker))


def _reading(understood: Understood, maker: str) -> tuple[Reading, str]:
    if understood.known is not None:
        is_own = maker in ("", understood.known.maker) or understood.known.error.is_general
        says = f"{understood.known.maker}: {understood.known.error.says}"
        return Reading.KNOWN if is_own else Reading.OTHER_MAKER, says
    if understood.classified is not None:
        return Reading.CLASS, understood.classified.error.name
    is_told = understood.cause not in (Cause.REQUEST, Cause.UNCLEAR)
    return Reading.CAUSE if is_told else Reading.UNKNOWN, understood.cause.value


def main(arguments: list[str]) -> None:
    """Print the counts and what is unknown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--maker", default="", help="its name in core/known_errors")
    parser.add_argument(
        "--in", dest="only", default="", metavar="PATTERN", help="found in the path of files that count"
    )
    parser.add_argument("--body", action="store_true", help="paste what is raised as the body of an answer")
    parser.add_argument("--out", type=Path, metavar="FILE", help="where to write every message with its reading")
    options = parser.parse_args(arguments)
    read = [read_message(one, options.maker) for one in messages_of(options.folder, options.only, is_body=options.body)]
    for one in read:
        if one.reading is Reading.UNKNOWN:
            print(f"{one.message.place}\t{one.message.paste}")
    if options.out:
        rows = [
            f"{one.reading.value}\t{one.by}\t{one.message.place}\t{one.message.raised}\t{one.message.text}\n"
            for one in read
        ]
        options.out.write_text("".join(sorted(rows)), encoding="utf-8")
    counts = Counter(one.reading for one in read)
    print(f"{len(read)} messages: " + ", ".join(f"{counts[reading]} {reading.value}" for reading in Reading))


if __name__ == "__main__":
    main(sys.argv[1:])
