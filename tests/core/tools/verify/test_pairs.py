"""Paired figures by their published definitions, on rows of ours and of K2VV's."""

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.tools.verify import compare_rows
from prompt_debugger.core.tools.verify.stored import open_stored


def row(index, reason="stop", *, status="success", valid=None, **own):
    found = {"data_index": index, "status": status, "finish_reason": reason, "tool_calls_valid": valid, "hash": "h"}
    return {**found, "debugger": own} if own else found


def test_rows_are_compared_by_number_not_by_order():
    ours = [row(1, "tool_calls"), row(2), row(3, "tool_calls"), row(4, "length")]
    theirs = [row(4), row(3), row(2, "tool_calls"), row(1, "tool_calls")]

    pairs = compare_rows(ours, theirs, "official")

    assert (pairs.tp, pairs.fp, pairs.fn, pairs.tn, pairs.n_compared) == (1, 1, 1, 1, 4)
    assert (pairs.precision.value, pairs.recall.value, pairs.tool_call_f1.value) == (0.5, 0.5, 0.5)


def test_rows_that_only_one_side_answered_are_skipped_and_counted():
    ours = [row(1), row(2, None, status="failed"), row(3), row(5)]
    theirs = [row(1), row(2), row(3, None, status="failed"), row(4)]

    pairs = compare_rows(ours, theirs, "official")

    assert (pairs.n_compared, pairs.n_skipped, pairs.failures, pairs.official_failures) == (1, 4, 1, 1)


def test_a_denominator_of_nothing_is_not_a_rate():
    pairs = compare_rows([row(1)], [row(1)], "official")

    assert (pairs.precision.value, pairs.recall.value, pairs.tool_call_f1.value) == (None, None, None)


def test_f1_is_zero_where_nothing_agrees():
    pairs = compare_rows([row(1, "tool_calls"), row(2)], [row(1), row(2, "tool_calls")], "official")

    assert pairs.tool_call_f1.value == 0


def test_differences_are_of_rows_that_both_sides_judge():
    ours = [row(1, dropped=1), row(2, dropped=0), row(3, dropped=1), row(4)]
    theirs = [row(1, dropped=0), row(2, dropped=0), row(3, dropped=None), row(4)]

    difference = compare_rows(ours, theirs, "yesterday").differences["dropped_rows"]

    assert (difference.value, difference.n) == (pytest.approx(0.5), 2)


def test_requests_that_are_not_the_same_are_reported():
    theirs = [{**row(1), "hash": "other"}, row(2)]

    assert compare_rows([row(1), row(2)], theirs, "x").requests_differ == 1


def test_an_interval_of_pairs_narrows_with_more_rows():
    def f1(count):
        rows = [row(i, "tool_calls" if i % 2 else "stop") for i in range(1, count)]
        official = [row(i, "tool_calls" if i % 3 else "stop") for i in range(1, count)]
        return compare_rows(rows, official, "x").tool_call_f1

    few, many = f1(40), f1(4000)

    assert few.low <= few.value <= few.high
    assert many.high - many.low < few.high - few.low


def test_a_dataset_in_place_of_results_is_named_with_how_to_run_it(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"messages": [{"role": "user", "content": "Hi"}]}\n')

    with pytest.raises(RequestError, match="looks like a dataset") as caught:
        list(open_stored(str(path))[0].rows())
    assert "prompt-debugger verify rows.jsonl --endpoint URL" in caught.value.hint
    path.write_text('{"id": 1}\n')
    with pytest.raises(RequestError, match="not a row of results"):
        list(open_stored(str(path))[0].rows())
