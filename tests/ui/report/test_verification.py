"""The report of a verification: what it shows, that rows cannot write into it, and that secrets stay out."""

from xml.etree import ElementTree

from prompt_debugger.core.verify import About, Tally, cluster_rows, compare_rows, summary_of
from prompt_debugger.ui.report import times_of, verification_to_html

NASTY = "<script>alert('x')</script> sk-proj-0123456789abcdef0123456789abcdef"


def row(index, question="hi", *, codes=(), stage=None, status="success"):
    own = {
        "evidence": "same-run", "written": 2, "returned": 1, "dropped": 1, "altered": 0, "invented": 0, "cut": 0,
        "leaked": 0, "stage": stage, "codes": list(codes), "errors": list(codes), "attempts": 1,
        "verdict": f"of {question}", "tools": {"get_weather": [2, 1]},
    }  # fmt: skip
    return {
        "data_index": index, "status": status, "finish_reason": "stop", "tool_calls_valid": None,
        "last_run_at": f"2026-11-22T08:00:{index:02}", "request": {"messages": [{"role": "user", "content": question}]},
        "response": {}, "debugger": own,
    }  # fmt: skip


def html_of(rows, *, pages=None, official=None):
    about = About("rows.jsonl", "http://127.0.0.1:1/v1", "1/1", len(rows), 0, None, "", 0)
    baseline = None if official is None else compare_rows(rows, official, "official.jsonl")
    summary = summary_of(Tally().add_all(rows), about, baseline=baseline)
    return verification_to_html(summary, cluster_rows(rows), times_of(rows), pages or {})


def test_rates_stand_as_numbers_beside_every_bar():
    html = html_of([row(1, codes=["PD401"], stage="parse"), row(2)])

    assert "50.0% (15.0% to 85.0%) of 4" in html
    assert "PD401 dropped-call" in html
    assert "get_weather" in html


def test_every_shown_row_opens_its_run():
    html = html_of([row(1, codes=["PD401"], stage="parse")], pages={1: "rows/1.html"})

    assert '<a href="rows/1.html">row 1</a>' in html


def test_what_rows_say_is_text_and_their_secrets_are_covered():
    html = html_of([row(1, NASTY, codes=["PD401"], stage="parse")])

    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "0123456789abcdef0123" not in html


def test_plots_are_well_formed():
    html = html_of(
        [row(index, codes=["PD401"] * (index % 2), stage="parse" if index % 2 else None) for index in range(9)]
    )

    plots = [part.split("</svg>")[0] + "</svg>" for part in html.split("<svg")[1:]]
    assert len(plots) >= 4
    for plot in plots:
        ElementTree.fromstring("<svg" + plot)


def test_a_comparison_says_what_got_better_or_worse():
    html = html_of([row(1), row(2)], official=[row(1), {**row(2), "finish_reason": "tool_calls"}])

    assert "Compared with official.jsonl" in html
    assert "-50.0%" in html


def test_nothing_at_fault_is_said():
    assert "None." in html_of([row(1)])
