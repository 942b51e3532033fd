"""A few hundred rows against a server that fails, stalls and is killed, by a `verify` that is killed, too."""

from scripts.verify_endurance import Endurance, run_endurance
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
