"""One output through the releases of several engines: which parser of each is asked, and since when it is read."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from prompt_debugger.core.base.account import readable_calls
from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import Parse
from prompt_debugger.core.complete import parser_names_of, title_of
from prompt_debugger.core.formats import checkpoint_in
from prompt_debugger.core.parse.engines import WHEELS, read_parser_name, write_parser_name
from prompt_debugger.core.pipeline.accounts import account_of
from prompt_debugger.core.tools.experiments import ReleaseRow, ReleaseTable


def parsers_to_ask(parse: Parse, named: Sequence[str], engines: Collection[str]) -> list[str]:
    """Return the parser to ask in the releases of each engine: those named, else the one that the family would use.

    Args:
        parse: The output.
        named: Names of parsers, of any of the engines.
        engines: The engines of the releases.

    Returns:
        The names in the order given, then those of the engines of which none is named; an engine that has no parser
        for the output's family is left out.

    Raises:
        EngineError: An engine is unknown, or none has a parser for the output's family.
    """
    found = [name if ":" in name else f"vllm:{name}" for name in named]
    asked = set(map(engine_of_parser, found))
    for kind in engines:
        if kind not in ("vllm", *WHEELS):
            raise EngineError(
                f"`{kind[:60]}` is not an engine whose releases can be tested.",
                f"Write ENGINE==VERSION with one of {', '.join(('vllm', *WHEELS))}.",
            )
        if kind in asked:
            continue
        if (own := parser_of_family(kind, parse)) is not None:
            found.append(own)
    if not found:
        raise EngineError(
            f"{joined_and([*map(title_of, engines)])} {'have' if len(engines) > 1 else 'has'} no parser for this "
            f"output, which is of the format {parse.parsed.format}.",
            f"Name the parser to test, such as `{next(iter(engines), 'vllm')}:NAME`.",
        )
    return found


def engine_of_parser(name: str) -> str:
    """Return the engine of a parser by its name, which need not be complete.

    >>> engine_of_parser("sglang@0.5.23:kimi_k2"), engine_of_parser("hermes")
    ('sglang', 'vllm')
    """
    return name.partition(":")[0].partition("@")[0] if ":" in name else "vllm"


def parser_of_family(kind: str, parse: Parse) -> str | None:
    """Return the parser of an engine that an output's family would use first; `None` if it has none for it."""
    shown = checkpoint_in(parse.parsed.format, parse.raw)
    own = parser_names_of(kind, parse.parsed.format, None if shown is None else shown[0])
    if not own.tools:
        return None
    thinks = parse.parsed.reasoning is not None
    return write_parser_name(own.tools[0], own.reasonings[0] if thinks and own.reasonings else None, None, kind)


def releases_sentence(parse: Parse, tables: Sequence[ReleaseTable], engines: Collection[str] = ()) -> str:
    """Return since which tested release of each engine all calls of an output are read; "" where it contains none.

    A release that reads neither this nor a healthy call shows nothing and counts for nothing.

    Args:
        parse: The output.
        tables: What the releases made of it.
        engines: The engines that were to be asked; those without a table have no parser for the family.
    """
    if not readable_calls(parse):
        return ""
    read: list[str] = []
    unread: list[str] = []
    for title, table in _titled(tables).items():
        asked = [row for row in table.rows if row.tells or _lacks(row)]
        reading = [_reads(parse, row) for row in asked]
        if not asked:
            if table.rows:
                unread.append(f"no release of {title} could be tested")
        elif not any(reading):
            unread.append(f"{title} {_never(asked, _them(parse))}")
        else:
            read.append(f"{title} {_since(asked, reading)}")
    lacking = set(engines) - {engine_of_parser(table.parser) for table in tables}
    unread += [f"{title_of(kind)} has no parser for this format" for kind in engines if kind in lacking]
    told = [*([f"{_they(parse)} read by {'; by '.join(read)}"] if read else []), *unread]
    text = "; ".join(told)
    return f"{text[0].upper() if read or text.startswith('no ') else text[0]}{text[1:]}." if text else ""


def joined_and(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> joined_and(["vLLM", "SGLang", "mlx-lm"])
    'vLLM, SGLang and mlx-lm'
    """
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)


def _titled(tables: Sequence[ReleaseTable]) -> Mapping[str, ReleaseTable]:
    """Return the tables by what is said of them: the engine, with the parser where an engine has several."""
    engines = [read_parser_name(table.parser).engine for table in tables]
    return {
        title_of(kind) + (f" `{table.parser}`" if engines.count(kind) > 1 else ""): table
        for kind, table in zip(engines, tables, strict=True)
    }


def _reads(parse: Parse, row: ReleaseRow) -> bool:
    outcome = row.outcome
    return outcome is not None and outcome.error is None and account_of(parse, outcome).is_right


def _lacks(row: ReleaseRow) -> bool:
    """Return whether a release was asked and has no parser of this name."""
    return (
        row.outcome is not None
        and re.search(r" has no (?:tool|reasoning) parser `", row.outcome.error or "") is not None
    )


def _since(rows: Sequence[ReleaseRow], reading: Sequence[bool]) -> str:
    """Return in which of the releases, oldest first, an output is read, at least one of which reads it."""
    versions = [row.version for row in rows]
    if all(reading):
        return f"in {_range(versions)}"
    if reading[-1]:
        first = max(index for index, reads in enumerate(reading) if not reads) + 1
        again = "again " if any(reading[:first]) else ""
        return f"{again}since {versions[first]} ({_fails(rows[first - 1])})"
    last = max(index for index, reads in enumerate(reading) if reads)
    return f"up to {versions[last]} ({_fails(rows[last + 1])})"


def _never(rows: Sequence[ReleaseRow], what: str) -> str:
    """Return that none of the releases reads the output, or that none has the parser."""
    versions = [row.version for row in rows]
    lacks = all(map(_lacks, rows))
    if len(versions) == 1:
        return f"{'has no such parser' if lacks else f'does not read {what}'} in {_range(versions)}"
    tested = f"no release tested ({versions[0]} to {versions[-1]})"
    return f"has such a parser in {tested}" if lacks else f"reads {what} in {tested}"


def _fails(row: ReleaseRow) -> str:
    return f"{row.version} {'has no such parser' if _lacks(row) else 'does not read it'}"


def _range(versions: Sequence[str]) -> str:
    if len(versions) == 1:
        return f"{versions[0]}, the only release tested"
    return f"every release tested ({versions[0]} to {versions[-1]})"


def _they(parse: Parse) -> str:
    written = readable_calls(parse)
    return "the call is" if written == 1 else f"all {written} calls are"


def _them(parse: Parse) -> str:
    return "the call" if readable_calls(parse) == 1 else "all the calls"
