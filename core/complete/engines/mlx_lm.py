"""mlx-lm's own server, which looks like any OpenAI-compatible one: nothing in its answers names it.

It has no flag for a tool parser: `tool_parser_type` in `tokenizer_config.json` names one, and without it the server
guesses by the chat template, then by the vocabulary. Reasoning it takes out by the vocabulary's own markers.

Source: mlx-lm 0.32.2, `tokenizer_utils.py`, `server.py` and `tool_parsers/`, read 2026-11.
"""

from __future__ import annotations

import functools
from pathlib import Path

from prompt_debugger.core.complete.engines._parser_test import ParserTest, write_python_test
from prompt_debugger.core.complete.engines._record import Engine
from prompt_debugger.core.complete.engines._start import StartCommand, StartWith


def _start(given: StartWith) -> StartCommand | None:
    """Return the command once its parsers were asked; without that nothing is known of how it would fare."""
    if not given.is_tried or given.tool_name is None:
        return None
    proof = given.tool_proof
    answers = f"{len(proof.passed)} of {len(proof.passed) + len(proof.failed)} answers with calls come back."
    template = (
        f" The template in `{given.template_file}` was checked: it must be the model's `chat_template.jinja`."
        if given.template_file
        else ""
    )
    return StartCommand(
        ("mlx_lm.server", "--model", given.source),
        is_tried=True,
        note=(
            f'`"tool_parser_type": "{given.tool_name}"` in the model\'s tokenizer_config.json selects this parser; '
            f"without it the server guesses one from the chat template. {answers} The parsers of mlx-lm "
            f"{given.release} were run, without its server around them; a call is never streamed in parts.{template}"
        ),
    )


_NOT_RUN = "# Not run: written from a raw output; mlx-lm was not installed where it was written.\n"
_TEST = '''\
"""What mlx-lm's tool parser `{parser}` makes of one output; needs no weights and no MLX."""

import importlib
import json
import unittest

PARSER = importlib.import_module("mlx_lm.tool_parsers.{parser}")
OUTPUT = {raw}
TOOLS = json.loads{tools}
CALLS = {calls}


class TestOutput(unittest.TestCase):
    def {name}(self):
        found = []
        for part in OUTPUT.split(PARSER.tool_call_start)[1:]:
            text = part.split(PARSER.tool_call_end)[0] if PARSER.tool_call_end else part
            try:
                parsed = PARSER.parse_tool_call(text, TOOLS)
            except ValueError as error:
                self.fail(f"{{error}}: {{text!r}}")
            found += parsed if isinstance(parsed, list) else [parsed]
        self.assertEqual([(call["name"], call["arguments"]) for call in found], CALLS)


if __name__ == "__main__":
    unittest.main()
'''


def _source(folder: Path, parser: str) -> Path | None:
    file = folder / "mlx_lm" / "tool_parsers" / f"{parser}.py"
    return file if file.is_file() else None


ENGINE = Engine(
    kind="mlx-lm",
    title="mlx-lm",
    distributions=("mlx-lm",),
    start=_start,
    parser_test=ParserTest(
        functools.partial(write_python_test, _TEST), not_run=_NOT_RUN, package="mlx_lm", source=_source
    ),
)
