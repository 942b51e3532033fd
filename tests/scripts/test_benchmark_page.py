"""The page of figures and its curves are what the measured document says."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from itertools import pairwise

from scripts.benchmark_page import DOCS, growth_svg, page

MEASURED = json.loads((DOCS / "benchmarks.json").read_text(encoding="utf-8"))
SVG = "{http://www.w3.org/2000/svg}"


def test_page_and_curves_are_made_of_the_measured_document():
    assert (DOCS / "benchmarks.md").read_text(encoding="utf-8") == page(MEASURED)
    assert (DOCS / "growth.svg").read_text(encoding="utf-8") == growth_svg(MEASURED["curves"])


def test_the_page_names_machine_date_and_every_ratio():
    text = page(MEASURED)

    assert MEASURED["date"] in text
    assert MEASURED["machine"]["processor"] in text
    assert all(f"| {one['ratio']:.2f} | {one['to']} |" in text for one in MEASURED["figures"])


def test_every_curve_is_drawn_from_its_first_to_its_last_size():
    drawn = ElementTree.fromstring(growth_svg(MEASURED["curves"])).findall(f"{SVG}polyline")

    assert len(drawn) == len(MEASURED["curves"])
    for line, curve in zip(drawn, MEASURED["curves"], strict=True):
        places = [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        assert len(places) == len(curve["sizes"])
        assert [x for x, _ in places] == sorted(x for x, _ in places)


def test_linear_growth_is_a_line_of_one_slope_and_words_are_escaped():
    sizes = [1_000, 2_000, 4_000, 8_000]
    curves = [{"what": "a < b & c", "sizes": sizes, "seconds": [size / 1e6 for size in sizes]}]

    root = ElementTree.fromstring(growth_svg(curves))

    points = [tuple(map(float, point.split(","))) for point in root.find(f"{SVG}polyline").attrib["points"].split()]
    steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    assert all(abs(step[0] - steps[0][0]) < 0.2 and abs(step[1] - steps[0][1]) < 0.2 for step in steps)
    assert "a < b & c" in [text.text for text in root.iter(f"{SVG}text")]


def test_what_was_measured_grew_with_the_text_and_not_with_its_square():
    for curve in MEASURED["curves"]:
        assert curve["seconds"][-1] < 3 * curve["seconds"][-2], curve["what"]
