"""A process that has imported vLLM or our program. What is forked from it has a keeper that ends it.

Started with one open socket that listens and the name of what it imports. Standard input is its leash.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import multiprocessing
import multiprocessing.util
import os
import pkgutil
import runpy
import select
import signal
import socket
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

_PR_SET_CHILD_SUBREAPER = 36
# What both processes of a server import, be it late: each server would do so by itself.
_IMPORTED = (
    "uvloop",
    "vllm.entrypoints.launchers.api_server.entry",
    "vllm.entrypoints.launchers.render.entry",
    "vllm.entrypoints.openai.api_server",
    "vllm.v1.engine.async_llm",
    "vllm.v1.engine.core",
    "vllm.v1.engine.utils",
    "vllm.v1.executor.uniproc_executor",
    "vllm.v1.worker.cpu_worker",
    "vllm.v1.worker.cpu_model_runner",
    "vllm.v1.attention.backends.cpu_attn",
    "vllm.model_executor.models.llama",
    "vllm.model_executor.model_loader.default_loader",
    "vllm.tokenizers.hf",
    "vllm.renderers.hf",
    "xgrammar",
    "torch._inductor.config",
    "vllm.parser",
    "vllm.reasoning",
    "vllm.tool_parsers",
)
_PROGRAM = "PROMPT_DEBUGGER_TESTS_PROGRAM"
_RENDER_JOBS = ("prompt_debugger.core.render.worker.jobs",)
_SANDBOX = "/core/sandbox/child.py"
_PARSERS = ("vllm.parser", "vllm.reasoning", "vllm.tool_parsers")


def main(listening: socket.socket, kind: str) -> None:
    """Split servers off until the leash is cut."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for the keepers
    {"vllm": _import_vllm, "program": _import_program}[kind]()
    gc.collect()
    gc.freeze()
    while True:
        ready, _, _ = select.select([listening.fileno(), 0], [], [])
        if 0 in ready and not os.read(0, 1):
            return
        if listening.fileno() in ready:
            asking, _ = listening.accept()
            if os.fork() == 0:
                listening.close()
                _keep(asking)
            asking.close()


def _import_vllm() -> None:
    for name in _IMPORTED:
        with suppress(ImportError):  # a release that has it elsewhere imports it when it is needed
            importlib.import_module(name)
    for package in _PARSERS:
        for one in pkgutil.iter_modules(getattr(sys.modules.get(package), "__path__", ())):
            with suppress(Exception):  # the caller hears of it
                importlib.import_module(f"{package}.{one.name}")


def _import_program() -> None:
    """Import what commands, page and sandboxes do, as they do: the network is shut first, gradio comes stubless.

    What looks at the environment at its import is left for each process.
    """
    root = str(Path(__file__).resolve().parents[2])
    sys.path[0] = root
    importlib.import_module("prompt_debugger.core.base.egress").forbid_network()
    importlib.import_module("prompt_debugger.ui.web.settings").prepare_environment()
    importlib.import_module("prompt_debugger.ui.web.start_gradio").start_gradio()
    for name in ("prompt_debugger.ui.cli.main", "prompt_debugger.ui.web.layout", "prompt_debugger.ui.web.work_sandbox"):
        with suppress(Exception):  # each program that is started imports it again, and says what is wrong with it
            importlib.import_module(name)
    importlib.import_module("prompt_debugger.core.sandbox.service")._load(_RENDER_JOBS)


def _keep(asking: socket.socket) -> NoReturn:
    """Start the server that is asked for, and end it when the caller is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    _, files, _, _ = socket.recv_fds(asking, 1, 3)
    line = b""
    while not line.endswith(b"\n"):
        if not (part := asking.recv(65_536)):
            os._exit(0)
        line += part
    order = json.loads(line)
    server = os.fork()
    if server == 0:
        asking.close()
        _serve(order, files)
    for number in files:
        os.close(number)
    os._exit(_watch(asking, server))


def _watch(asking: socket.socket, server: int) -> int:
    """Pass signals on until the server has ended, and say how; return our own status."""
    end = os.pidfd_open(server)
    while True:
        ready, _, _ = select.select([asking.fileno(), end], [], [])
        if asking.fileno() in ready:
            heard = asking.recv(1)
            _signal(server, heard[0] if heard else signal.SIGKILL)
        if end in ready:
            break
    _signal(server, signal.SIGKILL)  # what is left of its group; its number is not free yet
    _, status = os.waitpid(server, 0)
    with suppress(OSError):
        asking.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())
    return 0


def _signal(group: int, number: int) -> None:
    """Send a signal once: a second Ctrl-C means something else than the first."""
    try:
        os.killpg(group, number)
    except PermissionError:
        pass
    except ProcessLookupError:  # its group is not there yet, or not any more
        with suppress(ProcessLookupError):
            os.kill(group, number)


def _serve(order: dict[str, Any], files: list[int]) -> NoReturn:
    """Be the server, as its command line says."""
    status = 1
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for place, number in enumerate(files):
            os.dup2(number, place)
            os.close(number)
        os.environ.clear()
        os.environ.update(order["environment"])
        if order["program"].endswith(_SANDBOX):
            os.environ.pop("PYTHONPATH", None)
            os.environ.pop(_PROGRAM, None)
        os.chdir(order["folder"])
        tempfile.tempdir = None  # decided by the environment
        if order["kind"] == "code":
            os.getppid = lambda: order["parent"]  # whoever started it, for code that ends with its parent
        added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[:0] = [one for one in added if one and one not in sys.path]
        _run(order["kind"], order["program"], order["arguments"])
        status = 0
    except SystemExit as left:
        status = left.code if isinstance(left.code, int) else int(left.code is not None)
        if isinstance(left.code, str):
            sys.stderr.write(f"{left.code}\n")
    except BaseException:  # noqa: BLE001  # as the interpreter does at the end of a program
        traceback.print_exc()
    finally:
        with suppress(Exception):
            multiprocessing.util._exit_function()  # type: ignore[attr-defined]
            atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _run(kind: str, program: str, arguments: list[str]) -> None:
    """Do what Python does with such a command line."""
    sys.argv = [program, *arguments]
    if _PROGRAM in os.environ and kind != "module":
        _warm_sandboxes()
    if kind == "module":
        _split_off_engines()
        _share_gloo_device()
        sys.modules.pop(program, None)  # it is to run, as `python -m` does
        runpy.run_module(program, run_name="__main__", alter_sys=True)
    elif kind == "file":
        runpy.run_path(program, run_name="__main__")
    else:
        sys.argv[0] = "-c"
        sys.dont_write_bytecode = "PYTHONDONTWRITEBYTECODE" in os.environ
        exec(compile(program, "<string>", "exec"), {"__name__": "__main__"})


def _warm_sandboxes() -> None:
    """Have the sandboxes of our program come from here, too."""
    forkserver = importlib.import_module("prompt_debugger.core.sandbox.forkserver")
    start = forkserver.Forkserver.__init__
    shown = {name: os.environ[name] for name in (_PROGRAM, "PYTHONPATH")}

    def start_warm(
        self: object, command: Sequence[str], environment: Mapping[str, str], modules: Sequence[str] = ()
    ) -> None:
        if len(command) == 4 and command[2].endswith(_SANDBOX):
            start(self, [command[0], *command[2:]], {**environment, **shown}, modules)
        else:
            start(self, command, environment, modules)

    forkserver.Forkserver.__init__ = start_warm


def _split_off_engines() -> None:
    """Fork the engine's process, too; on a CPU, vLLM would start a new one that imports everything again."""
    for name in ("vllm.utils.system_utils", "vllm.v1.engine.utils", "vllm.v1.engine.coordinator"):
        importlib.import_module(name).get_mp_context = lambda: multiprocessing.get_context("fork")  # type: ignore[attr-defined]


def _share_gloo_device() -> None:
    """Have all process groups of an engine listen in one thread, not in thirteen that wake every ten milliseconds.

    A lab that no one asks would take more than one percent of a core, and a run has three.
    """
    distributed = importlib.import_module("torch.distributed.distributed_c10d")
    gloo = distributed.ProcessGroupGloo
    devices: list[Any] = []

    class Sharing(gloo):  # type: ignore[misc,valid-type]  # untyped
        def __init__(self, store: Any, rank: int, size: int, timeout: Any) -> None:
            devices[:] = devices or [gloo.create_default_device()]
            options = gloo._Options()
            options._devices, options._timeout, options._threads = list(devices), timeout, 2
            super().__init__(store, rank, size, options)

    distributed.ProcessGroupGloo = Sharing  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(socket.socket(fileno=int(sys.argv[1])), sys.argv[2])
