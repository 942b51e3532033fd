"""One warm XGrammar for the whole run, and the lab model's tokens."""

from collections.abc import Iterator

import pytest

from prompt_debugger.core.render import load_tokenizer
from prompt_debugger.core.tools.grammar import GrammarEngine


@pytest.fixture(scope="session")
def engine() -> Iterator[GrammarEngine]:
    with GrammarEngine() as running:
        yield running


@pytest.fixture(scope="session")
def tokenizer(lab_model_dir):
    return load_tokenizer(lab_model_dir)
