"""Completions as LlamaIndex prints them."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence.readers import Paste
from prompt_debugger.core.evidence.readers.llama_index import READER
from tests.attacks.growth import grows_linearly
from tests.core.evidence.pasted import shown

PIECES = ["<tool_call>\n", '{"name": "look_up",', ' "arguments": {"city": "Bern"}}\n</tool_call>']
CALL = "".join(PIECES)


def printed(text: str, delta: str | None) -> str:
    return f"CompletionResponse(text={text!r}, additional_kwargs={{}}, raw={{}}, logprobs=None, delta={delta!r})"


STREAM = [printed("".join(PIECES[: at + 1]), piece) for at, piece in enumerate(PIECES)]


@pytest.mark.parametrize(
    "text",
    [
        printed(CALL, None),
        f"[{', '.join(STREAM)}]",
        "\n".join(STREAM),
        "\n".join(printed("", piece) for piece in PIECES),  # an integration that does not add them up
    ],
)
def test_the_text_of_a_printed_completion_is_read_once(text):
    trace = shown(text)

    assert trace.raw is not None
    assert trace.raw.text == CALL
    assert [finding.code for finding in trace.findings] == ["PD463"]


def test_a_printed_completion_without_a_call_is_healthy():
    assert not shown(printed("Bern is the capital.", None)).findings


@pytest.mark.parametrize(
    "text",
    [
        "[CompletionResponse(text='a', cost=3)]",
        printed("", None),
        printed(CALL, None)[:60],
    ],
)
def test_other_classes_of_that_name_empty_ones_and_cut_ones_are_left(text):
    assert READER.finds(Paste(text)) == 0
    with pytest.raises(RequestError):
        READER.read(Paste(text))


def test_many_are_read_in_linear_time():
    assert grows_linearly(lambda size: READER.finds(Paste("CompletionResponse(text='" * size)), first=2_000)
    assert grows_linearly(lambda size: READER.finds(Paste(printed("a", "a") * size)), first=200)
