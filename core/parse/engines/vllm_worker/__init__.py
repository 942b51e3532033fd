"""A helper program that runs inside the interpreter that has vLLM; only here vLLM is imported.

    client ── one JSON object per line, stdin ──▶ worker
           ◀── one JSON object per line, stdout ──

Started by the path of this folder, by any interpreter: it needs the standard
library and vLLM, and imports little else of this project. The started
process imports vLLM and is asked nothing; workers are forked from it (`core.sandbox.fork_loop`).
The first line that one writes says whether vLLM could be imported, which version,
and which parsers it has; after that one answer per request, in order. What vLLM
or a parser prints goes to standard error.
"""
