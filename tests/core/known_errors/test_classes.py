"""Classes of errors: sentences that no one wrote down belong to the right one, and prose to none."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from prompt_debugger.core.known_errors import classes_of, field_in, innermost, speaker_of
from prompt_debugger.core.known_errors._classes import CLASSES
from tests.attacks.growth import grows_linearly

SAMPLES = yaml.safe_load(Path(__file__).with_name("classes.yml").read_text(encoding="utf-8"))
BELONG = [(name, words) for name, sample in SAMPLES.items() for words in sample["is"]]
MISS = [(name, words) for name, sample in SAMPLES.items() for words in sample["not"]]


def first(words):
    found = next(classes_of(words), None)
    return None if found is None else found.error.name


def test_every_class_has_samples_and_a_name_of_its_own():
    names = [error.name for error in CLASSES]

    assert sorted(names) == sorted(SAMPLES)
    assert all(sample["is"] and sample["not"] for sample in SAMPLES.values())


@pytest.mark.parametrize(("name", "words"), BELONG)
def test_a_sentence_belongs_to_its_class(name, words):
    assert first(words) == name


@pytest.mark.parametrize(("name", "words"), MISS)
def test_a_near_miss_does_not(name, words):
    assert name not in [found.error.name for found in classes_of(words)]


@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.name)
def test_what_a_class_says_is_whole_sentences_also_without_the_parts_that_words_name(error):
    for text in (error.means, error.remedy):
        for filled in (re.sub(r"\{\w+\|([^}]*)\}", r"\1", text), re.sub(r"\{\w+\|[^}]*\}", "`x`", text)):
            assert "{" not in filled.replace("{…}", "").replace('{"type"', "").replace('"function": {', "")
            assert filled.strip().endswith(".")
    assert error.subject[:1].isupper()
    assert not error.subject.endswith((".", ":"))


@pytest.mark.parametrize(
    "part",
    [
        "tool ",
        "tool call ",
        "no tool_call",
        "finish reason ",
        "schema ",
        "cannot be ",
        "image tokens ",
        "at 'x",
        '\\\\"',
        '{"error": "',
    ],
)
def test_time_grows_linearly_with_hostile_words(part):
    assert grows_linearly(lambda size: [*classes_of(part * size)], first=50, tries=2, doublings=6)
    assert grows_linearly(
        lambda size: innermost(f'{{"error": {{"message": "{part * size}'), first=50, tries=2, doublings=6
    )


WRAPPED = {
    'litellm.BadRequestError: XException - b\'{\\n  "error": {\\n   "message": "No \\"x\\".",\\n "code": 40': 'No "x".',
    '{"error": {"message": "Error from provider: {\\"error\\":{\\"message\\":\\"No x.\\"}}"}}': "No x.",
    "Error code: 400 - {'object': 'error', 'message': \"It's not x.\", 'code': 40301}": "It's not x.",
    '{\\"object\\":\\"Error\\",\\"message\\":\\"No x.\\",\\"code\\":3001}"': "No x.",
    "AI_RetryError: Failed after 3 attempts. Last error: No x.": "No x.",
    "The loop ended. See the original error: ValueError('No x was found.').": "No x was found.",
    "No x.": "No x.",
}


@pytest.mark.parametrize(("text", "words"), WRAPPED.items())
def test_the_innermost_words_of_wrapped_bodies(text, words):
    assert innermost(text).words == words


@pytest.mark.parametrize(
    "text", ['error parsing tool call: {"text": "a", "message": "hi"}', 'The arguments were {"message": "hi there"}.']
)
def test_a_message_that_is_not_an_error_is_not_taken_for_its_words(text):
    assert "hi" not in innermost(text).words.split()[:1]


FIELDS = {
    "messages.65.content.1.tool_use.text: Extra inputs are not permitted": "messages[65].content[1].text",
    "tools.3.custom.input_examples: no": "tools[3].input_examples",
    "Invalid type for 'messages.[0].content'": "messages[0].content",
    "field: 'stream_options'": "stream_options",
    "missing in assistant message at index 19": "messages[19]",
    "the thinking field is illegal": "thinking",
    "`reasoning_effort` is odd": "reasoning_effort",
    "see tools/messages.py line 3": None,
    "nothing is named": None,
}


@pytest.mark.parametrize(("words", "field"), FIELDS.items())
def test_the_field_that_words_name(words, field):
    assert field_in(words) == field


SPEAKERS = {
    'File "/x/site-packages/vllm/multimodal/processing.py", line 9, in f\nValueError: a': ("vLLM", "render"),
    'File "/x/site-packages/openai/_base_client.py", line 9\nopenai.BadRequestError: a': ("the OpenAI client", None),
    "litellm.BadRequestError: BedrockException - a": ("Amazon Bedrock", None),
    # LiteLLM says so of any server that speaks OpenAI's API.
    "litellm.BadRequestError: OpenAIException - a": ("LiteLLM", None),
    "OpenAIException - a, see https://platform.openai.com/docs": ("OpenAI's API", None),
    "    at f (/x/node_modules/@anthropic-ai/sdk/core.js:1:2)": ("the Anthropic client", None),
    "    at f (/x/node_modules/@anthropic-ai/claude-code/cli.js:1:2)": ("Claude Code", None),
    "    at f (/x/node_modules/@ai-sdk/openai/dist/index.js:1:2)": ("Vercel's AI SDK", None),
    'File "/home/me/app/views.py", line 3, in get\nValueError: a': None,
}


@pytest.mark.parametrize(("text", "expected"), SPEAKERS.items())
def test_who_says_it(text, expected):
    speaker = speaker_of(text)

    assert (None if speaker is None else (speaker.title, speaker.stage and speaker.stage.value)) == expected
