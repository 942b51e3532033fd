"""In each Python that is started while this folder is on its path: is it to import vLLM? Then the forkserver makes it.

That is so for servers, for what runs a request without one, for the parser helpers' process of a command, and for code
of a test that asks for it by `PROMPT_DEBUGGER_TESTS_CODE`. Likewise our own program, and the sandboxes that it opens,
where a test asks for that by `PROMPT_DEBUGGER_TESTS_PROGRAM`: by a forkserver that has imported it.

The process stays, for the process that started it: it passes signals on, ends as the server does, and
the server ends with it. Where the forkserver does not answer, it goes on as if nothing were here.
"""

import os
import sys

TYPE_CHECKING = False  # typing costs more than all this
if TYPE_CHECKING:
    from typing import Any

_ADDRESS = "PROMPT_DEBUGGER_TESTS_STEM"
_CODE = "PROMPT_DEBUGGER_TESTS_CODE"
_CLIENT = "prompt_debugger.core.parse.engines.client"
_FILES = ("/core/tools/offline/worker.py", "/core/parse/engines/vllm_worker")
_PROGRAM = "PROMPT_DEBUGGER_TESTS_PROGRAM"
_OURS = ("app.py", "/core/sandbox/child.py")
_READING = "from prompt_debugger.core.tools.watch.reading_process import main; main()"
_MODULES = ("vllm.entrypoints.launchers.api_server.entry", "vllm.entrypoints.launchers.render.entry")


def _hand_over(address: str, kind: str, place: int) -> None:
    import json
    import signal
    import socket

    forkserver = socket.socket(socket.AF_UNIX)
    try:
        forkserver.connect(address)
    except OSError:
        return
    order = {
        "kind": kind,
        "program": sys.orig_argv[place],
        "arguments": sys.orig_argv[place + 1 :],
        "environment": dict(os.environ),
        "folder": os.getcwd(),  # noqa: PTH109  # pathlib costs more than all this
        "parent": os.getppid(),
    }
    for one in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(one, lambda number, _: forkserver.send(bytes([number])))
    socket.send_fds(forkserver, [b"o"], [0, 1, 2])
    forkserver.sendall(json.dumps(order).encode() + b"\n")
    if sys.orig_argv[place].endswith(
        (*_OURS, _READING)
    ):  # anyone who reads or writes there has to do with the other process alone
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nothing, number)
    status = forkserver.makefile("r").readline()
    ended = int(status or -signal.SIGKILL)
    if ended < 0:
        if -ended != signal.SIGKILL:
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)


def _what_it_runs() -> tuple[str, int] | None:
    """Return what kind of program this is and its place on the command line, if the forkserver can make it."""
    given = sys.orig_argv
    if len(given) > 1 and (given[1].endswith(_FILES) or (os.environ.get(_CODE) and given[1].endswith(".py"))):
        return "file", 1
    if len(given) > 2 and given[1] == "-c" and os.environ.get(_CODE):
        return "code", 2
    if "-m" in given[:-1] and given[(place := given.index("-m") + 1)] in _MODULES:
        return "module", place
    return None


class _ToldOnwards:
    """Lets a command's parser helpers hear of the forkserver: of its environment the command hands on what it must."""

    def find_spec(self, name: str, _path: object = None, _target: object = None) -> object:
        if name != _CLIENT:
            return None
        import importlib.util

        sys.meta_path.remove(self)  # type: ignore[arg-type]  # it finds but one module
        spec = importlib.util.find_spec(name)
        assert spec is not None
        assert spec.loader is not None
        run = spec.loader.exec_module

        def exec_module(module: "Any") -> None:
            run(module)
            module._KEPT_ENVIRONMENT += ("PYTHONPATH", _ADDRESS)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_prefix, _, _address = os.environ.get(_PROGRAM, "").rpartition(":")
if _prefix == sys.prefix and sys.orig_argv[1:2] and sys.orig_argv[1].endswith(_OURS):
    _hand_over(_address, "file", 1)
_prefix, _, _address = (_told := os.environ.get(f"{_PROGRAM}_STEM", "")).rpartition(":")
if _prefix == sys.prefix and sys.orig_argv[1:2] == ["-c"] and sys.orig_argv[2] == _READING:
    os.environ[_PROGRAM] = _told  # its sandboxes, too
    _hand_over(_address, "code", 2)
_prefix, _, _address = os.environ.get(_ADDRESS, "").rpartition(":")
if _prefix == sys.prefix:
    if (_found := _what_it_runs()) is not None:
        _hand_over(_address, *_found)
    sys.meta_path.insert(0, _ToldOnwards())  # type: ignore[arg-type]  # likewise
