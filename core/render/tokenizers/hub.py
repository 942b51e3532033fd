"""Files of a model on the Hub, fetched by a child process: the only way to the Hub; its egress is named `hub`.

The library that talks to the Hub opens connections in threads and in compiled code, so no egress of `core.base.egress`
could be held open for it alone. The child may connect; this process may not. Where that egress is refused, as on a
page for untrusted users, the child process stays offline and finds what was fetched before.

Run as a script, this file is the child: it prints one line of JSON and imports nothing of ours.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple

EGRESS = "hub"
_FETCH_S = 900.0
_TOKENS = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")


class HubAnswer(NamedTuple):
    """What became of a look-up; one of the two is given.

    Attributes:
        folder: Where the files lie.
        problem: Name of the library's exception.
    """

    folder: str | None
    problem: str | None


def fetch_files(hub_id: str, revision: str | None, patterns: Sequence[str], *, is_offline: bool) -> HubAnswer:
    """Fetch some files of a model, or find them in the cache.

    Args:
        hub_id: Such as `org/model`.
        revision: Branch, tag or commit; `None` for the main branch.
        patterns: Of the names of the files that are wanted.
        is_offline: Whether only the cache is looked into.
    """
    from prompt_debugger.core.base.keys import environment_with  # the child is this file alone

    question = json.dumps({"hub_id": hub_id, "revision": revision, "patterns": list(patterns)})
    environment = environment_with(_TOKENS) | ({"HF_HUB_OFFLINE": "1"} if is_offline else {})
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__],
            input=question,
            capture_output=True,
            text=True,
            env=environment | {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"},
            timeout=_FETCH_S,
            check=False,
        )
        answer = json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return HubAnswer(None, "TimeoutError")
    except (OSError, ValueError, IndexError):
        return HubAnswer(None, "ChildProcessError")
    return HubAnswer(answer.get("folder"), answer.get("problem"))


def _serve() -> None:
    """Answer the one question on standard input."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    question = json.load(sys.stdin)
    try:
        folder = snapshot_download(
            question["hub_id"], revision=question["revision"], allow_patterns=question["patterns"]
        )
        answer = {"folder": str(folder)}
    except (HfHubHTTPError, HFValidationError, OSError) as error:
        answer = {"problem": type(error).__name__}
    print(json.dumps(answer))  # noqa: T201  # the parent reads it


if __name__ == "__main__":
    _serve()
