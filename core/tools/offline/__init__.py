"""A request through `LLM.chat` or `LLM.generate` of an installed vLLM: no server, no parser.

    request ──▶ worker.py inside vLLM's interpreter ──▶ prompt ids, text, output ids ──▶ the same reading as of a server

What differs from a server is in the run: special tokens are stripped from the text by default, no tool or reasoning
parser reads it, and without `max_tokens` an output ends after vLLM's 16 tokens.
"""

from prompt_debugger.core.tools.offline.run import run_offline

__all__ = ["run_offline"]
