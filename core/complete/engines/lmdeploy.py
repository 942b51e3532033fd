"""LMDeploy's `api_server`: the OpenAI endpoints, and no look at its parsers.

Its reasoning parser `default` takes an output for reasoning until `</think>` comes, unless `enable_thinking` is false.

Source: LMDeploy 0.14.0, `serve/openai/protocol.py`, `serve/parsers/` and `cli/utils.py`, read 2026-11.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from prompt_debugger.core.complete.engines._parser_test import ParserTest, write_python_test
from prompt_debugger.core.complete.engines._record import Engine, Marks
from prompt_debugger.core.complete.engines._start import StartCommand, StartWith


def _start(given: StartWith) -> StartCommand | None:
    """Return the command once its parsers were asked; without that nothing is known of how it would fare."""
    if not given.is_tried or given.tool_name is None:
        return None
    words = ("--tool-call-parser", given.tool_name)
    flags = [*given.revision_flags("--revision"), given.tool_proof.flag(words, "Answers with calls")]
    if given.reasoning_name is not None:
        words = ("--reasoning-parser", given.reasoning_name)
        flags.append(given.reasoning_proof.flag(words, "Answers with reasoning"))
    template = (
        f" The template in `{given.template_file}` was checked: it must be the model's `chat_template.jinja`, as "
        "`--chat-template` does not accept a Jinja file."
        if given.template_file
        else ""
    )
    return StartCommand(
        ("lmdeploy", "serve", "api_server", given.source),
        tuple(flags),
        is_tried=True,
        note=f"The parsers of LMDeploy {given.release} were run, without its server around them.{template}",
    )


_NOT_RUN = "# Not run: written from a raw output; LMDeploy was not installed where it was written.\n"
_TEST = '''\
"""What LMDeploy's tool parser `{parser}` makes of one output; needs no weights and no GPU."""

import json
import unittest

from lmdeploy.serve.openai.protocol import ChatCompletionRequest
from lmdeploy.serve.parsers.response_parser import BaseResponseParser

OUTPUT = {raw}
TOOLS = json.loads{tools}
CALLS = {calls}


class Parser(BaseResponseParser):
    pass


class TestOutput(unittest.TestCase):
    def {name}(self):
        Parser.set_parsers(tool_parser_name="{parser}")
        request = ChatCompletionRequest(model="model", messages=[{{"role": "user", "content": ""}}], tools=TOOLS)
        content, found, _ = Parser(request).parse_complete(OUTPUT)
        returned = [(call.function.name, json.loads(call.function.arguments)) for call in found or ()]
        self.assertEqual(returned, CALLS, content)


if __name__ == "__main__":
    unittest.main()
'''


def _source(folder: Path, parser: str) -> Path | None:
    """Return the file that registers a parser by this name."""
    registered = re.compile(rf"register_module\([^)]*['\"]{re.escape(parser)}['\"]")
    files = sorted((folder / "lmdeploy" / "serve" / "parsers" / "tool_parser").glob("*.py"))
    return next((file for file in files if registered.search(file.read_text(encoding="utf-8"))), None)


ENGINE = Engine(
    kind="lmdeploy",
    title="LMDeploy",
    marks=Marks(owners=("lmdeploy",), believed_with=""),
    distributions=("lmdeploy",),
    needs_tool_parser=True,
    start=_start,
    parser_test=ParserTest(
        functools.partial(write_python_test, _TEST), not_run=_NOT_RUN, package="lmdeploy", source=_source
    ),
)
