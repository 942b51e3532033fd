"""In each Python that is started while this folder is on its path: is it to be a vLLM server? Then the stem makes it.

The process stays, for whoever started it: it passes signals on, ends as the server does, and the server ends with it.
Where the stem does not answer, it goes on as if nothing were here.
"""

import os
import sys

_MODULES = ("vllm.entrypoints.launchers.api_server.entry", "vllm.entrypoints.launchers.render.entry")


def _hand_over(address: str) -> None:
    import json
    import signal
    import socket

    stem = socket.socket(socket.AF_UNIX)
    try:
        stem.connect(address)
    except OSError:
        return
    place = sys.orig_argv.index("-m")
    order = {
        "module": sys.orig_argv[place + 1],
        "arguments": sys.orig_argv[place + 2 :],
        "environment": dict(os.environ),
        "folder": os.getcwd(),  # noqa: PTH109  # pathlib costs more than all this
    }
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda number, _: stem.send(bytes([number])))
    socket.send_fds(stem, [b"o"], [0, 1, 2])
    stem.sendall(json.dumps(order).encode() + b"\n")
    status = stem.makefile("r").readline()
    ended = int(status or -signal.SIGKILL)
    if ended < 0:
        if -ended != signal.SIGKILL:
            signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)


def _is_wanted() -> bool:
    given = sys.orig_argv
    return "-m" in given[:-1] and given[given.index("-m") + 1] in _MODULES


if _is_wanted() and (_address := os.environ.get("PROMPT_DEBUGGER_TESTS_STEM")):
    _hand_over(_address)
