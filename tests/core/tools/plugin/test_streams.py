"""The streams that the plugin carries: every output of the census, in several chunkings, gives what the census says."""

from __future__ import annotations

import json

import pytest

from prompt_debugger.core.base.protocols import ReadContext
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.formats import FORMATS
from prompt_debugger.core.tools.plugin.inside.call_stream import CallStream
from prompt_debugger.core.tools.plugin.inside.deltas import Whole
from tests.core.tools.plugin.outputs import CHUNKINGS, at_once, differences, outputs, pieces, streamed

OUTPUTS = outputs()
IDS = [name for name, *_ in OUTPUTS]
# Damage that only what follows betrays: half a header taken for words, or a closing tag that no one had opened.
STREAMED_OTHERWISE = {
    "harmony: no channel at all",
    "kimi: tags of reasoning in arguments the wrong way round, behind prose",
    "llama: a list over several lines behind a sentence",
    "messages: GigaChat, the end of a message before the call",
    "messages: talk about a closing tag before the real one",
    "tags: a sentence between the wrapper and the call",
    "tags: Inkling, the first header without its first two characters",
    "tags: Inkling, the first kind without its first two characters",
    "other_notations: Gemma 4, an answer's channel ends reasoning that nothing closed",
    "harmony: all control tokens were taken away",
    "harmony: all control tokens but the last were taken away",
    "around_calls: Muse, an invocation outside of the block is an example",
}
WEATHER: JSONObject = {
    "type": "function",
    "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
CONTEXT = ReadContext(tools=(WEATHER,))


def assembled(deltas):
    whole = Whole()
    for delta in deltas:
        whole.add(delta)
    return whole


@pytest.mark.parametrize(("name", "family", "raw", "given"), OUTPUTS, ids=IDS)
def test_an_output_read_at_once_gives_what_the_census_says(name, family, raw, given):
    assert differences(at_once(raw, family, given), raw, family, given) == []


@pytest.mark.slow
@pytest.mark.parametrize("chunking", ["by character", 1])
@pytest.mark.parametrize(("name", "family", "raw", "given"), OUTPUTS, ids=IDS)
def test_an_output_streamed_gives_what_the_census_says(name, family, raw, given, chunking):
    exact = name not in STREAMED_OTHERWISE

    assert differences(streamed(raw, family, given, chunking), raw, family, given, exact=exact) == []


def kimi_call(arguments):
    return (
        "Let me look.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        f"<|tool_call_argument_begin|>{arguments}<|tool_call_end|><|tool_calls_section_end|>"
    )


def test_content_name_and_arguments_come_as_they_are_written():
    raw = kimi_call('{"city": "Paris"}')
    stream, whole, seen = CallStream("kimi_k2", CONTEXT), Whole(), {}
    for end, char in enumerate(raw, 1):
        whole.add(stream.feed(char))
        if whole.content == "Let me look.":
            seen.setdefault("content", raw[:end])
        if whole.calls:
            seen.setdefault("name", raw[:end])
            if whole.calls[0].arguments.endswith("Par"):
                seen.setdefault("arguments", raw[:end])

    assert len(seen["content"]) < len("Let me look.<|tool")
    assert "Paris" not in seen["name"]
    assert seen["arguments"].endswith("Par")


@pytest.mark.parametrize(
    ("family", "written"),
    [
        ("kimi_k2", kimi_call('{{"city": "{value}"}}'.replace("{{", "{").replace("}}", "}"))),
        (
            "qwen3_coder",
            "<tool_call>\n<function=get_weather>\n<parameter=city>\n{value}\n</parameter>\n</function>\n</tool_call>",
        ),
        ("hermes", "{value}"),
    ],
    ids=["JSON", "tags", "words"],
)
def test_the_work_is_linear_in_the_length_of_the_output(family, written, monkeypatch):
    def characters_read(length):
        read = 0
        plain = type(FORMATS[family]).read

        def counted(self, raw, given):
            nonlocal read
            read += len(raw)
            return plain(self, raw, given)

        with monkeypatch.context() as patch:
            patch.setattr(type(FORMATS[family]), "read", counted)
            stream = CallStream(family, CONTEXT)
            for piece in pieces(written.replace("{value}", "a < b, {c} " * (length // 11)), 1):
                stream.feed(piece)
            stream.finish()
        return read

    short, long = characters_read(4_000), characters_read(32_000)

    assert long < 12 * max(short, 32_000)


def test_a_control_character_in_a_string_is_escaped_however_the_text_is_cut():
    raw = kimi_call('{"city": "a\nb"}')

    for chunking in CHUNKINGS:
        stream = CallStream("kimi_k2", CONTEXT)
        deltas = [stream.feed(piece) for piece in pieces(raw, chunking)]
        arguments = assembled([*deltas, stream.finish()]).calls[0].arguments
        assert json.loads(arguments) == {"city": "a\nb"}


def test_ids_are_in_the_style_of_the_family():
    off_pattern = kimi_call("{}").replace("functions.get_weather:0", "get_weather")
    stream = CallStream("kimi_k2", CONTEXT, calls_before=3)
    kimi = assembled([stream.feed(off_pattern), stream.finish()])
    stream = CallStream("mistral_v11", CONTEXT)
    mistral = assembled([stream.feed('[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}'), stream.finish()])

    assert kimi.calls[0].id == "functions.get_weather:3"
    assert len(mistral.calls[0].id) == 9


def test_a_quoted_call_is_not_a_call_however_it_is_cut():
    raw = 'Write `<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>` and stop.'
    stream = CallStream("hermes", ReadContext())

    whole = assembled([*(stream.feed(char) for char in raw), stream.finish()])

    assert (whole.calls, whole.content) == ({}, raw)


def test_without_a_reasoning_parser_the_thoughts_stay_in_the_content():
    stream = CallStream("hermes", ReadContext(), splits_reasoning=False)

    whole = assembled([stream.feed("<think>\nHm.\n</think>\n\nHello."), stream.finish()])

    assert (whole.reasoning, whole.content) == ("", "<think>\nHm.\n</think>\n\nHello.")
