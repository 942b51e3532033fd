"""A few hundred rows against a server that fails, stalls and is killed, by a `verify` that is killed, too."""

import json

from scripts.verify_endurance import Endurance, Report, Run, run_endurance
from tests.patience import PATIENCE_S


def test_no_row_is_lost_and_none_asked_again_after_its_answer_stands(tmp_path):
    plan = Endurance(
        rows=240, server_kills=2, verify_kills=2, concurrency=8, stall_every=59, timeout_s=5.0, limit_s=5 * PATIENCE_S
    )

    report = run_endurance(tmp_path, plan)

    assert (report.rows, report.failed) == (240, 0)
    assert (report.after_journal, report.unexplained) == (0, 0)
    assert [what for what, _ in report.kills] == ["server", "verify", "verify", "server"]
    assert all(count <= plan.concurrency for _, count in report.kills)
    assert report.asked > 240  # it did fail and stall


def test_a_row_that_is_asked_again_and_lost_once_more_counts_once(tmp_path):
    run = Run.__new__(Run)
    run.plan, run.report, run.folder = Endurance(rows=1), Report(1), tmp_path
    run.log, run.killed = tmp_path / "log", [("verify", set()), ("server", set())]
    run.log.write_text("asked 7\nanswered 7\nkilled 0\nasked 7\nkilled 1\nasked 7\nanswered 7\n")
    (tmp_path / "results.jsonl").write_text(json.dumps({"status": "success"}) + "\n")

    run._compare()

    assert run.report.kills == [("verify", 1), ("server", 0)]
    assert (run.report.unexplained, run.report.twice) == (0, 1)
