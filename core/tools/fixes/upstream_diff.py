"""A diff for the maintainers of an engine: offered only where it is proved.

The `REPAIRS` are tried on its file in the release's wheel, or in the
installed vLLM, each in a copy that the locked process imports. One is offered if the output is read with it, if every
sibling of the output (text without calls, cut texts, healthy calls) is read as before, and if the new test fails
without and passes with it. A template's is in `upstream_template`.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.complete import ParserCase, title_of
from prompt_debugger.core.parse.engines import CHECKED, RawOutput, VllmEngine, WheelEngine
from prompt_debugger.core.parse.engines.wheels import bring_wheel, installed_folder
from prompt_debugger.core.pipeline import add_accounts
from prompt_debugger.core.pipeline.census import read_raw
from prompt_debugger.core.tools.fixes.trial import OwnTests, Runner, runner_of, try_own_tests, try_source
from prompt_debugger.core.tools.fixes.upstream import PARSER_TESTS, write_upstream_test
from prompt_debugger.core.tools.fixes.upstream_repairs import REPAIRS, Repair

DIFFS = ("template", *PARSER_TESTS)
DIFFED = ("vllm", *CHECKED)  # those whose parsers can be run from a copy
_NO_DIFF = {"llama.cpp": "llama.cpp's parser is compiled, and no changed copy of it can be tried out here"}
MAX_LINES = 40
MAX_CANDIDATES = 12
_OWN_NOT_RUN = (
    " The maintainers' own tests of this parser were not run with it: wheels contain none. `--own-tests FILE` runs "
    "those from the project's repository or source release."
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
        test: The new test, which fails without the change and passes with it; "" where none is known to.
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
    own = None if own_tests is None else await asyncio.to_thread(_run_own_tests, own_tests, engine, folder)
    refused: UpstreamDiff | None = None
    with scratch("diff") as workshop:
        copy = workshop / version
        await asyncio.to_thread(_copy, folder, copy, file.relative_to(folder).parts[0])
        for repair, changed in candidates:
            await asyncio.to_thread(_write, copy / none.file, changed)
            found = await _proved(replace(none, repair=repair.name, says=_says(repair)), case, before, folder, copy)
            if found is not None and own is not None and own_tests is not None:
                after = await asyncio.to_thread(_run_own_tests, own_tests, engine, copy)
                found = _add_own_tests(found, own, after)
                refused = refused or found
            if found is not None and found.diff:
                return found
    if refused is not None:
        return refused
    says = (
        f"None of {len(candidates)} changes of known kinds makes the parser read this output and leaves what it reads"
    )
    return replace(none, says=f"{says} as it is, so there is no diff. The failing test is what can be reported.")


def sentence_of_diff(found: UpstreamDiff) -> str:
    """Return what a diff is proved by, or why there is none, in words."""
    if not found.diff or found.of == "template":
        return found.says
    streams = {True: " and token by token", False: ", but not token by token", None: ""}[found.streamed]
    own = _OWN_NOT_RUN if found.own_tests is None and "maintainers' tests" not in found.says else ""
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
    runner = _runner(engine, folder)
    return None if runner is None else try_source(test, runner).fails


def _runner(engine: str, folder: Path) -> Runner | None:
    known = runner_of(engine, PARSER_TESTS[engine].package)
    if known is None:
        return None
    is_wheel = engine in CHECKED
    return Runner(known.python, known.package, folder if is_wheel else None, None if is_wheel else folder)


def _run_own_tests(tests: Path, engine: str, folder: Path) -> OwnTests:
    runner = _runner(engine, folder)
    return OwnTests(explanation="they could not be run") if runner is None else try_own_tests(tests, runner)


def _add_own_tests(found: UpstreamDiff, before: OwnTests, after: OwnTests) -> UpstreamDiff:
    """Return a proved change with what the maintainers' tests say of it; without a diff if one fails only with it."""
    if before.explanation or not before.passed:
        explanation = before.explanation or f"of {len(before.failed)}, none passes without it either"
        return replace(found, says=f"{found.says} The maintainers' tests were not of use: {explanation}.")
    broken = [name for name in before.passed if name not in after.passed]
    if broken:
        first = f"`{broken[0]}`: {after.failed.get(broken[0]) or after.explanation or 'it was not run'}"
        more = f", and {len(broken) - 1} more" if len(broken) > 1 else ""
        why = f"A change was found, but it breaks {first}{more}, of the maintainers' tests. There is no diff."
        return replace(found, diff="", test="", repair=None, says=why, own_tests=False)
    fail = f"; {len(before.failed)} fail here with and without it" if before.failed else ""
    says = f"{found.says} Of the maintainers' tests {len(before.passed)} pass without it, and with it{fail}."
    return replace(found, says=says, own_tests=True)


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
            outcome = add_accounts(parse, outcomes)[name]
            assert isinstance(outcome, VllmOutcome)
            found[raw] = outcome
            if not goes_on and raw == case.raw and not _is_right(outcome):
                break  # the others are not worth the time
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
