"""vLLM imported once for many servers and helpers of the tests.

Imports are most of what a lab server costs: eight seconds of processor time in each of its two processes. Here one
process imports vLLM, and every lab of the run is forked from it, with the command line, the environment and the files
that the program gave it. What is left out is the import, and twelve of an engine's threads that only listen;
that it works with them is what `tests/core/tools/lab` proves, whose servers are started as users' are.

Other importers of vLLM work the same way: the process from which parser helpers are forked, in the tests' own process
and in commands that they run, what runs a request without a server, and code of a test that asks for it (`FORKED`).

    pytest ── starts, when the first lab asks ──▶ `forkserver.py`, which imports vLLM
      └ program ── supervisor ── `python -m vllm…` ── `path/sitecustomize.py`: hands its files over, and waits
                                                          └▶ forkserver ── keeper ── the server

Commands and pages of our own program take that way, too, where a test asks for it (`program`), from a forkserver that
has imported it, and so do their sandboxes. Sandboxes of the tests' own process share their forkservers (`sandboxes`,
`forkservers`).
"""
