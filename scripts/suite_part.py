"""Run a part of the suite, and once more, alone, what failed: `python scripts/suite_part.py NAME PYTEST_ARGUMENT ...`.

The parts run at the same time, and what waits for a browser or a server may meet a machine that is too busy. A test
that fails twice fails the part. One that passes the second time is named as unsteady, since it needs mending.
"""

from __future__ import annotations

import subprocess
import sys

TESTS_FAILED = 1  # exit status of pytest; any other than 0 is no matter of single tests


def main(name: str, *arguments: str) -> int:
    """Return the exit status of the part.

    Args:
        name: Of the part: each remembers what failed in its own cache.
        arguments: For pytest.
    """
    command = [sys.executable, "-m", "pytest", "-o", f"cache_dir=.pytest_cache/{name}", *arguments]
    status = subprocess.run(command, check=False).returncode
    if status != TESTS_FAILED:
        return status
    print(f"\n{name}: what failed is run once more, one test after the other.\n", flush=True)
    again = [*command, "-n", "0", "--last-failed", "--last-failed-no-failures=none", "-rA", "--show-capture=no"]
    status = subprocess.run(again, check=False).returncode
    if status == 0:
        print(f"{name}: the tests above that passed now failed before. They are unsteady and need mending.", flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
