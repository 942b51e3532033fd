"""Make `docs/benchmarks.md` and the curves next to it of what `benchmarks.figures` measured."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parents[1] / "docs"
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 720, 400, 64, 20, 210, 48
# Hue, and a dash pattern that tells the lines apart without it.
STROKES = (("#3b6fd4", ""), ("#c4572b", "8 4"), ("#2f8f5b", "2 4"), ("#8e4fb5", "12 4 2 4"), ("#a37b12", "4 2"))


def page(document: dict[str, Any]) -> str:
    """Return the page."""
    machine = document["machine"]
    rows = [
        f"| {one['what']} | {figure(one['value'])} {one['unit']} | {one['ratio']:.2f} | {one['to']} |"
        for one in document["figures"]
    ]
    for curve in document["curves"]:
        (*_, half, whole), (*_, least, most) = curve["sizes"], curve["seconds"]
        grown = f"{figure(most * 1e3)} ms | {most / least:.2f} | {half:,} characters"
        rows.append(f"| {curve['what']}, {whole:,} characters | {grown} |")
    return "\n".join(
        [
            "# Benchmarks",
            "",
            f"Measured on {document['date']} by `make bench`: {machine['processor']}, Python {machine['python']} on "
            f"{machine['system']}, load {machine['load']}. Times are processor time, the best of some tries, where "
            "nothing else is said. On a machine that does other things, too, seconds say little; the ratios hold.",
            "",
            "| what | figure | ratio | to |",
            "|---|---|---|---|",
            *rows,
            "",
            "Where the ratio is to half of the characters, 2 is linear and 4 is quadratic.",
            "",
            "Memory does not grow with the rows: `python -m benchmarks.soak verify --rows 1000000 --seconds 1000` read "
            "69,036 rows on 24 November 2026, at the lowest priority of a busy machine, and saw 73 MB in the process "
            "of `verify` at a tenth of the time, 73 at half and 74 at the end, and 114, 114 and 78 MB in the processes "
            "that it started, 191 MB at most; `--seconds 300` on 29 November, beside other work (load 20 to 37), read "
            "8,455 rows at 72, 74 and 74 MB. `soak parse --rows 50000` saw 60 MB each time. "
            "`python -m benchmarks.verify_reading` shows what `verify` spends on a row: 2.8 ms of processor time on 30 "
            "November, 1.6 times its JSON in and out, nearly all of it in sandboxes; without the last changes 3.1 ms "
            "and 1.8 times in the same minute, and beside other work (load 7) 5.1 against 6.5 ms. A row as agents send "
            "it (`--agent`: 20 tools, long instructions) took 81 ms on a busy machine, and 108 beside it without what "
            "is now done once for rows with the same tools and for two prompts that are the same.",
            "",
            "A keystroke does not wait for the length of a request: `python -m benchmarks.typing_long` saw, on 30 "
            "November, 27 to 47 ms from the key to the second frame after it (median of 15; 83 at most) in requests of "
            "1.6 and 1.7 million characters, and 28 to 32 ms in a short one.",
            "",
            "![Time by size of the text](growth.svg)",
            "",
            "The page and the curves are made of `docs/benchmarks.json` by `scripts/benchmark_page.py`; every file of "
            "`benchmarks/` prints more when run by itself, such as `python -m benchmarks.bulk`; "
            "`make bench-all` runs all.",
            "",
        ]
    )


def figure(value: float) -> str:
    """Return a number with three telling digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def growth_svg(curves: list[dict[str, Any]]) -> str:
    """Return the curves as one drawing, both axes logarithmic: a straight line at 45° is linear growth."""
    sizes = [size for curve in curves for size in curve["sizes"]]
    times = [seconds * 1e3 for curve in curves for seconds in curve["seconds"]]
    across, up = (
        _scale(min(sizes), max(sizes), LEFT, WIDTH - RIGHT),
        _scale(min(times), max(times), HEIGHT - BOTTOM, TOP),
    )
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="system-ui, sans-serif" font-size="12">',
        "<title>Time by size of the text, both on logarithmic scales</title>",
        "<style>svg{color:#222;background:#fff}@media(prefers-color-scheme:dark){svg{color:#ddd;background:#16181d}}"
        "text{fill:currentColor}.grid{stroke:currentColor;stroke-opacity:.15}</style>",
    ]
    for size in sorted(set(sizes)):
        x = across(size)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}"/>')
        label = f"{size // 1000:,}k"
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{label}</text>')
    for power in range(math.ceil(math.log10(min(times))), math.floor(math.log10(max(times))) + 1):
        y = up(10**power)
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{10**power:g} ms</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">characters</text>')
    for index, (curve, (hue, dash)) in enumerate(zip(curves, STROKES, strict=False)):
        points = " ".join(
            f"{across(size):.1f},{up(seconds * 1e3):.1f}"
            for size, seconds in zip(curve["sizes"], curve["seconds"], strict=True)
        )
        style = f'stroke="{hue}" stroke-width="2" fill="none" stroke-dasharray="{dash}"'
        y = TOP + 16 + 22 * index
        parts.append(f'<polyline points="{points}" {style}/>')
        parts.append(f'<line x1="{WIDTH - RIGHT + 12}" y1="{y}" x2="{WIDTH - RIGHT + 40}" y2="{y}" {style}/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 46}" y="{y + 4}">{html.escape(curve["what"])}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    span = math.log(high / low) or 1.0
    return lambda value: start + (stop - start) * math.log(value / low) / span


def main() -> None:
    """Write both files."""
    document = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
    (DOCS / "benchmarks.md").write_text(page(document), encoding="utf-8")
    (DOCS / "growth.svg").write_text(growth_svg(document["curves"]), encoding="utf-8")


if __name__ == "__main__":
    main()
