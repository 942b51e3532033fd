"""A check: the full matrix of one model over all tool and reasoning parsers of one vLLM, cold and warm.

`PROMPT_DEBUGGER_CORPUS` names a folder of templates that are measured as well; `python -m benchmarks.check NAME`
picks those whose file name holds the name.

Claim: warm, on two idle cores, one model is answered within 10 s.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path

from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine
from prompt_debugger.core.tools.check import Check, CheckedModel, Checker, load_model

MODEL_DIR = Path(__file__).resolve().parents[1] / "assets" / "lab-model"
LIMIT_S = 10.0
HELPERS = 2
ROUNDS = 2


def models(wanted: str) -> list[CheckedModel]:
    """Return the lab model, and the templates of the corpus if there is one."""
    found = [load_model(str(MODEL_DIR))]
    corpus = os.environ.get("PROMPT_DEBUGGER_CORPUS")
    files = [] if corpus is None else sorted(Path(corpus).glob("*.jinja"))
    return found + [load_model(str(file)) for file in files if wanted in file.name]


async def measure(checker: Checker, model: CheckedModel) -> tuple[float, Check]:
    """Return the seconds of the best round, and its check."""
    best, check = float("inf"), None
    for _ in range(ROUNDS):
        began = time.perf_counter()
        check = await checker.check(model)
        best = min(best, time.perf_counter() - began)
    assert check is not None
    return best, check


async def main() -> int:
    """Print the figures; returns 1 if a model takes longer than claimed."""
    engines = [VllmEngine(limits=EngineLimits(request_s=600.0, parser_s=20.0)) for _ in range(HELPERS)]
    began = time.perf_counter()
    for engine in engines:
        await engine.parsers()
    print(f"{HELPERS} helpers warm after {time.perf_counter() - began:.1f} s; load {os.getloadavg()[0]:.1f}")
    slowest = 0.0
    for model in models(sys.argv[1] if len(sys.argv) > 1 else ""):
        elapsed, check = await measure(Checker(engines), model)
        slowest = max(slowest, elapsed)
        cells = sum(map(len, check.cells.values()))
        print(
            f"{Path(model.name).name:55} {elapsed:6.1f} s  {len(check.cells)} parsers and pairs, {cells} cells  "
            f"{check.recommendation.verdict}"
        )
    for engine in engines:
        engine.close()
    print(f"slowest {slowest:.1f} s, claimed {LIMIT_S:.0f} s on two idle cores")
    return int(slowest > LIMIT_S)


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
