"""Run every benchmark, each in a process of its own, one after the other."""

import pathlib
import subprocess
import sys


def main() -> int:
    """Run the files beside this one, or those named; returns the worst exit status."""
    folder = pathlib.Path(__file__).parent
    names = sys.argv[1:] or sorted(path.stem for path in folder.glob("[a-z]*.py"))
    worst = 0
    for name in names:
        print(f"\n== {name}", flush=True)
        worst = max(worst, subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=False).returncode)
    return worst


if __name__ == "__main__":
    sys.exit(main())
