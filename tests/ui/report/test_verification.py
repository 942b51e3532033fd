"""The report of a verification: what it shows, that rows cannot write into it, and that secrets stay out."""

from xml.etree import ElementTree

from prompt_debugger.core.tools.verify import About, Tally, cluster_rows, compare_rows, summary_of
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


def html_of(rows, *, pages=None, official=None, journal=None):
    about = About("rows.jsonl", "http://127.0.0.1:1/v1", "1/1", len(rows), 0, None, "", 0)
    baseline = None if official is None else compare_rows(rows, official, "official.jsonl")
    summary = summary_of(Tally().add_all(rows), about, baseline=baseline)
    return verification_to_html(summary, cluster_rows(rows), times_of(rows), pages or {}, journal)


def test_rates_stand_as_numbers_next_to_every_bar():
    html = html_of([row(1, codes=["PD401"], stage="parse"), row(2)])

    assert "50.0% (15.0% to 85.0%) of 4" in html
    assert "PD401 dropped-call" in html
    assert "get_weather" in html


def test_every_shown_row_opens_its_run():
    html = html_of([row(1, codes=["PD401"], stage="parse")], pages={1: "rows/1.html"})

    assert '<a href="rows/1.html">row 1</a>' in html


def test_every_row_at_fault_has_its_number_and_the_command_that_opens_it():
    faulty = [row(index, codes=["PD401"], stage="parse") for index in range(2, 40)]

    html = html_of([row(1), *faulty], pages={2: "rows/2.html"}, journal="run of 3 May/results.sqlite")

    for index in range(2, 40):
        assert f"prompt-debugger verify row {index} --journal &#x27;run of 3 May/results.sqlite&#x27;</code>" in html
    assert "verify row 1 " not in html
    assert html.count('<a href="rows/2.html">row 2</a>') == 2
    assert "All rows of this cause" in html


def test_of_very_many_rows_it_says_what_is_left_out():
    rows = [row(index, codes=[f"PD40{index % 7}"], stage="parse") for index in range(1, 8401)]

    html = html_of(rows, journal="results.sqlite")

    assert html.count("<code>") == 5000
    assert "The first 1000 rows of this cause" in html
    assert html.count("<p>200 more are not listed") == 5
    assert html.count("<p>1200 more are not listed") == 2
    assert len(html) < 1_500_000


def test_without_a_journal_rows_have_their_numbers_alone():
    html = html_of([row(index, codes=["PD401"], stage="parse") for index in range(1, 20)])

    assert "<li>row 19</li>" in html
    assert "verify row" not in html


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


def test_a_comparison_is_a_plot_next_to_its_table():
    calls = [{**row(index), "finish_reason": "tool_calls"} for index in range(1, 11)]
    html = html_of([row(index) for index in range(1, 11)], official=[*calls[:5], *(row(n) for n in range(6, 11))])

    part = html.partition("Compared with")[2]
    plot = ElementTree.fromstring("<svg" + part.partition("<svg")[2].partition("</svg>")[0] + "</svg>")
    bars = [one for one in plot.iter("rect") if one.get("class") == "bar"]
    lengths = {one.get("x"): float(one.get("width")) for one in bars}
    labels = [one.text for one in plot.iter("text")]
    assert labels[0] == "tool call rows"
    assert float(bars[0].get("x")) < 270  # fewer calls than there: to the left of none
    assert float(bars[0].get("width")) > 0
    assert lengths["270.0"] == 0  # no difference: no bar
    assert labels[-2] == "0"
    assert "</svg><table>" in part


def test_a_comparison_of_nothing_has_no_plot():
    html = html_of([row(1)], official=[])

    assert "<svg" not in html.partition("Compared with")[2]


def test_nothing_at_fault_is_reported():
    assert "None." in html_of([row(1)])
