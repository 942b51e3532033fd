"""What is advised where a call was left in the text: by the family that wrote it, the model's name and the server."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.types import (
    CallStatus,
    ChatResult,
    JSONObject,
    Place,
    Request,
    Server,
    Span,
    ToolCallAttempt,
    Trace,
)
from prompt_debugger.core.diagnose.calls.unparsed_calls import (
    STREAM_ALONE,
    bare_json_steps,
    departs,
    describe_fallback,
    family_of_model,
    foreign_parser,
    is_bare_json,
    is_function_tag,
    is_glm4,
    named_parser,
    parser_steps,
    readers_of,
)

BARE = '{"name": "f", "parameters": {}}'


def answered(content: str = "", server: Server | None = None, *notes: str, model: str | None = None) -> Trace:
    body: JSONObject = {} if model is None else {"model": model}
    return Trace(Request(body, ""), server=server, chat=ChatResult({"content": content}, "stop"), notes=notes)


def served(kind: str = "vllm", parser: str | None = None, model: str | None = None) -> Server:
    return Server("http://127.0.0.1:1/v1", kind, model=model, tool_parser=parser)


def words(trace: Trace, family: str) -> str:
    return " ".join(step.text for step in parser_steps(trace, family))


def attempt(deviation: str | None) -> ToolCallAttempt:
    return ToolCallAttempt("f", "{}", {}, None, CallStatus.COMPLETE, Place.BODY, Span(0, 1), deviation=deviation)


def test_a_parser_that_fails_on_the_stream_alone_is_to_be_updated_first() -> None:
    first, *others = parser_steps(answered("", None, STREAM_ALONE), "hermes")

    assert first.request == {"stream": False}
    assert tuple(others) == parser_steps(answered(), "hermes")


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("vllm", ["vLLM `--enable-auto-tool-choice --tool-call-parser hermes`"]),
        ("sglang", ["SGLang `--tool-call-parser hermes`"]),
        ("", ["vLLM `--enable-auto", "SGLang `--tool-call-parser hermes`", "llama.cpp `--jinja`"]),
    ],
)
def test_the_flags_are_those_of_the_server_at_hand_or_of_all(kind: str, named: list[str]) -> None:
    text = words(answered(server=served(kind) if kind else None), "hermes")

    assert all(name in text for name in named)
    assert ("llama.cpp" in text) is (kind == "")
    assert ("SGLang" in text) is (kind != "vllm")
    assert "report it to the provider" in text


def test_a_parser_of_another_family_is_to_be_replaced() -> None:
    text = words(answered(server=served(parser="kimi_k2")), "hermes")

    assert text == "Start the server with `--tool-call-parser hermes` in place of `kimi_k2`."


@pytest.mark.parametrize(("family", "says"), [("gemma3", "tool_chat_template_gemma3_pythonic"), ("kimi_k2", None)])
def test_python_in_a_fence_has_its_own_advice(family: str, says: str | None) -> None:
    assert ("tool_chat_template_gemma3_pythonic" in words(answered(), family)) is (says is not None)


@pytest.mark.parametrize(
    ("content", "family", "is_bare", "is_tag"),
    [
        (BARE, "llama3_json", True, False),
        (BARE, "hermes", False, False),
        ("<|python_tag|>" + BARE, "llama3_json", False, False),
        ('<function=f>{"a": 1}</function>', "llama3_json", False, True),
        ('<function=f>\n {"a": 1}</function>', "llama3_json", False, True),
        ('<|python_tag|><function=f>{"a": 1}</function>', "llama3_json", False, False),
        ("<function=f>a</function>", "llama3_json", False, False),
        ('<function=f>{"a": 1}</function>', "qwen3_coder", False, False),
    ],
)
def test_bare_json_and_json_in_a_tag_are_told_apart(content: str, family: str, *, is_bare: bool, is_tag: bool) -> None:
    assert is_bare_json(answered(content), family) is is_bare
    assert is_function_tag(answered(content), family) is is_tag
    assert not is_bare_json(Trace(Request({}, "")), family)
    assert not is_function_tag(Trace(Request({}, "")), family)
    assert ("leave `<function=NAME>{JSON}</function>`" in words(answered(content), family)) is is_tag


@pytest.mark.parametrize(
    ("kind", "known", "unknown"),
    [("vllm", "`llama4_json`", "SGLang's"), ("sglang", "SGLang's `llama3`", "vLLM's"), ("", "and SGLang's", "none")],
)
def test_of_bare_json_whose_model_is_unknown_the_model_is_asked_for(kind: str, known: str, unknown: str) -> None:
    text = words(answered(BARE, served(kind) if kind else None), "llama3_json")

    assert text.startswith("Find out which model wrote it")
    assert known in text
    assert unknown not in text


@pytest.mark.parametrize(
    ("model", "says", "parser"),
    [
        (
            "Qwen/Qwen3-8B",
            "the notation of `hermes`, with `<tool_call>` before each call, and here that is missing",
            "hermes",
        ),
        ("Qwen/Qwen3-Coder-Next", "of `qwen3_coder`, with `<tool_call>` before each call, and here", "qwen3_coder"),
        ("meta-llama/Llama-3.1-8B-Instruct", None, "llama3_json"),
        (None, None, "llama3_json"),
    ],
)
def test_bare_json_of_a_model_with_another_notation_is_a_fallback(
    model: str | None, says: str | None, parser: str
) -> None:
    steps = [step.text for step in bare_json_steps(answered(BARE, model=model), "llama3_json")]

    assert ("it fell back to plain JSON" in steps[0]) is (says is not None)
    assert says is None or says in steps[0]
    assert any(parser in text for text in steps[says is not None :])


@pytest.mark.parametrize(
    ("server", "foreign", "named"),
    [
        (None, None, None),
        (served(), None, None),
        (served(parser="hermes"), None, None),
        (served(parser="kimi_k2"), "kimi_k2", None),
        (served(parser="kimi_k2", model="Qwen/Qwen3-8B"), "kimi_k2", "hermes"),
        (served(parser="hermes", model="Qwen/Qwen3-8B"), None, None),
        (served(parser="kimi_k2", model="mine"), "kimi_k2", None),
        (served(parser="novel", model="Qwen/Qwen3-8B"), None, None),
        (served("sglang", "kimi_k2", "Qwen/Qwen3-8B"), "kimi_k2", "hermes"),
    ],
)
def test_a_foreign_parser_is_one_that_is_known_and_made_for_another_family(
    server: Server | None, foreign: str | None, named: str | None
) -> None:
    assert foreign_parser(answered(server=server), "hermes") == foreign
    assert named_parser(answered(server=server)) == named


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("Qwen/Qwen3-8B", "hermes"),
        ("Qwen/Qwen3-Coder-Next", "qwen3_coder"),
        ("Qwen/Qwen3.5-9B", "qwen3_coder"),
        ("moonshotai/Kimi-K2-Instruct", "kimi_k2"),
        ("my-model", None),
        ("", None),
    ],
)
def test_a_model_writes_the_notation_that_its_name_says(model: str, family: str | None) -> None:
    assert family_of_model(model) == family


@pytest.mark.parametrize(
    ("model", "is_old"), [("GLM-4-9B-0414", True), ("glm4", True), ("GLM-4.5-Air", False), ("chatglm4", False)]
)
def test_glm_4_before_4_5_is_told_from_later_ones(model: str, *, is_old: bool) -> None:
    assert is_glm4(model) is is_old


def test_departures_are_named_once_and_no_more_than_three() -> None:
    deviations = ["one", None, "two", "one", "three", "four", "no '<|call|>' after it"]

    assert departs([*map(attempt, deviations)], "hermes").endswith("a parser may refuse: one; two; three.")
    assert departs([attempt(None), attempt("no '<|call|>' after it")], "harmony") == ""


def test_the_parsers_of_a_family_are_named_by_software() -> None:
    assert readers_of("hermes").startswith("vLLM's `hermes`")
    assert " and SGLang's `hermes`" in readers_of("hermes")
    assert readers_of("gemma3") == ""


@pytest.mark.parametrize(
    ("family", "marker"),
    [
        ("hermes", "<tool_call>"),
        ("mistral", "[TOOL_CALLS]"),
        ("granite3", "<|tool_call|>"),
        ("hunyuan_v3", "<tool_calls"),
        ("seed_oss", "<seed:tool_call>"),
        ("kimi_k2", None),
        ("harmony", None),
    ],
)
def test_the_marker_that_is_missing_is_the_one_that_opens_calls(family: str, marker: str | None) -> None:
    with_marker = f"of `{family}`, with `{marker}` before each call, and here that is missing"

    assert (with_marker in describe_fallback(family)) is (marker is not None)
    assert describe_fallback(family).startswith(f"By its name, this model writes the notation of `{family}`")
