"""A few rows of the lab's dataset on a real vLLM: what was lost, where, and on which evidence."""

import pytest

from scripts.verify_lab import FIXES, make_rows
from tests.core.tools.verify.running import Verification

pytestmark = pytest.mark.lab


def fault_of(row):
    return tuple(fix(row) != row for _, fix in FIXES)


def one_of_each():
    """A healthy call, and one row with each of the three faults."""
    calling = [row for row in make_rows() if "tools" in row and row["max_tokens"] == 128]
    wanted = [(False, False, False), (True, False, False), (False, True, False), (False, False, True)]
    return [next(row for row in calling if fault_of(row) == fault) for fault in wanted]


@pytest.mark.parametrize("stream", [False, True])
def test_every_fault_is_found_at_its_stage_by_the_ids_of_the_run(lab_url, tmp_path, stream):
    run = Verification(tmp_path / "run", [{**row, "stream": stream} for row in one_of_each()])

    status = run.run(lab_url, "--concurrency", "2")

    rows = [row["debugger"] for row in run.rows]
    assert status == 1
    assert [row["evidence"] for row in rows] == ["same-run"] * 4
    assert [(row["stage"], row["written"], row["returned"], row["dropped"]) for row in rows] == [
        (None, 1, 1, 0), ("render", 0, 0, 0), ("render", 0, 0, 0), ("parse", 1, 0, 1)
    ]  # fmt: skip
    assert [code in row["codes"] for row, code in zip(rows[1:], ("PD203", "PD205", "PD401"), strict=True)] == [True] * 3
    assert all(row["prompt_tokens"]["server"] for row in rows)
