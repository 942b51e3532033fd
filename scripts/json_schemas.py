"""Write docs/schema: the JSON Schemas of what `--json` prints and of bundles, made from what writes them.

python scripts/json_schemas.py            write
python scripts/json_schemas.py --check    say what is out of date, exit 1 if anything is
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.report.wire.schemas import DOCUMENTS, schema_of_class  # noqa: E402
from prompt_debugger.core.tools.conversation.documents import ConversationDocument  # noqa: E402  # the checkout comes first
from prompt_debugger.core.tools.experiments.documents import ANSWERS  # noqa: E402
from prompt_debugger.core.tools.fixes.experiments import ExperimentDocument  # noqa: E402
from prompt_debugger.core.tools.fixes.exports import Written  # noqa: E402
from prompt_debugger.core.tools.fixes.margin import TriggerMargin  # noqa: E402
from prompt_debugger.core.tools.fixes.offered import OfferedFix  # noqa: E402
from prompt_debugger.core.tools.fixes.shrink import Shrunk  # noqa: E402
from prompt_debugger.core.tools.fixes.shrink_output import ShrunkOutput  # noqa: E402
from prompt_debugger.core.tools.fixes.trial import UpstreamTest  # noqa: E402

OF_FIXES: Mapping[str, type] = {
    "cure": OfferedFix,
    "experiments": ExperimentDocument,
    "shrink": Shrunk,
    "shrink-output": ShrunkOutput,
    "trigger-margin": TriggerMargin,
    "upstream-test": UpstreamTest,
    "written": Written,
}
FOLDER = ROOT / "docs" / "schema"


def schema_files() -> dict[Path, str]:
    """Return the text of every file by its path."""
    return {
        FOLDER / f"{name}.json": json.dumps(schema_of_class(cls), indent=2, ensure_ascii=False) + "\n"
        for name, cls in {**DOCUMENTS, **ANSWERS, **OF_FIXES, "conversation": ConversationDocument}.items()
    }


def stale_files() -> list[str]:
    """Return the names of files that say something else than the program, or are of none."""
    wanted = schema_files()
    stale = [path.name for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    return sorted(stale + [path.name for path in FOLDER.glob("*") if path not in wanted])


def main() -> int:
    """Write the files, or say which are stale."""
    if "--check" in sys.argv:
        stale = stale_files()
        print("\n".join(stale) or "up to date")
        return 1 if stale else 0
    FOLDER.mkdir(exist_ok=True)
    for path, text in schema_files().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
