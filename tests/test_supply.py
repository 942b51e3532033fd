"""What set-up installs: the packages of the lock, each only with a hash that is written down."""

from __future__ import annotations

import re
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
LOCK = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
HASHES = (ROOT / "requirements.hashes").read_text(encoding="utf-8")
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
# Its CPU build comes from wherever pip is configured to find it; see the Makefile.
WITHOUT_HASH = "torch"
PYTHONS = ("3.11", "3.12", "3.13")


def pinned(lines: list[str]) -> dict[str, tuple[str, list[bool]]]:
    """Return version by name, and for which Python it is meant."""
    read = [Requirement(line) for line in lines]
    return {
        one.name: (
            str(one.specifier),
            [
                one.marker is None or one.marker.evaluate({"python_version": name, "python_full_version": f"{name}.1"})
                for name in PYTHONS
            ],
        )
        for one in read
    }


def blocks() -> list[tuple[str, list[str]]]:
    """Return each package of the file with its hashes."""
    found: list[tuple[str, list[str]]] = []
    for line in HASHES.splitlines():
        text = line.removesuffix("\\").strip()
        if line.startswith(" "):
            found[-1][1].append(text)
        else:
            found.append((text, []))
    return found


def test_hashes_are_of_the_packages_of_the_lock():
    locked = pinned(LOCK)
    del locked[WITHOUT_HASH]

    assert pinned([name for name, _ in blocks()]) == locked, "run `make hashes`"


def test_every_package_has_a_hash():
    assert [name for name, hashes in blocks() if not hashes] == []
    assert [
        one for _, hashes in blocks() for one in hashes if not re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", one)
    ] == []


def test_set_up_takes_nothing_but_pytorch_without_a_hash():
    recipe = MAKEFILE[MAKEFILE.index("\n.venv/.ready:") : MAKEFILE.index("\n.venv-litellm/.ready:")]
    installs = re.findall(r"\$\(PIP\) install ([^;|&]+)", recipe)

    assert installs
    assert [one for one in installs if "--require-hashes" not in one and "$(TORCH)" not in one] == []
