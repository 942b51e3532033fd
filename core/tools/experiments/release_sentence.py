"""Since which of the tested releases each engine reads an output, in one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from prompt_debugger.core.base.account import readable_calls
from prompt_debugger.core.base.types import Parse, ParserAccount, ParserOutcome
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import engine_of_parser
from prompt_debugger.core.tools.experiments.releases import ReleaseRow, ReleaseTable


def releases_sentence(
    parse: Parse,
    tables: Sequence[ReleaseTable],
    account_of: Callable[[Parse, ParserOutcome], ParserAccount],
    engines: Collection[str] = (),
) -> str:
    """Return since which tested release of each engine all calls of an output are read; "" where it contains none.

    A release that reads neither this output nor a healthy call is left out: it shows nothing. Engines without a table
    have no parser for the family.
    """
    if not readable_calls(parse):
        return ""
    read: list[str] = []
    unread: list[str] = []
    for title, table in _titled(tables).items():
        asked = [row for row in table.rows if row.tells or _lacks(row)]
        reading = [
            row.outcome is not None and row.outcome.error is None and account_of(parse, row.outcome).is_right
            for row in asked
        ]
        if not asked:
            if table.rows:
                unread.append(f"no release of {title} could be tested")
        elif not any(reading):
            unread.append(f"{title} {_never(asked, _them(parse))}")
        else:
            read.append(f"{title} {_since(asked, reading)}")
    lacking = set(engines) - {engine_of_parser(table.parser) for table in tables}
    unread += [f"{title_of(kind)} has no parser for this format" for kind in engines if kind in lacking]
    parts = [*([f"{_they(parse)} read by {'; by '.join(read)}"] if read else []), *unread]
    text = "; ".join(parts)
    return f"{text[0].upper() if read or text.startswith('no ') else text[0]}{text[1:]}." if text else ""


def _titled(tables: Sequence[ReleaseTable]) -> Mapping[str, ReleaseTable]:
    """Return the tables by title: the engine, with the parser where an engine has several."""
    engines = [engine_of_parser(table.parser) for table in tables]
    return {
        title_of(kind) + (f" `{table.parser}`" if engines.count(kind) > 1 else ""): table
        for kind, table in zip(engines, tables, strict=True)
    }


def _lacks(row: ReleaseRow) -> bool:
    """Return whether a release was asked and has no parser of this name."""
    return (
        row.outcome is not None
        and re.search(r" has no (?:tool|reasoning) parser `", row.outcome.error or "") is not None
    )


def _since(rows: Sequence[ReleaseRow], reading: Sequence[bool]) -> str:
    """Return which of the releases, oldest first, read an output; at least one does."""
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
