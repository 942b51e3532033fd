"""A line that tries to break out, read on a cluster as `parse --cases --ray` reads lines; prints what it got done.

Run by `ray_cluster` with the Python of `.venv-ray`.
"""

from __future__ import annotations

import sys

from prompt_debugger.ui.cli.spread.cases import run_on_ray
from tests.ui.cli.test_bulk import breaking_out

if __name__ == "__main__":
    sys.exit(run_on_ray(sys.argv[1], breaking_out, sys.argv[2], open_locked=breaking_out))
