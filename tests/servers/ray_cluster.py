"""A Ray cluster of two nodes on this machine, and the commands on it and off it; prints what came out as JSON.

Run by `test_ray` with the Python of `.venv-ray`, where nothing but loopback is to be reached if that can be had.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import psutil
import pyarrow
import pyarrow.parquet
from ray.cluster_utils import Cluster

from tests.conftest import ROOT
from tests.core.complete.faulty_server import FaultyServer, faulty_server
from tests.core.complete.faulty_server import answer as http_answer
from tests.core.tools.apis.test_side_by_side import ALIKE, BODY, messages
from tests.core.tools.verify.counting_server import CountingServer, answer, body, counting_server, usual
from tests.patience import PATIENCE_S
from tests.threads import in_thread
from tests.ui.cli.test_capture import CHAT, Captured

RAW = '<tool_call>\n{"name": "f", "arguments": {"a": %d}}\n</tool_call>'
NO_CLUSTER = 77
STORE_BYTES = 100 * 2**20
NODES = 2  # a worker each
POLL_S = 0.2


def main(folder: Path) -> None:
    """Do it all in a folder."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    os.environ["RAY_memory_monitor_refresh_ms"] = "0"  # noqa: SIM112  # Ray spells it so; or it ends workers when others fill the machine
    head = {"num_cpus": 1, "object_store_memory": STORE_BYTES, "include_dashboard": False, "include_log_monitor": False}
    try:
        cluster = Cluster(initialize_head=True, head_node_args=head)
        node = cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
    except Exception as error:  # noqa: BLE001 - whatever Ray misses on this machine, it is not ours
        print(error, file=sys.stderr)
        sys.exit(NO_CLUSTER)
    try:
        found = {
            "parse": parse_cases(folder, cluster.address),
            "lock": read_under_lock(folder, cluster.address),
            "watch": watch_traffic(folder, cluster.address),
            "apis": asyncio.run(verify_apis(folder, cluster.address)),
            **verify_rows(folder, cluster, node),
        }
    finally:
        cluster.shutdown()
    print(json.dumps(found))


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the program."""
    own = [sys.executable, "app.py", *arguments]
    return subprocess.run(own, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)


def parse_cases(folder: Path, address: str) -> dict[str, Any]:
    """Return for lines, a URL and Parquet whether answers and status are those of one machine."""
    cases = [{"id": number, "raw": RAW % number} for number in range(150)]
    lines = folder / "cases.jsonl"
    lines.write_text("".join("{broken\n" if case["id"] == 77 else json.dumps(case) + "\n" for case in cases))
    table = folder / "cases.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(cases), table)
    same = folder / "same.jsonl"
    same.write_text("".join(json.dumps(case) + "\n" for case in cases))
    found = {}
    of_lines, of_table = (command("parse", "--cases", str(plain), "--jobs", "1") for plain in (lines, same))
    for name, here, spread in (
        ("lines", of_lines, str(lines)),
        ("url", of_lines, f"file://{lines}"),
        ("parquet", of_table, str(table)),
    ):
        there = command("parse", "--cases", spread, "--ray", address)
        found[name] = {
            "lines": len(there.stdout.splitlines()),
            "is_same": (here.stdout, here.returncode) == (there.stdout, there.returncode),
            "stderr": there.stderr[-2000:],
        }
    return found


def read_under_lock(folder: Path, address: str) -> dict[str, Any]:
    """Return what a line gets done that tries all it can on a worker of the cluster."""
    lines = folder / "breaking.jsonl"
    lines.write_text('{"n": 1}\n')
    own = [sys.executable, "-m", "tests.servers.ray_lock", str(lines), address]
    done = subprocess.run(own, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    read: dict[str, Any] = json.loads(done.stdout)
    return read


async def verify_apis(folder: Path, address: str) -> dict[str, Any]:
    """Return what one machine finds by three APIs, of which one answers otherwise, and what the cluster does."""
    dataset, found = folder / "of_apis.jsonl", {}
    texts = [{"role": "user", "content": f"hi {number}"} for number in range(24)]
    dataset.write_text("".join(json.dumps({**BODY, "messages": [text]}) + "\n" for text in texts))
    behaviours = {**ALIKE, "/v1/messages": messages({"type": "text", "text": "Well"}), "*": http_answer(404)}
    async with faulty_server(behaviours) as server:
        for name, options in (("here", ()), ("there", ("--ray", address))):
            output = str(folder / f"apis-{name}.jsonl")
            given = ("verify", str(dataset), "--endpoint", server.base_url, "--api", "all", "--json")
            done = await asyncio.to_thread(command, *given, "--output", output, *options)
            document = json.loads(done.stdout)
            counts = {api: one["debugger"] for api, one in document["apis"].items()}
            found[name] = [done.returncode, document["differences"], document["rows_that_differ"], counts]
    return found


def watch_traffic(folder: Path, address: str) -> dict[str, Any]:
    """Return what one machine counts of traffic, and what the cluster does, whose workers are killed in between."""
    found = {}
    with in_thread(FaultyServer("", {"*": http_answer(200, CHAT)})) as url:
        for name, options in (("here", ()), ("there", ("--ray", address))):
            store = folder / f"watch-{name}.sqlite"
            watch = Captured(url, store, "--metrics-port", "0", *options, command="watch", place="--store")
            assert watch.process.stderr is not None
            said = iter(watch.process.stderr.readline, "")
            metrics = next(line.split()[-1] for line in said if line.startswith("Metrics: "))
            send(watch.base_url, 20)
            killed = 0
            if options:
                before = wait_until_read_there(watch.base_url, metrics, 0, workers=NODES)
                killed = kill_workers()
                wait_until_read_there(watch.base_url, metrics, before)
            send(watch.base_url, 20)
            status, printed, _ = watch.end()
            document = json.loads(command("watch", "--open", str(store), "--json").stdout)
            found[name] = {"status": status, "killed": killed, "printed": printed, "document": document}
    return found


def send(base_url: str, count: int) -> None:
    """Send that many requests."""
    with httpx.Client(timeout=PATIENCE_S) as client:
        for number in range(count):
            body = {"model": "m", "messages": [{"role": "user", "content": f"hi {number}"}]}
            client.post(f"{base_url}/chat/completions", json=body)


def wait_until_read_there(base_url: str, metrics: str, before: int, *, workers: int = 0) -> int:
    """Send requests until as many workers of the cluster read, and have read more than before; how many that is."""
    while True:
        send(base_url, 1)
        lines = httpx.get(metrics, timeout=PATIENCE_S).text.splitlines()
        now = sum(int(line.split()[-1]) for line in lines if line.startswith("prompt_debugger_exchanges_read_on_total"))
        if now > before and len(reading_workers()) >= workers:
            return now
        time.sleep(POLL_S)


def reading_workers() -> list[psutil.Process]:
    """Return what reads on this script's cluster."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "_FarReading" in process.name() or "_FarReading" in " ".join(process.cmdline()):
                found.append(process)
    return found


def kill_workers() -> int:
    """Kill what reads on this script's cluster, and return how many processes that was."""
    workers = reading_workers()
    for process in workers:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    return len(workers)


def respond(text: str) -> dict[str, Any]:
    """A call with odd arguments for every seventh row, so that rates are no round numbers."""
    number = int(text.split()[1])
    if number % 7:
        return usual(text)
    return answer({"role": "assistant", "content": "<tool_call>"}, "length" if number % 2 else "stop")


def verify_rows(folder: Path, cluster: Cluster, node: Any) -> dict[str, Any]:
    """Return what one machine finds, what the cluster does, and what it does while a node is taken away."""
    texts = [f"{'call' if number % 3 else 'say'} {number}" for number in range(90)]
    dataset = folder / "rows.jsonl"
    dataset.write_text("".join(json.dumps(body(text)) + "\n" for text in texts))
    with counting_server(respond) as server:
        here = verify(folder, "here", server)
        there = verify(folder, "there", server, "--ray", cluster.address)
        again = verify(folder, "there", server, "--ray", cluster.address)
        asked = max(server.asked.values())
    with counting_server(respond) as server:
        remover = threading.Thread(target=remove_when, args=(server, 30, cluster, node))
        remover.start()
        hurt = verify(folder, "hurt", server, "--ray", cluster.address, "--concurrency", "8")
        remover.join()
        twice = sum(count > 1 for count in server.answered.values())
    return {"here": here, "there": there, "again": again, "asked": asked, "hurt": hurt, "twice": twice}


def remove_when(server: CountingServer, count: int, cluster: Cluster, node: Any) -> None:
    """Take a node away as soon as so many rows are answered; no more are until it is gone."""
    server.let_answer(count)
    server.wait_until_asked(count + 1)
    cluster.remove_node(node, allow_graceful=False)
    server.let_answer(None)


def verify(folder: Path, name: str, server: CountingServer, *options: str) -> dict[str, Any]:
    """Return summary and rows, without what differs from one run to the next."""
    output = folder / f"{name}.jsonl"
    done = command(
        "verify", str(folder / "rows.jsonl"), "--endpoint", server.base_url, "--json", "--backoff", "0.01",
        "--output", str(output), "--summary", str(folder / f"{name}.json"), *options,
    )  # fmt: skip
    if not output.exists():
        raise RuntimeError(done.stderr)
    summary = json.loads((folder / f"{name}.json").read_text())
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    changing = ("eval_started_at", "eval_finished_at", "eval_duration_ms")
    return {
        "status": done.returncode,
        "is_printed_alone": done.stdout == (folder / f"{name}.json").read_text(),
        "summary": {key: value for key, value in summary.items() if key not in changing},
        "rows": [[row["data_index"], row["status"], row["finish_reason"], row["hash"]] for row in rows],
    }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
