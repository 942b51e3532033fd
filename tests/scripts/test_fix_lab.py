"""The tables of the three faults: made from the record, and rising fault by fault."""

import json

from scripts.fix_lab import PAGE, RECORD, page_of, returned_fault_by_fault


def test_the_page_contains_the_tables_of_the_record():
    assert PAGE.read_text("utf-8") == page_of(json.loads(RECORD.read_text("utf-8"))), "run scripts/fix_lab.py --table"


def test_calls_come_back_fault_by_fault_until_all_that_are_written_are_returned():
    rows = returned_fault_by_fault(json.loads(RECORD.read_text("utf-8")))
    returned = [got for _, _, got in rows]

    assert returned == sorted(set(returned))
    assert rows[-1][1] == rows[-1][2] == 4
