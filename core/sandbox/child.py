"""Start of a sandbox's forkserver, by file path: `python -I child.py SPEC`.

Isolated (`-I`): the user's working directory, environment and site folder have no
say in what is imported. SPEC is JSON: `root`, the folder of our packages; `paths`,
where the client found the others; `sandbox` and `modules`, the jobs it serves.
"""

from __future__ import annotations

import importlib
import json
import sys


def main() -> None:
    """Fork processes that serve jobs, until the input ends."""
    spec = json.loads(sys.argv[1])
    known = set(sys.path)
    if spec["root"] not in known:  # in front: this code and no other copy of it
        sys.path.insert(0, spec["root"])
    sys.path.extend(path for path in spec["paths"] if path not in known)
    # Before any package of others is imported.
    importlib.import_module("prompt_debugger.core.base.egress").forbid_network()
    importlib.import_module("prompt_debugger.core.sandbox.service").serve(spec["modules"])


main()
