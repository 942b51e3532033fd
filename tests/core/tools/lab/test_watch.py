"""When a lab counts as hanging: by what it answers, what it uses and what comes of it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from prompt_debugger.core.tools.lab.watch import Judge, Look, cpu_of, memory_of, tokens_of

START = Look(0.0, is_answering=True, cpu_s=10.0, tokens=100.0)


def verdicts(*looks: Look, is_small: bool = True) -> list[str]:
    judge = Judge(START, is_small=is_small)
    return [judge.verdict(look) for look in looks]


def look(at_s: float, cpu_s: float | None, tokens: float | None = 100.0, *, answers: bool = True) -> Look:
    return Look(at_s, answers, cpu_s, tokens)


def test_an_idle_lab_is_left_alone():
    assert verdicts(*(look(4.0 * n, 10.0 + 0.01 * n) for n in range(1000))) == [""] * 1000


def test_what_an_idle_lab_takes_to_be_looked_at_adds_up_to_nothing():
    assert not any(verdicts(*(look(4.0 * n, 10.0 + 0.1 * n) for n in range(1000))))


def test_a_lab_at_work_is_left_alone():
    assert verdicts(*(look(4.0 * n, 10.0 + 8.0 * n, 100.0 + n) for n in range(1000))) == [""] * 1000


def test_a_lab_that_works_and_answers_nothing_hangs():
    found = verdicts(*(look(4.0 * n, 10.0 + 4.0 * n, None, answers=False) for n in range(1, 5)))

    assert found[:2] == ["", ""]
    assert found[2] == "it did not answer for 12 s"


def test_a_lab_that_gets_no_processor_time_is_waited_for_longer():
    found = verdicts(*(look(4.0 * n, 10.0 + 0.1 * n, None, answers=False) for n in range(1, 16)))

    assert found[:14] == [""] * 14
    assert found[14] == "it did not answer for 60 s"


def test_one_answer_begins_the_silence_anew():
    silent = [look(4.0 * n, 10.0 + 4.0 * n, 100.0 + n, answers=n % 3 == 0) for n in range(1, 60)]

    assert not any(verdicts(*silent))


def test_a_lab_that_burns_time_without_a_token_hangs():
    found = verdicts(*(look(4.0 * n, 10.0 + 4.0 * n) for n in range(1, 9)))

    assert found[:7] == [""] * 7
    assert found[7] == "it used 32 s of processor time without producing a single token"


def test_a_large_model_may_read_for_minutes():
    looks = [look(4.0 * n, 10.0 + 4.0 * n) for n in range(1, 70)]

    assert not any(verdicts(*looks, is_small=False))
    assert any(verdicts(*looks, look(400.0, 410.0), is_small=False))


def test_what_is_not_told_is_not_held_against_it():
    assert not any(verdicts(*(look(4.0 * n, None) for n in range(1, 100))))
    judge = Judge(look(0.0, 10.0, None), is_small=True)
    assert not any(judge.verdict(look(4.0 * n, 10.0 + 4.0 * n, None)) for n in range(1, 100))


def test_a_lab_that_takes_memory_without_end_is_of_no_more_use():
    first = Look(0.0, is_answering=True, cpu_s=10.0, tokens=100.0, memory_gb=1.5)
    looks = [replace(first, at_s=4.0 * n, memory_gb=gb) for n, gb in enumerate((1.6, 5.4, 5.5), 1)]
    judge, large = Judge(first, is_small=True), Judge(first, is_small=False)

    assert [judge.verdict(one) for one in looks] == ["", "", "it took 4 GB more memory than at its start"]
    assert not any(large.verdict(one) for one in looks)
    assert not judge.verdict(look(16.0, 10.0, 200.0))  # not told


METRICS = """# HELP vllm:generation_tokens_total Number of generation tokens processed.
# TYPE vllm:generation_tokens_total counter
vllm:generation_tokens_total{engine="0",model_name="lab-model"} 1.5e+02
vllm:generation_tokens_created{engine="0",model_name="lab-model"} 1.7e+09
vllm:prompt_tokens_total{engine="0",model_name="lab-model"} 40.0
"""


@pytest.mark.parametrize(("metrics", "tokens"), [(METRICS, 190.0), ("", None), ("vllm:num_requests_running 3.0", None)])
def test_tokens_are_read_from_the_metrics(metrics, tokens):
    assert tokens_of(metrics) == tokens


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell")
def test_processor_time_is_that_of_the_process():
    assert (cpu_of(os.getpid()) or 0.0) > 0.0


def test_processor_time_is_added_up_over_all_below(tmp_path):
    for pid, name, ticks, children in ((5, "vllm (a) b", 100, "6 7"), (6, "engine", 250, ""), (7, "gone", 50, "99")):
        (tmp_path / str(pid) / "task" / str(pid)).mkdir(parents=True)
        (tmp_path / str(pid) / "stat").write_text(f"{pid} ({name}) R {' '.join(['0'] * 10)} {ticks} 50 0\n")
        (tmp_path / str(pid) / "task" / str(pid) / "children").write_text(children)

    assert cpu_of(5, tmp_path) == 5.5
    assert cpu_of(99, tmp_path) is cpu_of(None, tmp_path) is None


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not tell")
def test_memory_is_that_of_the_process():
    assert 0.001 < (memory_of(os.getpid()) or 0.0) < 100.0


def test_memory_is_added_up_over_all_below(tmp_path):
    for pid, pages, children in ((5, 1000, "6"), (6, 500, "")):
        (tmp_path / str(pid) / "task" / str(pid)).mkdir(parents=True)
        (tmp_path / str(pid) / "statm").write_text(f"9999 {pages} 1 1 0 1 0\n")
        (tmp_path / str(pid) / "task" / str(pid) / "children").write_text(children)

    assert memory_of(5, tmp_path) == 1500 * os.sysconf("SC_PAGE_SIZE") / 1e9
    assert memory_of(99, tmp_path) is memory_of(None, tmp_path) is None
