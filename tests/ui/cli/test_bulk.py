"""Many lines in several processes: same answers and order; what a dead or hanging worker or a person's Ctrl-C costs."""

import json
import multiprocessing
import os
import re
import select
import signal
import socket
import subprocess
import sys
from contextlib import closing, contextmanager
from functools import partial
from multiprocessing.connection import wait
from pathlib import Path
from types import SimpleNamespace

import pytest

from prompt_debugger.core.base.errors import EngineError, RequestError
from prompt_debugger.ui.cli import case_workers, cases
from prompt_debugger.ui.cli.case_lines import CHUNK_LINES, Chunk, NeedsMoreError, answered, read_chunks
from prompt_debugger.ui.cli.case_workers import CaseWorkers, WorkerLimits
from prompt_debugger.ui.cli.cases import LINES_ALONE, run_bulk
from tests.conftest import ROOT

CALL = '<tool_call>\n{{"name": "f", "arguments": {{"n": {n}}}}}\n</tool_call>'
MANY = LINES_ALONE + 5 * CHUNK_LINES


@pytest.fixture(autouse=True)
def _workers(request, monkeypatch):
    """Workers are forked from a process that has done the imports; of a `cold` test, spawned as users' are."""
    if "cold" not in request.fixturenames:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([case_workers.__name__, __name__])
        monkeypatch.setattr(case_workers, "multiprocessing", SimpleNamespace(get_context=lambda _: context))


@pytest.fixture
def cold():
    """See `_workers`."""


@contextmanager
def echo(marker=None):
    """Answer with the case; one that says so ends this process, always or only the first time."""

    def answer(case):
        if case.get("do") == "die" or (case.get("do") == "die once" and not Path(marker).exists()):
            if marker:
                Path(marker).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if case.get("do") == "hang" or (
            case.get("do") == "hang once" and not Path(marker).with_suffix(".hung").exists()
        ):
            if marker:
                Path(marker).with_suffix(".hung").touch()
                Path(marker).with_suffix(".fifo").write_text(f"{os.getpid()}\n")
            while True:
                signal.pause()
        if case.get("do") == "leave":
            os._exit(3)
        if case.get("do") == "refuse":
            raise RequestError("refused", field="do")
        if case.get("do") == "stumble":
            raise ZeroDivisionError("a fault of ours")
        return answered({"id": case.get("id"), "seen": case["n"], "pid": os.getpid(), "findings": []})

    yield answer


@contextmanager
def unstartable():
    sys.exit(7)
    yield


def lines_of(items):
    return tuple(json.dumps(item).encode() for item in items)


def documents_of(items, open_answer=echo, jobs=2, **how):
    """Return what the workers write for some cases, in chunks of three lines."""
    lines = lines_of(items)
    chunks = (Chunk(start + 1, lines[start : start + 3]) for start in range(0, len(lines), 3))
    with closing(CaseWorkers(open_answer, jobs, **how)) as workers:
        text = "".join(answer.text for answer in workers.answers(chunks))
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.usefixtures("cold")
def test_answers_come_in_order_whoever_gave_them():
    documents = documents_of([{"id": f"case {n}", "n": n} for n in range(40)])

    assert [document["seen"] for document in documents] == list(range(40))
    assert [document["id"] for document in documents] == [f"case {n}" for n in range(40)]
    assert os.getpid() not in {document["pid"] for document in documents}


def test_a_line_that_kills_its_worker_gets_an_error_and_its_neighbours_answers():
    items = [{"id": n, "n": n, "do": "die" if n == 4 else None} for n in range(12)]

    documents = documents_of(items)

    assert [document["id"] for document in documents] == list(range(12))
    assert "killed by signal 9" in documents[4]["error"]["message"]
    assert "line 5" in documents[4]["error"]["message"]
    assert all("error" not in document for n, document in enumerate(documents) if n != 4)


def test_a_worker_that_leaves_says_its_status():
    assert "ended with status 3" in documents_of([{"n": 1, "do": "leave"}])[0]["error"]["message"]


def test_a_worker_that_dies_once_costs_a_retry_and_nothing_else(tmp_path):
    items = [{"id": n, "n": n, "do": "die once" if n == 4 else None} for n in range(12)]

    documents = documents_of(items, partial(echo, str(tmp_path / "died")))

    assert (tmp_path / "died").exists()
    assert [document.get("seen") for document in documents] == list(range(12))


class Clock:
    """In place of time: a limit has passed as soon as a worker has told that it hangs, and not before."""

    def __init__(self, marker):
        path = Path(marker).with_suffix(".fifo")
        os.mkfifo(path)
        self.fifo = os.open(path, os.O_RDWR)  # so that anyone who opens it to write finds a reader
        self.limits = []
        self.hung = []

    def wait(self, connection, limit_s):
        self.limits.append(limit_s)
        if self.fifo not in wait([connection, self.fifo]):
            return True
        self.hung.append(int(os.read(self.fifo, 100)))
        return False


@pytest.fixture
def clock(tmp_path):
    made = Clock(tmp_path / "marker")
    yield made
    os.close(made.fifo)


def test_a_line_that_hangs_gets_an_error_and_its_neighbours_answers(tmp_path, clock):
    items = [{"id": n, "n": n, "do": "hang" if n == 4 else None} for n in range(12)]

    documents = documents_of(items, partial(echo, str(tmp_path / "marker")), jobs=1, wait=clock.wait)

    assert [document["id"] for document in documents] == list(range(12))
    assert "gave no answer within 600 s and was ended while it read line 5" in documents[4]["error"]["message"]
    assert all("error" not in document for n, document in enumerate(documents) if n != 4)
    assert clock.limits == [900, 900, 600, 600, 600, 900, 900]  # chunks of three lines, the second line by line
    assert len(clock.hung) == 2
    for pid in clock.hung:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_a_worker_that_hangs_once_costs_a_retry_and_nothing_else(tmp_path, clock):
    items = [{"id": n, "n": n, "do": "hang once" if n == 4 else None} for n in range(12)]

    documents = documents_of(items, partial(echo, str(tmp_path / "marker")), jobs=1, wait=clock.wait)

    assert len(clock.hung) == 1
    assert [document.get("seen") for document in documents] == list(range(12))
    assert clock.limits == [900, 900, 600, 600, 600, 900, 900]


def test_lines_that_hang_are_given_up_by_the_real_clock():
    items = [{"id": n, "n": n, "do": "hang"} for n in range(2)]

    documents = documents_of(items, jobs=1, limits=WorkerLimits(chunk_s=0.01, line_s=0.02))

    assert [document["id"] for document in documents] == [0, 1]
    assert all("gave no answer within 0.02 s" in document["error"]["message"] for document in documents)


def test_closing_does_not_wait_for_a_line_that_hangs(tmp_path):
    marker = tmp_path / "marker"
    os.mkfifo(marker.with_suffix(".fifo"))
    items = [{"n": 0}, {"n": 1, "do": "hang"}]
    chunks = (Chunk(n + 1, lines_of([item])) for n, item in enumerate(items))
    with closing(CaseWorkers(partial(echo, str(marker)), 1)) as workers:
        next(workers.answers(chunks))
        pid = int(marker.with_suffix(".fifo").read_text())  # waits until it hangs

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_fault_of_ours_costs_one_line():
    documents = documents_of([{"id": 1, "n": 1, "do": "stumble"}, {"id": 2, "n": 2}])

    assert "ZeroDivisionError" in documents[0]["error"]["message"]
    assert documents[1]["seen"] == 2


@pytest.mark.usefixtures("cold")
def test_workers_that_cannot_start_are_one_clear_error():
    with pytest.raises(EngineError, match="status 7"):
        documents_of([{"n": 1}], unstartable)


def test_no_more_is_read_than_a_few_chunks_ahead_of_what_is_written():
    taken = 0

    def chunks():
        nonlocal taken
        for n in range(200):
            taken += 1
            yield Chunk(n + 1, lines_of([{"n": n}]))

    ahead = []
    with closing(CaseWorkers(echo, 2)) as workers:
        for written, _ in enumerate(workers.answers(chunks())):
            ahead.append(taken - written)

    assert len(ahead) == 200
    assert max(ahead) <= 2 * 4 + 2


@pytest.mark.usefixtures("cold")
def test_closing_early_ends_the_workers():
    endless = (Chunk(n + 1, lines_of([{"n": n}])) for n in range(10_000_000))
    with closing(CaseWorkers(echo, 2)) as workers:
        pid = json.loads(next(workers.answers(endless)).text)["pid"]

    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_slow_source_is_not_waited_for():
    class Slow:
        def __init__(self, *parts):
            self.parts = list(parts)

        def read(self, size):
            return self.parts.pop(0)

    assert list(read_chunks(Slow(b'{"a"', b": 1}\n", b"\n2\n3", b""))) == [
        Chunk(1, (b'{"a": 1}',)),
        Chunk(2, (b"", b"2")),
        Chunk(4, (b"3",)),
    ]


@pytest.mark.parametrize("count", [3, MANY])
def test_one_process_and_two_write_the_same(count, tmp_path, capsys):
    text = [json.dumps({"id": n, "n": n, "do": "refuse" if n % 50 == 7 else None}) for n in range(count)]
    text[2] = "no json"
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(text))
    outputs = []
    for jobs in (1, 2):
        status = run_bulk(str(file), echo, jobs=jobs)
        documents = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        outputs.append([{**document, "pid": None} for document in documents])
        assert status == 1

    assert outputs[0] == outputs[1]
    assert [document["id"] for document in outputs[0]] == [None if n == 2 else n for n in range(count)]
    assert outputs[0][2]["error"]["line"] == 3


def test_a_small_file_starts_no_worker(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cases, "CaseWorkers", None)
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\n".join(lines_of([{"n": n} for n in range(LINES_ALONE)])))

    assert run_bulk(str(file), echo, jobs=2) == 0
    assert len(capsys.readouterr().out.splitlines()) == LINES_ALONE


def parse_command(*arguments, **keywords):
    command = [sys.executable, "app.py", "parse", "--cases", "-", *arguments]
    # A suite that runs in the background has SIGINT ignored; its children would have, too.
    listening = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    return subprocess.Popen(command, cwd=ROOT, preexec_fn=listening, **pipes, **keywords)


def case_line(n):
    return json.dumps({"id": n, "raw": CALL.format(n=n)}).encode() + b"\n"


def test_a_pipe_that_stays_open_gets_its_answers_and_ctrl_c_ends_it_all_at_once():
    with parse_command("--jobs", "2", start_new_session=True) as process:
        for n in range(MANY):
            process.stdin.write(case_line(n))
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(MANY)]
        workers = [os.pidfd_open(pid) for pid in children_of(process.pid)]
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate()

    assert [answer["id"] for answer in answers] == list(range(MANY))
    assert answers[-1]["calls"][0]["arguments_json"] == {"n": MANY - 1}
    assert process.returncode == 130
    assert all(line.startswith("Reading the cases") for line in errors.decode().splitlines())
    assert len(workers) >= 2
    for worker in workers:  # a process is ready to be read when it has ended
        assert select.select([worker], [], [], 60)[0] == [worker]
        os.close(worker)


def test_a_reader_that_goes_away_ends_it_silently():
    with parse_command("--jobs", "2") as process:
        for n in range(2 * MANY):
            process.stdin.write(case_line(n))
        process.stdin.close()
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read()

    assert all(line.startswith("Reading the cases") for line in errors.decode().splitlines())


def children_of(pid):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = (entry / "stat").read_text().rpartition(")")[2].split()[1]
            except OSError:
                continue
            if int(parent) == pid:
                found.append(int(entry.name))
    return found


@contextmanager
def breaking_out():
    """Answer with what a locked process can do all the same; a case may ask for helpers, time or memory."""

    def answer(case):
        if case.get("do") == "ask":
            raise NeedsMoreError
        if case.get("do") == "work":
            sum(range(1 << 60))
        if case.get("do") == "grow":
            return answered({"length": len(bytearray(1 << 33))})
        done = [name for name, attempt in ATTEMPTS.items() if succeeds(attempt)]
        return answered({"id": case.get("id"), "done": done, "names": sorted(os.environ), "pid": os.getpid()})

    yield answer


def succeeds(attempt):
    try:
        attempt()
    except PermissionError:
        return False
    except OSError:  # it was let try, and found nothing
        return True
    return True


ATTEMPTS = {
    "read our code": lambda: Path(os.__file__).read_bytes(),
    "read the machine": lambda: Path("/etc/passwd").read_bytes(),
    "read by descriptor": lambda: os.open("/etc/passwd", os.O_RDONLY),
    "read through a link": lambda: Path("/proc/self/root", "etc", "passwd").read_bytes(),
    "list": lambda: os.listdir("/etc"),  # noqa: PTH208  # what iterdir does
    "write": lambda: Path(os.devnull).write_text("x"),
    "write our code": lambda: Path(os.__file__).open("r+").close(),
    "run": lambda: subprocess.run(["true"], check=False),
    "fork": lambda: os.waitpid(os.fork() or os._exit(0), 0),
    "connect": socket.socket,
    "look up": lambda: socket.getaddrinfo("example.org", 80),
    "end the parent": lambda: os.kill(os.getppid(), 0),
}


@pytest.mark.usefixtures("cold")
def test_a_locked_worker_reads_our_code_and_breaks_out_of_nothing(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    [document] = documents_of([{"n": 1}], jobs=1, open_locked=breaking_out)

    assert document["done"] == ["read our code"]
    assert "PATH" in document["names"]
    assert "OPENAI_API_KEY" not in document["names"]


@pytest.mark.usefixtures("cold")
def test_a_worker_that_is_not_locked_reaches_no_network_either():
    [document] = documents_of([{"n": 1}], breaking_out, jobs=1)

    assert "look up" not in document["done"]
    assert "run" in document["done"]


def test_what_asks_for_helpers_is_answered_by_another_process_in_its_place():
    items = [{"id": n, "n": n, "do": "ask" if n == 4 else None} for n in range(9)]

    documents = documents_of(items, jobs=1, open_locked=breaking_out)

    assert [document["id"] for document in documents] == list(range(9))
    assert ["done" in document for document in documents] == [True] * 3 + [False] * 3 + [True] * 3  # by chunks
    assert documents[4]["seen"] == 4


@pytest.mark.parametrize("is_locked", [True, False])
def test_a_line_that_takes_too_much_time_or_memory_costs_itself_alone(is_locked):
    items = [{"id": 0}, {"id": 1, "do": "work"}, {"id": 2}, {"id": 3, "do": "grow"}, {"id": 4}]
    limits = WorkerLimits(cpu_s=0.2, memory_mb=1024)

    documents = documents_of(items, breaking_out, 1, limits=limits, open_locked=breaking_out if is_locked else None)

    assert [document["id"] for document in documents] == list(range(5))
    assert "took more than 0.2 s of processor time" in documents[1]["error"]["message"]
    assert "MemoryError" in documents[3]["error"]["message"]
    assert ["error" in document for document in documents] == [False, True, False, True, False]


def test_a_line_that_is_answered_here_is_given_up_too(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(cases, "WorkerLimits", partial(WorkerLimits, cpu_s=0.2))
    file = tmp_path / "cases.jsonl"
    file.write_bytes(b"\n".join(lines_of([{"id": 1, "a": "a" * 60 + "!"}, {"id": 2, "a": "a"}])))

    def answer(case):
        fits = bool(re.fullmatch("(a+)+", case["a"]))  # for the first, longer than anyone lives
        return answered({"id": case["id"], "fits": fits})

    assert cases.run_cases(str(file), answer) == 1
    slow, quick = [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    assert "took more than 0.2 s of processor time" in slow["error"]["message"]
    assert (quick["id"], quick["fits"]) == (2, True)


def test_lines_with_and_without_parsers_get_what_they_ask_for():
    with parse_command("--jobs", "1") as process:
        wanted = [*range(MANY), {"parsers": ["derender"]}]
        for n, more in enumerate(wanted):
            line = {"id": n, "raw": CALL.format(n=n)} | (more if isinstance(more, dict) else {})
            process.stdin.write(json.dumps(line).encode() + b"\n")
        output, _ = process.communicate()

    documents = [json.loads(line) for line in output.splitlines()]
    assert [document["id"] for document in documents] == list(range(len(wanted)))
    assert documents[-2]["calls"][0]["arguments_json"] == {"n": MANY - 1}
    assert "no endpoint was given" in documents[-1]["error"]["message"]  # said by what may ask servers
