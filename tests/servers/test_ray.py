"""The commands on a real Ray cluster of two nodes: the same as on one machine, and nothing lost with a node."""

import json
import os
import subprocess

import pytest

from tests.conftest import ROOT
from tests.patience import PATIENCE_S

NO_CLUSTER = 77  # exit status of the script
PYTHON = ROOT / ".venv-ray" / "bin" / "python"
# Ray binds to the machine's own address, whatever it is told; in a network of its own that is loopback.
LOOPBACK = (
    "import fcntl, os, socket, struct, sys;"
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh14x', b'lo', 0x41));"
    "os.execv(sys.executable, [sys.executable, '-m', 'tests.servers.ray_cluster', sys.argv[1]])"
)

pytestmark = [pytest.mark.servers, pytest.mark.nightly, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    if not (ROOT / ".venv-ray" / ".ready").exists():
        pytest.skip("Ray is not installed: `make .venv-ray/.ready`, which `make nightly` does")
    if subprocess.run(["unshare", "-n", "true"], capture_output=True).returncode:
        pytest.skip("no network of its own can be had here, and Ray would bind to the machine's address")
    folder = str(tmp_path_factory.mktemp("ray"))
    done = subprocess.run(
        ["unshare", "-n", str(PYTHON), "-c", LOOPBACK, folder],
        cwd=ROOT, capture_output=True, text=True, timeout=3 * PATIENCE_S, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode == NO_CLUSTER:
        pytest.skip(f"Ray can start no cluster here: {done.stderr[-500:]}")
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("kind", ["lines", "url", "parquet"])
def test_cases_are_answered_as_on_one_machine_in_their_order(found, kind):
    assert found["parse"][kind]["is_same"], found["parse"][kind]["stderr"]
    assert found["parse"][kind]["lines"] == 150


def test_lines_are_read_under_lock_on_every_machine(found):
    assert found["lock"]["done"] == ["read our code"]
    assert not [name for name in found["lock"]["names"] if name.startswith("RAY") or "KEY" in name]


def test_results_and_intervals_are_those_of_one_machine(found):
    assert found["there"] == found["here"]
    assert found["there"]["is_printed_alone"]
    assert 0 < found["here"]["summary"]["debugger"]["rates"]["schema_accuracy"]["low"] < 1


def test_three_apis_are_compared_as_on_one_machine(found):
    here, there = (found["apis"][name] for name in ("here", "there"))

    assert there == here
    assert [(one["between"], one["where"], one["rows"]) for one in here[1]] == [(["chat", "messages"], "message", 24)]


def test_traffic_is_read_on_the_cluster_and_nothing_is_lost_with_its_workers(found):
    here, there = (found["watch"][name] for name in ("here", "there"))

    document, sent = there["document"], there["document"]["exchanges"]
    assert there["killed"] >= 2
    assert there["status"] == here["status"]
    assert (document["read"], document["unread"]) == (sent, 0)
    assert sent > here["document"]["exchanges"] == here["document"]["read"] == 40
    assert "read on: " in there["printed"]
    assert "read on: " not in here["printed"]
    assert document["counts"]["returned"] == sent * here["document"]["counts"]["returned"] // 40


def test_nothing_is_asked_again_by_the_same_command(found):
    assert found["again"] == found["there"]
    assert found["asked"] == 2  # here once, on the cluster once


def test_a_node_that_dies_loses_no_row_and_what_was_answered_is_not_asked_again(found):
    rates = ("schema_accuracy", "tool_call_rate", "success_rate")

    hurt, here = found["hurt"], found["here"]

    assert hurt["rows"] == here["rows"]
    assert [hurt["summary"]["debugger"]["rates"][name] for name in rates] == [
        here["summary"]["debugger"]["rates"][name] for name in rates
    ]
    assert found["twice"] <= 8  # those under way
