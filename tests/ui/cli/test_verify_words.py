"""How far a verification is, in one line."""

from prompt_debugger.core.tools.verify import Progress
from prompt_debugger.ui.cli.verify_words import percent, progress_line


def test_the_time_left_is_of_what_is_not_read_yet_at_the_pace_of_this_session():
    progress = Progress(total=100, answered=90, read=50, failed=10, lost=3, limit=8, read_before=40)

    line = progress_line(progress, 10.0)

    assert line.startswith("[##############..........] 60/100 · 2.0/s · 0:20 left")
    assert line.endswith("8 at once · 10 failed · 3 calls lost")


def test_nothing_is_foretold_before_anything_is_done():
    assert "time left unknown" in progress_line(Progress(total=5), 0.0)


def test_a_rate_has_its_interval_and_denominator():
    assert percent({"value": 0.5, "low": 0.25, "high": 0.75, "n": 8}) == "50.0% (25.0% to 75.0%) of 8"
    assert percent({"value": None, "low": None, "high": None, "n": 0}) == "unknown (0 of 0)"
