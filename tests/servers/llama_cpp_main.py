"""Serve a GGUF file with llama.cpp's server from the `xllamacpp` wheel, until it is killed.

A program of its own: `python llama_cpp_main.py FILE`. It prints the server's address once it answers. The
server takes any free port of this machine.
"""

import os
import signal
import sys

import xllamacpp


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[1]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_ctx = 2 * 2048  # shared by the two slots
    params.n_parallel = 2
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    params.use_jinja = True
    params.warmup = False
    server = xllamacpp.Server(params)
    # In one piece and with a line of its own: the server's threads write to the same place, `print` in two pieces.
    os.write(1, f"\nserving {server.listening_address}\n".encode())
    signal.pause()


main()
