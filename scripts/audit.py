"""Look for known vulnerabilities of everything in requirements.lock; asks a public database.

    python scripts/audit.py [arguments of pip-audit]

`pip-audit` has a virtual environment of its own, .venv-audit, made when it is first needed. Exit status: that of
`pip-audit`; 2 where the database or the package index cannot be reached, or a mirror answers in its place, which is
said in one line.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".venv-audit"
AWAY = 2
_NO_NETWORK = re.compile(
    r"NewConnectionError|NameResolutionError|ConnectTimeout|ConnectionError|Max retries exceeded|ProxyError|Connection "
    r"(?:refused|reset)|Network is unreachable|Temporary failure in name resolution|No matching distribution found"
)

# Everything in the lock is public, so the database has it; a mirror of the index answers "no such page" to all.
_UNKNOWN = re.compile(r"ERROR:pip_audit\._cli:([\w.\-]+): Dependency not found on PyPI")


def told(command: Sequence[str | Path]) -> int:
    """Run a command, show what it says, and return its status; a network that is away is one line."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and _NO_NETWORK.search(done.stderr):
        print("The audit needs the network, and it cannot be reached: nothing was looked up.", file=sys.stderr)
        return AWAY
    if done.returncode and (unknown := _UNKNOWN.search(done.stderr)):
        print(
            f"The audit asks the public database, and what answers here does not know {unknown.group(1)}: it is "
            "probably a mirror that has packages only. Nothing was looked up.",
            file=sys.stderr,
        )
        return AWAY
    print(done.stdout, end="")
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode


def main(arguments: Sequence[str]) -> int:
    """Return the status of the audit."""
    auditor = FOLDER / "bin" / "pip-audit"
    if not auditor.exists():
        venv.create(FOLDER, with_pip=True)
        install: list[str | Path] = [
            FOLDER / "bin" / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--retries",
            "1",
            "pip-audit",
        ]
        if status := told(install):
            return status
    plain = FOLDER / "requirements.txt"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    plain.write_text(lock.replace("+cpu", ""), encoding="utf-8")  # the database knows releases without their build
    return told([auditor, "--strict", "--disable-pip", "--no-deps", "--requirement", plain, *arguments])


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
