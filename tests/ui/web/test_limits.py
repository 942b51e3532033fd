"""What a request may ask of a public page: each limit with what is just allowed beside what is not."""

import json

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.pipeline import Target, load_examples
from prompt_debugger.core.request import read_request
from prompt_debugger.core.tools.lab import LabSpec
from prompt_debugger.ui.web.asked import bounded_for
from prompt_debugger.ui.web.limits import (
    PUBLIC_LIMITS,
    LimitError,
    Limits,
    bounded_request,
    check_length,
    check_request_limits,
    mask_keys,
)


def request_of(content="x", **fields):
    return read_request(json.dumps({"messages": [{"role": "user", "content": content}], **fields}))


def part(**fields):
    return request_of([fields])


@pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)
def test_every_example_is_within_the_limits(example):
    check_length(example.request_text, PUBLIC_LIMITS)
    check_request_limits(read_request(example.request_text), PUBLIC_LIMITS)


def test_text_may_be_as_long_as_is_said_and_no_longer():
    check_length("x" * 200_000, PUBLIC_LIMITS)
    with pytest.raises(LimitError, match="200,001 characters; this public page reads up to 200,000"):
        check_length("x" * 200_001, PUBLIC_LIMITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 2_048},
        {"max_completion_tokens": 1},
        {"n": 2},
        {"n": 1.0},
        {"max_tokens": None},
        {"n": "2"},
        {"stop": ["a"] * 64},
        {"stop": "a" * 1_000},
        {"logit_bias": {str(number): 1 for number in range(64)}},
        {"allowed_token_ids": [1] * 1_000},
    ],
)
def test_what_is_within_the_limits_is_not_refused(fields):
    check_request_limits(request_of(**fields), PUBLIC_LIMITS)


@pytest.mark.parametrize(
    "fields",
    [
        {"max_tokens": 2_049}, {"max_completion_tokens": 10**9}, {"min_tokens": 10**400}, {"max_tokens": 1e99},
        {"max_tokens": "9999"}, {"n": 3}, {"n": "3"}, {"best_of": 100},
        {"stop": ["a"] * 65}, {"bad_words": ["a"] * 20_000}, {"stop_token_ids": [1] * 65},
        {"logit_bias": {str(number): 1 for number in range(65)}}, {"logprob_token_ids": [1] * 65},
    ],
)  # fmt: skip
def test_what_asks_for_too_much_is_refused_by_its_field(fields):
    request = read_request(json.dumps({"messages": [{"role": "user", "content": "x"}]}))
    request.body.update(fields)  # past the reader, which refuses some of them itself

    with pytest.raises(RequestError) as caught:
        check_request_limits(request, PUBLIC_LIMITS)

    assert caught.value.field in fields


URL = "http://169.254.169.254/latest"
MEDIA = [
    {"type": "image_url", "image_url": {"url": URL}},
    {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
    {"type": "input_image", "image_url": URL},
    {"type": "audio_url", "audio_url": {"url": URL}},
    {"type": "video_url", "video_url": {"url": URL}},
    {"type": "input_audio", "input_audio": {"data": "", "format": "wav"}},
    {"type": "file", "file": {"file_id": "x"}},
    {"image_url": URL},
    {"type": "text", "text": "x", "uuid": "1", "image_url": URL},
    {"type": "text", "text": "x", "Image_URL": URL},
    {"type": None, "image_url": URL},
    {"type": ["text"], "text": "x"},
    {"type": "something_new", "text": "x"},
]


@pytest.mark.parametrize("fields", MEDIA, ids=range(len(MEDIA)))
def test_what_makes_a_server_fetch_something_is_refused(fields):
    request = read_request(json.dumps({"messages": [{"role": "user", "content": "x"}]}))
    request.body["messages"].append({"role": "user", "content": [{"type": "text", "text": "x"}, fields]})

    with pytest.raises(RequestError, match="text only") as caught:
        check_request_limits(request, PUBLIC_LIMITS)

    assert caught.value.field == "messages[1].content[1]"


@pytest.mark.parametrize(
    "fields", [{"type": "text", "text": URL}, {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}]
)
def test_text_that_speaks_of_an_address_is_text(fields):
    check_request_limits(part(**fields), PUBLIC_LIMITS)


def test_on_ones_own_machine_nothing_is_refused():
    check_length("x" * 10_000_000, Limits())
    check_request_limits(part(**MEDIA[0]), Limits())
    check_request_limits(request_of(max_tokens=10**6, n=100), Limits())


def test_what_looks_like_a_key_is_masked_and_said():
    masked = mask_keys(request_of("x", extra_headers={"Authorization": "Bearer sk-0123456789abcdef0123"}, max_tokens=7))

    assert "sk-0123456789" not in masked.text + json.dumps(masked.body)
    assert masked.body["max_tokens"] == 7
    assert "masked" in masked.notices[-1].message


@pytest.mark.parametrize("example", load_examples(), ids=lambda example: example.name)
def test_a_request_without_a_key_stays_as_it_is(example):
    request = read_request(example.request_text)

    assert mask_keys(request) == request


def test_a_request_without_a_limit_of_its_own_gets_one_and_says_so():
    bounded = bounded_request(request_of(), PUBLIC_LIMITS)

    assert bounded.body["max_tokens"] == 2_048
    assert bounded.notices[-1].field == "max_tokens"


@pytest.mark.parametrize(
    ("fields", "bounded"),
    [
        ({}, {"max_tokens": 512}),
        ({"max_tokens": 2048, "min_tokens": 2048}, {"max_tokens": 512, "min_tokens": 512}),
        ({"max_completion_tokens": 600}, {"max_completion_tokens": 512}),
        ({"max_tokens": None, "max_completion_tokens": 513}, {"max_completion_tokens": 512}),
        ({"use_beam_search": True, "max_tokens": 65}, {"max_tokens": 64}),
    ],
    ids=str,
)
def test_the_lab_model_is_asked_for_no_more_than_its_answers_have(fields, bounded):
    asked = bounded_for(Target(), request_of(**fields), PUBLIC_LIMITS)

    assert {name: asked.body[name] for name in bounded} == bounded
    assert [notice.field for notice in asked.notices] == list(bounded)
    assert all(str(most) in notice.message for most, notice in zip(bounded.values(), asked.notices, strict=True))


def test_a_short_request_to_the_lab_and_one_of_the_owner_stay_as_they_are():
    request = request_of(max_tokens=512)

    assert bounded_for(Target(), request, PUBLIC_LIMITS) is request
    assert bounded_for(Target(), request_of(max_tokens=9999), Limits()).body["max_tokens"] == 9999
    assert bounded_for(Target(lab=LabSpec(model_dir="org/m")), request_of(max_tokens=2048), PUBLIC_LIMITS).notices == ()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"logprobs": True, "top_logprobs": 20}, "top_logprobs"),
        ({"top_logprobs": 20, "max_tokens": 513}, "top_logprobs"),
        ({"top_logprobs": 20, "max_tokens": 512, "n": 2}, "top_logprobs"),
        ({"top_logprobs": -1}, "top_logprobs"),
        ({"prompt_logprobs": 6}, "prompt_logprobs"),
        ({"prompt_logprobs": -1}, "prompt_logprobs"),
        ({"logprob_token_ids": list(range(6))}, "logprob_token_ids"),
    ],
    ids=str,
)
def test_more_log_probabilities_than_a_shared_server_can_give_are_refused(fields, field):
    with pytest.raises(RequestError, match="Log probabilities") as raised:
        check_request_limits(request_of(**fields), PUBLIC_LIMITS)

    assert raised.value.field == field


@pytest.mark.parametrize(
    "fields",
    [
        {"logprobs": True, "top_logprobs": 5},
        {"top_logprobs": 20, "max_tokens": 512},
        {"prompt_logprobs": 5},
        {"logprob_token_ids": [1, 2]},
    ],
    ids=str,
)
def test_the_log_probabilities_that_people_ask_for_are_let_through(fields):
    check_request_limits(request_of(**fields), PUBLIC_LIMITS)


@pytest.mark.parametrize("fields", [{"max_tokens": 7}, {"max_completion_tokens": 7}])
def test_a_request_with_a_limit_keeps_it(fields):
    request = request_of(**fields)

    assert bounded_request(request, PUBLIC_LIMITS) is request
    assert bounded_request(request_of(), Limits()).body == request_of().body
