"""A diff for the maintainers of an engine or of a template: offered only where it is proved.

For a parser, the `REPAIRS` are tried on its file in the release's wheel, or in the
installed vLLM, each in a copy that the locked process imports. One is offered if the output is read with it, if every
sibling of the output (text without calls, cut texts, healthy calls) is read as before, and if the new test fails
without and passes with it.
For a template it is the fix that the run's finding offers.
"""

from __future__ import annotations

import ast
import asyncio
import difflib
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError, RenderError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import Trace, VllmOutcome
from prompt_debugger.core.complete import ParserCase, title_of
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.parse.engines import CHECKED, RawOutput, VllmEngine, WheelEngine
from prompt_debugger.core.parse.engines.wheels import bring_wheel, installed_folder
from prompt_debugger.core.pipeline import with_accounts
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.tools.fixes.offered import fixes_of
from prompt_debugger.core.tools.fixes.trial import Runner, Trial, runner_of, try_source, try_test
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, write_upstream_test

DIFFS = ("template", *PARSER_TESTS)
DIFFED = ("vllm", *CHECKED)  # those whose parsers can be run from a copy
_NO_DIFF = {"llama.cpp": "llama.cpp's parser is compiled, and no changed copy of it can be tried out here"}
MAX_LINES = 40
MAX_CANDIDATES = 12
_OWN_NOT_RUN = (
    " The maintainers' own tests of this parser were not run with it: releases contain none. `--own-tests FILE` runs "
    "those from the project's repository."
)
_NO_CALLS = "It is 20 degrees, and sunny."


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamDiff:
    """A proved change, or why there is none.

    Attributes:
        of: `template`, or the engine whose parser is changed.
        diff: A unified diff for `patch -p1`; "" for none.
        file: What it changes.
        version: The engine's release; `null` for a template.
        repair: The class of the fault; `null` where there is no diff or it is a template's.
        says: What the change does, or why there is no diff, a sentence.
        test: The new test, which fails without the change and passes with it; "" for a template.
        streamed: Whether the output is also read token by token with the change; `null` if not tried.
        siblings: How many outputs besides are read as before.
        own_tests: Whether the maintainers' tests pass with the change as they did without; `null` if none were given.
    """

    of: str
    diff: str = ""
    file: str = ""
    version: str | None = None
    repair: str | None = None
    says: str = ""
    test: str = ""
    streamed: bool | None = None
    siblings: int = 0
    own_tests: bool | None = None


async def template_diff(trace: Trace) -> UpstreamDiff:
    """Return the fix of a run's template as a diff; the request is rendered with and without it.

    Raises:
        SandboxError: Checking the request takes too much.
    """
    offered = [(code, one) for code, fix in fixes_of(trace).items() for one in fix.each if one.kind == "template"]
    of_template = [(code, one) for code, one in offered if one.diff and one.template]
    if not of_template:
        says = "No fix of the template is known for what was found in this run, so there is no diff of it."
        return UpstreamDiff(of="template", says=says)
    code, fix = next(iter(of_template))
    name = "chat_template.jinja"
    diff = f"--- a/{name}\n+++ b/{name}\n@@{fix.diff.partition(chr(10) + '@@')[2]}"
    before, after = prompt_of(trace), await _rendered(trace, fix.template)
    is_proved = code not in after and code in await _rendered(trace, "" if before is None else before.template or "")
    proof = "gone when the request is rendered with it" if is_proved else "not seen by rendering alone"
    tried = "" if is_proved else " Try it on a server with `run REQUEST --experiments` before you send it."
    return UpstreamDiff(
        of="template", diff=diff, file=name, says=f"This is the fix for {code}, which is {proof}.{tried}"
    )


async def _rendered(trace: Trace, template: str) -> set[str]:
    """Return the codes of what is found in a run's request, rendered with a template."""
    target = Target(chat_template=template or None)  # the tokenizer is the lab's: texts are compared, no tokens
    try:
        return {finding.code for finding in (await render_request(trace.request, target)).findings}
    except RenderError:
        return set()


async def parser_diff(case: ParserCase, engine: str, own_tests: Path | None = None) -> UpstreamDiff:
    """Return the smallest proved change of a parser's source that makes it read an output.

    Raises:
        EngineError: The engine was not fetched, or its parsers cannot be imported.
    """
    if engine not in DIFFED:
        why = _NO_DIFF.get(engine, f"The parsers of {title_of(engine)} cannot be run from a copy here")
        return UpstreamDiff(of=engine, says=f"{why}: there is no diff. The failing test is what can be reported.")
    folder, version = await asyncio.to_thread(_release, engine)
    locate = PARSER_TESTS[engine].source
    file = None if locate is None else locate(folder, case.parser)
    none = UpstreamDiff(of=engine, version=version, file="" if file is None else str(file.relative_to(folder)))
    if file is None:
        return replace(none, says=f"{title_of(engine)} {version} has no parser of the name {case.parser!r}.")
    before = await _read(engine, folder, case, _outputs(case, REPAIRS))
    if _is_right(before[case.raw]):
        return replace(none, says=f"{title_of(engine)} {version} reads this output, so there is nothing to change.")
    candidates = tuple(_candidates(file.read_text(encoding="utf-8")))
    if not candidates:
        says = "No known kind of change applies to the parser's source"
        return replace(none, says=f"{says}, so there is no diff. The failing test is what can be reported.")
    with tempfile.TemporaryDirectory(prefix="diff-") as workshop:
        copy = Path(workshop) / version
        await asyncio.to_thread(_copy, folder, copy, file.relative_to(folder).parts[0])
        for repair, changed in candidates:
            await asyncio.to_thread(_write, copy / none.file, changed)
            found = await _proved(replace(none, repair=repair.name, says=_says(repair)), case, before, folder, copy)
            if found is not None:
                return await asyncio.to_thread(_with_own_tests, found, folder, copy, own_tests)
    says = (
        f"None of {len(candidates)} changes of known kinds makes the parser read this output and leaves what it reads"
    )
    return replace(none, says=f"{says} as it is, so there is no diff. The failing test is what can be reported.")


def sentence_of_diff(found: UpstreamDiff) -> str:
    """Return what a diff is proved by, or why there is none, in words."""
    if not found.diff or found.of == "template":
        return found.says
    streams = {True: " and token by token", False: ", but not token by token", None: ""}[found.streamed]
    own = " The maintainers' own tests pass with and without it." if found.own_tests else ""
    if found.own_tests is None and "maintainers' tests" not in found.says:
        own = _OWN_NOT_RUN
    return (
        f"{title_of(found.of)} {found.version}: the new test fails without this change and passes with it. "
        f"{found.says} The output is read whole{streams}; {found.siblings} others are read as well as before.{own}"
    )


def _release(engine: str) -> tuple[Path, str]:
    """Return the folder that contains an engine's package, and its version.

    Raises:
        EngineError: The engine is not here.
    """
    if engine in CHECKED:
        folder = bring_wheel(engine, None)
        return folder, folder.name
    package = PARSER_TESTS[engine].package
    found = installed_folder(package)
    if found is None:
        raise EngineError(f"{title_of(engine)} is not installed here.", "`prompt-debugger lab --install` installs it.")
    noted = next((one.name for one in sorted(found.glob(f"{package}*.dist-info"))), "-unknown")
    return found, noted.removesuffix(".dist-info").rpartition("-")[2].partition("+")[0]


def _says(repair: Repair) -> str:
    return f"With it {repair.says}."


def _candidates(source: str) -> Iterator[tuple[Repair, str]]:
    seen = {source}
    for repair in REPAIRS:
        for changed in repair.edits(source):
            if changed not in seen and len(seen) <= MAX_CANDIDATES and _compiles(changed):
                seen.add(changed)
                yield repair, changed


def _compiles(source: str) -> bool:
    try:
        compile(source, "parser.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


async def _proved(
    none: UpstreamDiff, case: ParserCase, before: Mapping[str, VllmOutcome], folder: Path, copy: Path
) -> UpstreamDiff | None:
    """Return the change with its proofs, `None` where one of them fails."""
    try:
        after = await _read(none.of, copy, case, tuple(before), goes_on=False)
    except EngineError:  # a changed parser may fail in any way
        return None
    if not _is_right(after[case.raw]):
        return None
    others = [raw for raw in before if raw != case.raw]
    if any(not _is_kept(before[raw], after[raw], is_cut=case.raw.startswith(raw)) for raw in others):
        return None
    diff = _diff(folder / none.file, copy / none.file, none.file)
    if diff.count("\n") > MAX_LINES:
        return None
    test = write_upstream_test(case, none.of)
    if [await asyncio.to_thread(_fails, test, none.of, one) for one in (folder, copy)] != [True, False]:
        return None
    streamed = after[case.raw].usual_stream_equal
    return replace(none, diff=diff, test=test, streamed=streamed, siblings=len(others))


def _fails(test: str, engine: str, folder: Path) -> bool | None:
    return _try(test, engine, folder).fails


def _try(test: str | Path, engine: str, folder: Path) -> Trial:
    known = runner_of(engine, PARSER_TESTS[engine].package)
    if known is None:
        return Trial(None, None, "it could not be run")
    is_wheel = engine in CHECKED
    runner = Runner(known.python, known.package, folder if is_wheel else None, None if is_wheel else folder)
    return try_test(test, runner) if isinstance(test, Path) else try_source(test, runner)


def _with_own_tests(found: UpstreamDiff, folder: Path, copy: Path, tests: Path | None) -> UpstreamDiff:
    if tests is None:
        return found
    before, after = (_try(tests, found.of, one) for one in (folder, copy))
    if before.fails is not False:
        told = before.told or "they could not be run"
        return replace(found, says=f"{found.says} The maintainers' tests do not pass without it either: {told}.")
    if after.fails is not False:
        why = f"A change was found, but the maintainers' tests fail with it: {after.told}. There is no diff."
        return replace(found, diff="", test="", repair=None, says=why, own_tests=False)
    return replace(found, own_tests=True)


def _outputs(case: ParserCase, repairs: tuple[Repair, ...]) -> tuple[str, ...]:
    """Return the output and its siblings, which a change must not harm."""
    raw = case.raw
    third = len(raw) // 3
    others = [_NO_CALLS, raw[:third], raw[: 2 * third], raw[:-1], f"{raw}\n{raw}", f"Look: {raw}", f"{raw} Done."]
    others += [other for repair in repairs for other in repair.siblings(raw)]
    return tuple(dict.fromkeys([raw, *others]))


async def _read(
    engine: str, folder: Path, case: ParserCase, raws: tuple[str, ...], *, goes_on: bool = True
) -> dict[str, VllmOutcome]:
    """Return what the parser in a folder makes of some outputs, whole and streamed."""
    overlay = () if folder == installed_folder("vllm") else (folder,)
    helper = WheelEngine(engine, folder) if engine in CHECKED else VllmEngine(overlay=overlay)
    name = f"{engine}:{case.parser}"
    found: dict[str, VllmOutcome] = {}
    try:
        for raw in raws:
            parse = read_raw(raw, ReadContext(), message=None)
            output = RawOutput(raw, tools=case.tools or None, called=tuple(one for one, _ in case.calls))
            outcomes = await helper.parse_with([name], output)
            outcome = with_accounts(parse, outcomes)[name]
            assert isinstance(outcome, VllmOutcome)
            found[raw] = outcome
            if not goes_on and not _is_right(outcome):
                break
    finally:
        await asyncio.to_thread(helper.close)
    return found


def _is_right(outcome: VllmOutcome) -> bool:
    return outcome.account is not None and outcome.account.is_right


def _is_kept(before: VllmOutcome, after: VllmOutcome, *, is_cut: bool) -> bool:
    """Return whether a change harms the reading of an output: it is right or as it was, and streams as well as before.

    A cut call is streamed as far as it goes and not read whole, by healthy parsers too.
    """
    if not is_cut and before.usual_stream_equal and after.usual_stream_equal is False:
        return False
    return _is_right(after) or _message(before) == _message(after)


def _message(outcome: VllmOutcome) -> tuple[object, ...]:
    calls = [call.get("function") for call in outcome.tool_calls]
    return outcome.content, outcome.reasoning, calls, outcome.error is None


def _copy(folder: Path, copy: Path, package: str) -> None:
    """Copy a package by links; what is installed next to it stays where it is."""
    same_disk = folder.stat().st_dev == copy.parent.stat().st_dev
    shutil.copytree(folder / package, copy / package, copy_function=os.link if same_disk else os.symlink)
    for noted in folder.glob(f"{package}*.dist-info"):
        shutil.copytree(noted, copy / noted.name)


def _write(file: Path, source: str) -> None:
    """Replace a file of the copy, and forget what was compiled of it: another source may be as long and as old."""
    for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
        compiled.unlink()
    file.unlink()  # a link, of the first one
    file.write_text(source, encoding="utf-8")


def _diff(before: Path, after: Path, name: str) -> str:
    old, new = (one.read_text(encoding="utf-8").splitlines(keepends=True) for one in (before, after))
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


@dataclass(frozen=True, slots=True)
class Repair:
    """A class of faults and its edit.

    Attributes:
        says: What the changed parser does, for whoever reads the diff.
        edits: Yields changed sources, the likeliest first.
        siblings: Returns outputs that the change could harm, made from the one that is not read.
    """

    name: str
    says: str
    edits: Callable[[str], Iterator[str]]
    siblings: Callable[[str], Iterator[str]]


# Each repair is an edit of the text, without knowledge of any parser: of a regular expression, or of one call. What is
# not proved to help and to harm nothing is not offered.
_INDEX = re.compile(r":(?:\(\?P<\w+>\\d\+\)|\(\\d\+\)|\\d\+)")
# A number alone is a counter, and `name.0` an index that is written wrong: neither is a name.
_NOT_A_NUMBER = r"(?!\s*(?:[\w.-]*\.)?\d+(?!\s*:|[\w.-]))"
_INT_OF_GROUP = re.compile(r"int\((\w+\.group\([^()]*\))\)")
_BODY = re.compile(r"\(\.\*\?\)")
_BODY_WITH_STRINGS = r'((?:"(?:[^"\\]|\\.)*"|[^"])*?)'
_LITERAL = re.compile(r"(?P<kind>[rR]?[fF]?[rR]?)(?P<quote>\"\"\"|'''|\"|')")


def _index_left_out(source: str) -> Iterator[str]:
    """Make `:0` after a name optional in a pattern that wants it, and read a number that is not there as 0."""
    for start, end in _literals(source):
        text = source[start:end]
        if _INDEX.search(text) is None:
            continue
        changed = _INDEX.sub(lambda found: f"(?:{found.group()})?", text)
        head = re.match(r"[rR]?[\"'](?:\^(?:\\s\*)?)?", changed)
        if head is None:
            continue
        changed = changed[: head.end()] + _NOT_A_NUMBER + changed[head.end() :]
        yield _INT_OF_GROUP.sub(r"int(\1 or 0)", source[:start] + changed + source[end:])


def _marker_in_a_string(source: str) -> Iterator[str]:
    """Read a body up to a closing marker that stands outside of its JSON strings."""
    for start, end in _literals(source):
        text = source[start:end]
        opened = _LITERAL.match(text)
        if opened is None or "r" not in opened["kind"].lower() or not _BODY.search(text):
            continue
        body = _BODY_WITH_STRINGS
        if opened["quote"] == '"':  # the body has quotes of its own
            body = body.replace('"', r"\x22")
        yield source[:start] + _BODY.sub(lambda _, body=body: body, text) + source[end:]  # type: ignore[misc]


def _text_behind(source: str) -> Iterator[str]:
    """Read the JSON value that a text begins with, and leave what follows it."""
    for start, end in _calls(source, "json.loads"):
        (argument,) = _inner(source, start, end)
        yield f"{source[:start]}json.JSONDecoder().raw_decode({argument}.lstrip())[0]{source[end:]}"


def _text_before(source: str) -> Iterator[str]:
    """Look for a pattern anywhere instead of only at the beginning."""
    for found in re.finditer(r"\.match\(", source):
        yield f"{source[: found.start()]}.search({source[found.end() :]}"
    for start, end in _literals(source):
        text = source[start:end]
        if re.match(r"r[\"']\^(?![\"'])", text):
            yield source[:start] + text.replace("^", "", 1) + source[end:]


def _line_break_at_a_marker(source: str) -> Iterator[str]:
    r"""Take white space where a pattern wants one `\n`, or a marker without the line break next to it."""
    for start, end in _literals(source):
        text = source[start:end]
        if r"\n" in text and "(" in text:
            yield source[:start] + text.replace(r"\n", r"\s*") + source[end:]
        elif re.fullmatch(r"[\"']<[^\s<>]+>\\n[\"']|[\"']\\n<[^\s<>]+>[\"']", text):
            yield source[:start] + text.replace(r"\n", "") + source[end:]


def _with_index(raw: str) -> Iterator[str]:
    yield re.sub(r"(<\|tool_call_begin\|>.*<\|tool_call_end\|>)", r"\1\1", raw, flags=re.DOTALL)
    headers = re.compile(r"(<\|tool_call_begin\|>\s*)([\w.-]+)(?=\s*<)")
    yield headers.sub(r"\1functions.\2:0", raw)
    yield headers.sub(r"\1\2:3", raw)
    yield headers.sub(r"\g<1>3", raw)


def _plain_strings(raw: str) -> Iterator[str]:
    yield re.sub(r'"(?:[^"\\]|\\.)*?<(?:[^"\\]|\\.)*"', '"plain"', raw)


def _none(_: str) -> Iterator[str]:
    return iter(())


REPAIRS = (
    Repair("header-without-index", "a call whose header has a name and no index is read", _index_left_out, _with_index),
    Repair(
        "marker-inside-a-string",
        "a closing marker inside a JSON string does not end the call",
        _marker_in_a_string,
        _plain_strings,
    ),
    Repair("text-behind-the-call", "text after the JSON of a call does not lose the call", _text_behind, _none),
    Repair("text-before-the-call", "text before a call does not lose the call", _text_before, _none),
    Repair("line-break-at-a-marker", "a marker is read with or without a line break", _line_break_at_a_marker, _none),
)


def _literals(source: str) -> Iterator[tuple[int, int]]:
    """Yield where string literals of a source are, each written in one piece; documentation is left out."""
    tree = ast.parse(source)
    told = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    inside = {id(part) for one in ast.walk(tree) if isinstance(one, ast.JoinedStr) for part in ast.walk(one)}
    for one in ast.walk(tree):
        if not isinstance(one, ast.JoinedStr | ast.Constant) or id(one) in told:
            continue
        if isinstance(one, ast.Constant) and (not isinstance(one.value, str) or id(one) in inside):
            continue
        start, end = _span(source, one)
        if _is_one_piece(source[start:end]):
            yield start, end


def _is_one_piece(text: str) -> bool:
    opened = _LITERAL.match(text)
    return opened is not None and text.count(opened["quote"]) == 2 + text.count("\\" + opened["quote"])


def _calls(source: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield where a function is called with one argument."""
    for one in ast.walk(ast.parse(source)):
        if isinstance(one, ast.Call) and ast.unparse(one.func) == name and len(one.args) == 1 and not one.keywords:
            yield _span(source, one)


def _inner(source: str, start: int, end: int) -> tuple[str]:
    call = ast.parse(source[start:end].strip(), mode="eval").body
    assert isinstance(call, ast.Call)
    return (ast.unparse(call.args[0]),)


def _span(source: str, node: ast.Constant | ast.JoinedStr | ast.Call) -> tuple[int, int]:
    lines = source.splitlines(keepends=True)

    def at(line: int, column: int) -> int:
        return sum(map(len, lines[: line - 1])) + len(lines[line - 1].encode()[:column].decode())

    assert node.end_lineno is not None
    assert node.end_col_offset is not None
    return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)
