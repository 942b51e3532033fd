"""Read many pastes, count what is said of them. Where nearly all are healthy, a finding is false until shown true.

    python scripts/screen.py PASTES OUT.jsonl                      one line a paste, and a count by code
    python scripts/screen.py PASTES OUT.jsonl --against OLD.jsonl  only the pastes whose findings changed

PASTES is a folder with a file a paste, or a JSON list of texts or of objects with `id` and `text`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from multiprocessing import Pool
from pathlib import Path
from typing import TypedDict

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.errors import DebuggerError  # noqa: E402  # the checkout must be on the path first
from prompt_debugger.core.evidence import gather_evidence, show_evidence  # noqa: E402

SECONDS = 60  # of one paste; what takes longer is a fault, too


class Screened(TypedDict):
    """What is said of a paste: `taken` says what for, `refused` why not; one of `findings` is "CODE severity title"."""

    id: str
    taken: str
    refused: str
    findings: list[str]


def main() -> int:
    """Screen the pastes."""
    options = _options()
    pastes = list(_pastes(options.pastes))
    with Pool(options.processes) as pool, options.out.open("w", encoding="utf-8") as file:
        screened = []
        for one in pool.imap(screen, pastes, chunksize=8):
            screened.append(one)
            file.write(json.dumps(one, ensure_ascii=False) + "\n")
    if options.against:
        _print_changes(_read(options.against), screened)
    else:
        _print_counts(screened)
    return 0


def screen(paste: tuple[str, str]) -> Screened:
    """Return what is said of a paste, given with its id."""
    name, text = paste
    signal.signal(signal.SIGALRM, _too_slow)
    signal.alarm(SECONDS)
    try:
        evidence = gather_evidence([text])
        trace = asyncio.run(show_evidence(evidence))
    except DebuggerError as error:
        return Screened(id=name, taken="", refused=str(error), findings=[])
    except Exception:  # noqa: BLE001  # whatever it is, it is shown as a finding
        return Screened(id=name, taken="", refused="", findings=[f"CRASH error {traceback.format_exc()[-600:]}"])
    finally:
        signal.alarm(0)
    findings = [f"{one.code} {one.severity} {one.title}" for one in trace.findings]
    return Screened(id=name, taken=evidence.words, refused="", findings=findings)


def _too_slow(*_: object) -> None:
    raise TimeoutError(f"It took longer than {SECONDS} s.")


def _pastes(source: Path) -> Iterator[tuple[str, str]]:
    if source.is_dir():
        for path in sorted(source.rglob("*")):
            if path.is_file():
                yield str(path.relative_to(source)), path.read_text(encoding="utf-8", errors="replace")
        return
    for number, one in enumerate(json.loads(source.read_text(encoding="utf-8"))):
        yield (str(number), one) if isinstance(one, str) else (str(one["id"]), one["text"])


def _read(path: Path) -> list[Screened]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def _print_counts(screened: list[Screened]) -> None:
    found = Counter(" ".join(finding.split(" ", 2)[:2]) for one in screened for finding in set(one["findings"]))
    refused = sum(bool(one["refused"]) for one in screened)
    print(f"{len(screened)} pastes, {refused} not read, {sum(bool(one['findings']) for one in screened)} with findings")
    for code, times in found.most_common():
        print(f"{times:6} {code}")


def _print_changes(before: list[Screened], after: list[Screened]) -> None:
    old = {one["id"]: one for one in before}
    for one in after:
        was = old.get(one["id"])
        if was is None or (was["refused"], was["findings"]) == (one["refused"], one["findings"]):
            continue
        print(one["id"])
        for sign, said in (("-", was), ("+", one)):
            for line in [said["refused"], *said["findings"]]:
                if line:
                    print(f"  {sign} {line}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pastes", type=Path, metavar="PASTES")
    parser.add_argument("out", type=Path, metavar="OUT.jsonl")
    parser.add_argument("--against", type=Path, metavar="OLD.jsonl")
    parser.add_argument("--processes", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
