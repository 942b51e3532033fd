"""Print how much of other projects' suites the census reads as they expect.

    python -m benchmarks.peers [--misreads FILE] [--kept FILE] [--heard FILE …] FOLDER …

Where a suite expects what its parser decides to do and not what the model wrote,
the case is counted apart, by policy (`policies`). What is left is ours, and
`--misreads` writes all of it out for a person to judge.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from benchmarks.peers.cases import PeerCase, Reading, read_case, whole_calls
from benchmarks.peers.fixtures import read_fixtures
from benchmarks.peers.policies import policy_of
from benchmarks.peers.python_tests import cases_of, read_python_tests
from benchmarks.peers.rust_tests import read_rust_tests


def read_suite(folder: Path, kept: Path | None = None) -> Iterator[PeerCase]:
    """Yield the cases of an unpacked suite, each once; `kept` is for what took running their tests."""
    seen: set[str] = set()
    readers: list[Callable[[Path], Iterator[PeerCase]]] = [read_fixtures, read_rust_tests]
    if (folder / "tests" / "tool_parsers").is_dir():
        readers.append(partial(read_python_tests, kept=kept))
    for reader in readers:
        for case in reader(folder):
            says = case.calls is not None or case.n_calls is not None or case.content is not None
            if says and case.key not in seen:
                seen.add(case.key)
                yield case


def read_heard(record: Path) -> Iterator[PeerCase]:
    """Yield the cases of a record that `recorder` or a plug-in of another suite wrote, each once."""
    seen: set[str] = set()
    for case in cases_of(record.read_text(encoding="utf-8")):
        if case.key not in seen:
            seen.add(case.key)
            yield case


def describe(reading: Reading) -> dict[str, object]:
    """Return a misread as plain values."""
    case, parsed = reading.case, reading.parsed
    return {
        "origin": case.origin,
        "family": case.family,
        "faults": reading.faults,
        "policy": None if (policy := policy_of(reading)) is None else policy.name,
        "raw": case.raw,
        "prompt_tail": case.prompt_tail,
        "tools": [tool.get("function", tool).get("name") for tool in case.tools],
        "expected": {
            "calls": case.calls,
            "n_calls": case.n_calls,
            "content": case.content,
            "reasoning": case.reasoning,
        },
        "read": {
            "format": parsed.format,
            "calls": whole_calls(parsed),
            "others": [[c.name, c.status, c.place, c.problem] for c in parsed.calls],
            "content": parsed.content,
            "reasoning": parsed.reasoning,
        },
    }


def main() -> int:
    """Print a line per family; returns 0 whatever they say."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    options.add_argument("folder", nargs="*", type=Path, help="an unpacked source archive")
    options.add_argument("--heard", nargs="*", default=[], type=Path, help="what was recorded of a suite elsewhere")
    options.add_argument("--misreads", type=Path, help="write every misread here, as JSON lines")
    options.add_argument("--kept", type=Path, help="keep here what running a suite's tests gave, and use it next time")
    given = options.parse_args()
    misreads: list[Reading] = []
    total: Counter[str] = Counter()
    policies: Counter[str] = Counter()
    for folder in (*given.folder, *given.heard):
        rows: dict[str, Counter[str]] = {}
        for case in read_heard(folder) if folder in given.heard else read_suite(folder, given.kept):
            reading = read_case(case)
            policy = policy_of(reading) if reading.faults else None
            outcome = ("policy",) if policy is not None else reading.faults or ("right",)
            rows.setdefault(case.family, Counter()).update(("n", *outcome))
            if reading.faults:
                misreads.append(reading)
            if policy is not None:
                policies[policy.name] += 1
        for family, row in sorted(rows.items()):
            faults = ", ".join(
                f"{kind} {row[kind]}" for kind in ("policy", "calls", "content", "reasoning") if row[kind]
            )
            print(f"{folder.name[:20]:20} {family[:40]:40} {row['right']:5} of {row['n']:5}   {faults}")
            total.update(row)
    for name, n in policies.most_common():
        print(f"{n:5}  {name}")
    if total:
        judged = total["n"] - total["policy"]
        print(f"read as expected: {total['right']} of {total['n']}; {total['policy']} by a policy of the suite")
        print(f"read as written:  {total['right']} of {judged}, {100 * total['right'] / judged:.1f} %")
    if given.misreads is not None:
        lines = (json.dumps(describe(reading), ensure_ascii=False, default=str) for reading in misreads)
        given.misreads.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
