"""The lab's dataset and the table of what fixing it brings: made from the script and its record, and never by hand."""

import json

from scripts.verify_lab import BEGIN, END, FIXES, README, RECORD, make_rows, stages, stale_files


def test_dataset_table_and_plot_are_up_to_date():
    assert stale_files() == [], "run `python scripts/verify_lab.py --dataset` and `--table`"


def test_each_fix_changes_the_rows_with_its_fault_and_no_other():
    rows = make_rows()

    changed = []
    for _, fix in FIXES:
        fixed = [fix(row) for row in rows]
        changed.append(sum(before != after for before, after in zip(rows, fixed, strict=True)))

    assert changed == [48, 60, 60]


def test_nothing_is_left_to_fix_at_the_end():
    *_, (_, last) = stages(make_rows())

    assert all(fix(row) == row for row in last for _, fix in FIXES)


def test_the_readme_shows_each_fix_with_its_figures():
    record = json.loads(RECORD.read_text())

    shown = README.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]

    assert f"the {record[0]['rows']} requests" in shown
    for one in record:
        assert f"| {one['name']} | **{one['successful_tool_call_count']}** |" in shown
    assert "(docs/verify-lab.svg)" in README.read_text(encoding="utf-8")
