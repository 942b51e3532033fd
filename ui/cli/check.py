"""Check a model's template against engines' parsers, without weights: which read it, and with which flags?"""

from __future__ import annotations

import argparse
import asyncio
import importlib.machinery
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import NoReturn

from prompt_debugger import __version__
from prompt_debugger.core.base.errors import DebuggerError, EngineError, RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.parse.engines import CHECKED, VllmEngine
from prompt_debugger.core.report.wire import dump_document, write_json
from prompt_debugger.core.report.writers.terminal import finding_lines
from prompt_debugger.core.tools.check import (
    Change,
    Check,
    CheckedModel,
    Checker,
    Place,
    Wanted,
    check_to_json,
    check_to_junit,
    check_without_parsers,
    compare_locks,
    failing_cases,
    load_model,
    load_served,
    lock_of,
    open_engines,
    read_lock,
    refuse_choice,
)
from prompt_debugger.core.tools.fixes.exports import sarif
from prompt_debugger.ui.cli.check_text import check_to_terminal
from prompt_debugger.ui.cli.github import add_summary, annotate, annotate_error, annotate_findings, check_summary
from prompt_debugger.ui.cli.output import (
    FOUND,
    OK,
    add_output_arguments,
    exit_status,
    print_json,
    print_result,
    print_text,
    read_input,
    report_error,
)
from prompt_debugger.ui.cli.progress import log, resting, say
from prompt_debugger.ui.cli.sharing import write_files
from prompt_debugger.ui.cli.target_options import api_key_for
from prompt_debugger.ui.present.words import count_of

_LOOK_S = 0.5  # between looks at watched files


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="folder, Hub id (org/model@revision), template file, or URL of a server",
    )
    parser.add_argument("--chat-template", metavar="FILE", help="Jinja file that overrides the model's own template")
    parser.add_argument("--tokenizer", metavar="DIR", help="folder or Hub id of the model that the server serves")
    parser.add_argument(
        "--api-key-env",
        metavar="NAME",
        help="environment variable that contains the server's key (default: OPENAI_API_KEY)",
    )
    parser.add_argument("--tool-parser", metavar="NAME", help="check only this tool parser (default: all)")
    parser.add_argument("--reasoning-parser", metavar="NAME", help="check only this reasoning parser (default: all)")
    own = parser.add_mutually_exclusive_group()
    own.add_argument("--parser-file", metavar="FILE.py", help="check the tool parsers that this plugin registers")
    own.add_argument("--parser-module", metavar="MODULE", help="check the tool parsers that this module registers")
    parser.add_argument(
        "--engine",
        choices=["vllm", *CHECKED, "all"],
        default="vllm",
        help="engine whose parsers are checked (default: vllm); get other engines with `parse --fetch`",
    )
    parser.add_argument(
        "--release",
        metavar="VERSION",
        help="release whose parsers are checked (default: the installed vLLM, of others the newest that was fetched)",
    )
    parser.add_argument("--thorough", action="store_true", help="test more answers and many more chunkings")
    parser.add_argument("--watch", action="store_true", help="check again whenever the parser file or template changes")
    parser.add_argument("--lock", metavar="FILE", help="write the results, for comparison with a later check")
    parser.add_argument(
        "--against",
        metavar="LOCK|MODEL",
        help=(
            "report what has changed since this lock, or what differs from another model, revision or "
            "template; exit 1 if it got worse"
        ),
    )
    parser.add_argument("--cases", metavar="FILE.jsonl", help="write failing cells as cases for `parse --cases`")
    parser.add_argument("--junit", metavar="FILE", help="write the results as JUnit XML")
    parser.add_argument("--sarif", metavar="FILE", help="write what is wrong with the template as SARIF")
    parser.add_argument("--github", action="store_true", help="annotations and a step summary for GitHub (docs/ci.md)")
    parser.add_argument(
        "--template-only", action="store_true", help="check only the template; needs no parsers and no vLLM"
    )
    add_output_arguments(parser)
    parser.set_defaults(run=_run, doing="Checking the template")


def _run(options: argparse.Namespace) -> int:
    if not options.model and not options.chat_template:
        raise RequestError("There is nothing to check.", "Give a model or a template, or --chat-template.")
    _check_options(options)
    try:
        return _check_template(options) if options.template_only else _check_all(options)
    except DebuggerError as error:
        if options.github:
            annotate_error(error, _file_of(options))
        raise


def _check_template(options: argparse.Namespace) -> int:
    """Check a template alone, and return the exit status."""
    check = check_without_parsers(_load(options, None), is_thorough=options.thorough)
    _write_files(check, options, None)
    if options.json:
        print_json(check_to_json(check))
    else:
        lines = [line for one in check.findings for line in finding_lines(one)]
        name = _file_of(options) or check.model.name
        summary = (
            f"{name}: {count_of(len(check.findings), 'finding') if lines else 'nothing is wrong with the template.'}"
        )
        print_text("\n".join([summary, *lines]) + "\n")
    return exit_status(check.findings)


def _check_all(options: argparse.Namespace) -> int:
    with ExitStack() as stack:
        engines, absent = stack.enter_context(open_engines(options.release, options.engine))
        folder = stack.enter_context(scratch("check"))
        if not options.watch:
            return _check_once(options, engines, folder / "parsers.py", absent)
        _watch(options, engines, folder)


def _watch(options: argparse.Namespace, engines: Sequence[VllmEngine], folder: Path) -> NoReturn:
    """Check, and again after every change of a file, until the person ends it."""
    for number in count():
        before = _stamps(options)
        try:
            _check_once(options, engines, folder / f"parsers_{number}.py")
        except DebuggerError as error:  # such as a file that is half written
            report_error(error, as_json=options.json)
        log("Waiting for a change; press Ctrl-C to end.")
        with resting():
            while _stamps(options) == before:
                time.sleep(_LOOK_S)
        seen = None
        while seen != (seen := _stamps(options)):  # until no one writes any more
            time.sleep(_LOOK_S)
    raise AssertionError("counting has no end")


def _check_once(
    options: argparse.Namespace, engines: Sequence[VllmEngine], copy: Path, absent: Sequence[str] = ()
) -> int:
    """Check, print and write; returns the exit status. The parser file is read as a copy: no name is imported twice."""
    before = None if options.against is None or is_model(options.against) else read_lock(read_input(options.against))
    key = api_key_for(options.model, options.api_key_env) if _is_server(options) else None
    model = _load(options, key)
    wanted = _wanted(options, engines, copy)
    checker = Checker(engines, lambda words: say(f"Checking {words}"), key, absent)
    if options.against is not None and before is None:
        before = lock_of(asyncio.run(checker.check(load_model(options.against), wanted)))
    check = asyncio.run(checker.check(model, wanted))
    return _give(check, options, None if before is None else compare_locks(before, lock_of(check)))


def _is_server(options: argparse.Namespace) -> bool:
    return str(options.model or "").startswith(("http://", "https://"))


def _load(options: argparse.Namespace, key: str | None) -> CheckedModel:
    if not _is_server(options):
        if options.tokenizer:
            raise RequestError("--tokenizer is only for a server as MODEL.", "Give the folder itself as MODEL.")
        return load_model(options.model, template_file=options.chat_template)
    return asyncio.run(load_served(Place(options.model, key, options.tokenizer, options.chat_template)))


def _give(check: Check, options: argparse.Namespace, changes: Sequence[Change] | None) -> int:
    _write_files(check, options, changes)
    document = check_to_json(check, changes)
    since = options.against if options.against and is_model(options.against) else ""
    text = check_to_terminal(check, changes, since=since)
    if options.cases:
        write_file(options.cases, "".join(write_json(case) + "\n" for case in failing_cases(check)))
    if options.lock:
        write_file(options.lock, write_json(dump_document(lock_of(check))) + "\n")
    if options.report:
        write_files(options.report, {"check.json": document, "check.txt": text})
    print_result(options, document, text)
    is_worse = any(change.is_worse for change in changes or ())
    return OK if check.recommendation.verdict == "works" and not is_worse else FOUND


def _write_files(check: Check, options: argparse.Namespace, changes: Sequence[Change] | None) -> None:
    """Write what pipelines read."""
    if options.junit:
        write_file(options.junit, check_to_junit(check, changes or ()))
    if options.sarif:
        write_file(options.sarif, sarif(check.findings, file=_file_of(options), version=__version__))
    if options.github:
        annotate_findings(check.findings, _file_of(options))
        for change in changes or ():
            if change.is_worse:
                annotate("error", "worse than before", change.sentence, _file_of(options))
        add_summary(check_summary(check, changes, _file_of(options)))


def _file_of(options: argparse.Namespace) -> str:
    """Return the template's file as a repository has it; "" for a model that lies elsewhere."""
    if options.chat_template or options.model is None:
        return str(options.chat_template or "")
    named = Path(options.model)
    inside = named / "chat_template.jinja"
    return str(inside if inside.is_file() else named if named.is_file() else "")


def _wanted(options: argparse.Namespace, engines: Sequence[VllmEngine], copy: Path) -> Wanted:
    tools: tuple[str, ...] | None = None if options.tool_parser is None else (options.tool_parser,)
    named = options.parser_file or options.parser_module
    if named:
        write_file(str(copy), plugin_text(options.parser_file, options.parser_module))
        beside = [module_entry(options.parser_module)] if options.parser_module else [Path(options.parser_file).parent]
        names = [asyncio.run(engine.plugin_parsers([copy], readable=beside)) for engine in engines]
        tools = tools or names[0]
        if not tools:
            raise EngineError(
                f"{named!r} registers no tool parser that vLLM does not already have.",
                "Call `ToolParserManager.register_module` in it, with a new name.",
            )
    file = str(module_file(options.parser_module)) if options.parser_module else options.parser_file or ""
    return Wanted(tools, options.reasoning_parser, options.thorough, file, options.release)


def _check_options(options: argparse.Namespace) -> None:
    """Refuse what has no meaning for the engines that are named."""
    of_vllm = {"--parser-file": options.parser_file, "--parser-module": options.parser_module}
    if options.engine != "vllm" and (given := next((flag for flag, value in of_vllm.items() if value), None)):
        raise RequestError(f"{given} cannot be used with --engine {options.engine}.", "It registers parsers of vLLM.")
    refuse_choice(
        options.engine,
        {
            "--tool-parser": options.tool_parser,
            "--reasoning-parser": options.reasoning_parser,
            "--release": options.release,
        },
    )


def _stamps(options: argparse.Namespace) -> list[tuple[str, int, int]]:
    """Return the watched files with their times."""
    return stamps((options.parser_file, options.chat_template, options.model), options.parser_module)


# Run in the helper: what is next to the module is forgotten, so that a changed file is read again.
_SHIM = """import importlib, os, sys
for name, module in list(sys.modules.items()):
    if os.path.dirname(getattr(module, "__file__", None) or "") == {folder!r}:
        del sys.modules[name]
sys.path.insert(0, {entry!r})
importlib.invalidate_caches()
try:
    importlib.import_module({module!r})
finally:
    sys.path.remove({entry!r})
"""


def plugin_text(file: str | None, module: str | None) -> str:
    """Return the source that registers the parsers of a file or of a module.

    Raises:
        RequestError: The file cannot be read.
        EngineError: There is no such module.
    """
    if file is not None:
        return read_input(file)
    assert module is not None
    return _SHIM.format(folder=str(module_file(module).parent), entry=str(module_entry(module)), module=module)


def module_entry(module: str) -> Path:
    """Return the folder that a module is imported from.

    Raises:
        EngineError: There is no such module here.
    """
    found = module_file(module)
    return found.parents[len(module.split(".")) - (found.name != "__init__.py")]


def module_file(module: str) -> Path:
    """Return where a module lies, without importing it or what is around it.

    Raises:
        EngineError: There is no such module here.
    """
    path: Sequence[str] = _search_path()
    found: importlib.machinery.ModuleSpec | None = None
    for part in module.split("."):
        importlib.machinery.PathFinder.invalidate_caches()
        found = importlib.machinery.PathFinder.find_spec(part, path)
        if found is None:
            break
        path = list(found.submodule_search_locations or ())
    if found is None or found.origin is None or not found.origin.endswith(".py"):
        raise EngineError(
            f"There is no Python module {module!r} in this folder or on the path.",
            "Run the command where `python -c 'import …'` finds it, or give the file with --parser-file.",
        )
    return Path(found.origin)


def _search_path() -> list[str]:
    return [str(Path.cwd()), *(entry for entry in sys.path if entry and Path(entry).is_dir())]


def stamps(names: Sequence[str | None], module: str | None) -> list[tuple[str, int, int]]:
    """Return the watched files with their times and sizes; of a module all that is next to it."""
    files = [file for name in names if name for file in (Path(name), Path(name) / "chat_template.jinja")]
    if module is not None:
        files += _next_to(module)
    return [(str(file), file.stat().st_mtime_ns, file.stat().st_size) for file in files if file.is_file()]


def _next_to(module: str) -> Iterator[Path]:
    try:
        file = module_file(module)
    except EngineError:  # it may come back
        return
    yield from sorted(file.parent.glob("*.py")) if "." in module or file.name == "__init__.py" else [file]


def is_model(name: str) -> bool:
    """Return whether a name is a model's or a template's, and no lock's: those are JSON files, or standard input."""
    if Path(name).is_dir() or Path(name).suffix in (".jinja", ".jinja2", ".j2"):
        return True
    return "/" in name and not name.endswith(".json") and not Path(name).is_file()


def write_file(name: str, text: str) -> None:
    """Write a file.

    Raises:
        RequestError: It cannot be written.
    """
    write_named(name, (text,))
