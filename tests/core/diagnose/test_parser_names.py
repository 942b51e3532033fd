"""The table of parsers against the formats that we read and the parsers that vLLM registers."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from core.diagnose.parser_names import PARSERS_BY_FORMAT, PARSERS_OF_ANY_FORMAT
from core.formats import FORMATS


def registered_tool_parsers() -> set[str]:
    """Read the names from vLLM's source: importing it takes seconds."""
    spec = find_spec("vllm")
    if spec is None or spec.origin is None:
        pytest.skip("vLLM is not installed")
    source = (Path(spec.origin).parent / "tool_parsers" / "__init__.py").read_text(encoding="utf-8")
    for node in ast.parse(source).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            return {ast.literal_eval(key) for key in node.value.keys if key is not None}
    raise AssertionError("vLLM's table of tool parsers is not where it was")


def test_every_format_of_the_table_is_one_that_we_read() -> None:
    assert set(PARSERS_BY_FORMAT) <= set(FORMATS)


def test_every_tool_parser_of_vllm_belongs_to_a_format_that_we_read() -> None:
    known = {name for names in PARSERS_BY_FORMAT.values() for name in names} | PARSERS_OF_ANY_FORMAT

    assert registered_tool_parsers() == known
