"""A real PostgreSQL of one's own, in a folder, as someone who is not root: the server refuses to be."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


def find() -> Path | None:
    """Return the folder of the newest release's programs, as Debian installs them or as they are on the path."""
    named = shutil.which("initdb")
    return BINARIES[-1].parent if BINARIES else Path(named).parent if named else None


class Database:
    """A server that runs; `stop` and `start` are its ends.

    Attributes:
        url: With user and password.
    """

    def __init__(self, programs: Path, folder: Path, port: int) -> None:
        self._programs, self._folder, self._port = programs, folder, port
        self.url = f"postgresql://watcher:s3cret-word@127.0.0.1:{port}/postgres"

    def start(self) -> None:
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._run("pg_ctl", "start", "--wait", "--options", options, "--log", str(self._folder / "log"))

    def stop(self) -> None:
        self._run("pg_ctl", "stop", "--wait", "--mode", "immediate")

    def make(self) -> None:
        password = self._folder.parent / "password"
        password.write_text("s3cret-word\n")
        self._run("initdb", "--username=watcher", "--auth=scram-sha-256", f"--pwfile={password}", "--no-sync")

    def _run(self, program: str, *arguments: str) -> None:
        user: Any = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        subprocess.run(
            [str(self._programs / program), "--pgdata", str(self._folder), *arguments],
            check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, cwd="/", **user,
        )  # fmt: skip


@contextmanager
def database() -> Iterator[Database]:
    """Run one for as long as the block lasts."""
    programs = find()
    assert programs is not None
    home = Path(mkdtemp(prefix="pd-postgresql-"))
    if os.geteuid() == 0:
        owner = pwd.getpwnam("postgres")
        os.chown(home, owner.pw_uid, owner.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    run = Database(programs, home / "data", port)
    try:
        run.make()
        run.start()
        yield run
    finally:
        try:
            run.stop()
        finally:
            shutil.rmtree(home, ignore_errors=True)
