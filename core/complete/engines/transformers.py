"""`transformers serve`, which looks like any OpenAI-compatible server: nothing in its answers names it.

It reads an output by the `response_template` of the model's tokenizer, else by one of its own for some model types.

Source: transformers 5.19.0, `cli/serving/utils.py`, read 2026-11.
"""

from __future__ import annotations

from prompt_debugger.core.complete.engines._record import Engine

ENGINE = Engine(kind="transformers", title="transformers")
