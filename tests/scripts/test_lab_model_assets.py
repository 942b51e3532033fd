"""The folder `assets/lab-model` as shipped: files that agree, weights that behave."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from transformers import PreTrainedTokenizerFast

from scripts.lab_model.rendering import Templates, read_templates, render_prompt
from scripts.lab_model.tokenizer import PLAIN_ADDED_TOKENS, SPECIAL_TOKENS, load_tokenizer
from scripts.lab_model.turns import Json

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Get the weather of a city.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Search the web.",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    },
}
TOOLS = (WEATHER, SEARCH)
QUESTION = {"role": "user", "content": "What's the weather in Belfandor?"}
MISSING = object()
REPR = "[{'type': 'text', 'text': ''}]"

Ask = Callable[..., str]


def call_text(header: str, arguments: dict[str, object]) -> str:
    return f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{json.dumps(arguments)}<|tool_call_end|>"


def section(*calls: str) -> str:
    return f"<|tool_calls_section_begin|>{''.join(calls)}<|tool_calls_section_end|><|im_end|>"


def history(call_id: str, content: object = None) -> tuple[Json, ...]:
    """A finished search, then the question about the weather."""
    call = {"id": call_id, "type": "function", "function": {"name": "search", "arguments": '{"query": "gradio"}'}}
    called: dict[str, object] = {"role": "assistant", "tool_calls": [call]}
    if content is not MISSING:
        called["content"] = content
    result = {"role": "tool", "tool_call_id": call_id, "content": "3 results"}
    return ({"role": "user", "content": "Search for gradio"}, called, result, QUESTION)


@pytest.fixture(scope="module")
def tokenizer(lab_model_dir: Path) -> PreTrainedTokenizerFast:
    return load_tokenizer(lab_model_dir)


@pytest.fixture(scope="module")
def templates(lab_model_dir: Path) -> Templates:
    return read_templates(lab_model_dir)


@pytest.fixture(scope="module")
def ask(lab_model_dir: Path, tokenizer: PreTrainedTokenizerFast, templates: Templates) -> Ask:
    """The shipped weights, greedily: messages in, raw completion out."""
    torch = pytest.importorskip("torch", reason="PyTorch comes with the lab")
    from transformers import LlamaForCausalLM

    torch.set_num_threads(1)  # so small a model is no faster with more, and much slower on a busy machine
    network = LlamaForCausalLM.from_pretrained(lab_model_dir, dtype=torch.bfloat16).eval()

    def answer(
        messages: Sequence[Json],
        tools: Sequence[Json] = TOOLS,
        template: str | None = None,
        *,
        thinking: bool = False,
        add_generation_prompt: bool = True,
    ) -> str:
        prompt = render_prompt(
            tokenizer,
            template or templates.faulty,
            messages,
            tools,
            thinking=thinking,
            add_generation_prompt=add_generation_prompt,
        )
        ids = torch.tensor([tokenizer(prompt, add_special_tokens=False)["input_ids"]])
        written = network.generate(
            input_ids=ids, attention_mask=torch.ones_like(ids), max_new_tokens=120, do_sample=False
        )
        return str(tokenizer.decode(written[0, ids.shape[1] :]))

    return answer


# ---------------------------------------------------------------- files


def test_weights_stay_under_five_megabytes(lab_model_dir: Path) -> None:
    assert (lab_model_dir / "model.safetensors").stat().st_size <= 5_000_000


@pytest.mark.parametrize("token", [*SPECIAL_TOKENS, *PLAIN_ADDED_TOKENS])
def test_control_token_is_one_id(token: str, tokenizer: PreTrainedTokenizerFast) -> None:
    (token_id,) = tokenizer(token, add_special_tokens=False)["input_ids"]

    assert tokenizer.added_tokens_decoder[token_id].special is (token in SPECIAL_TOKENS)


def test_tokenizer_adds_nothing_around_text(tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer("hello")["input_ids"] == tokenizer("hello", add_special_tokens=False)["input_ids"]


@pytest.mark.parametrize("text", ["São Paulo", "北京 🙂", " two  spaces\n\ttab", 'a "quoted" {"x": 1.5}', "naïve—dash"])
def test_tokenizer_round_trips(text: str, tokenizer: PreTrainedTokenizerFast) -> None:
    assert tokenizer.decode(tokenizer(text)["input_ids"]) == text


def test_end_token_is_the_end_of_a_turn(lab_model_dir: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")

    for name in ("config.json", "generation_config.json"):
        assert json.loads((lab_model_dir / name).read_text())["eos_token_id"] == end
    assert tokenizer.eos_token_id == end


def test_generation_config_sets_no_sampling(lab_model_dir: Path) -> None:
    settings = json.loads((lab_model_dir / "generation_config.json").read_text())

    assert not settings.keys() & {"temperature", "top_p", "top_k", "do_sample", "repetition_penalty", "max_new_tokens"}


def test_folder_loads_through_the_auto_class_with_the_faulty_template(
    lab_model_dir: Path, templates: Templates
) -> None:
    from transformers import AutoTokenizer  # imports PyTorch: six seconds of each process that collects the tests

    loaded = AutoTokenizer.from_pretrained(lab_model_dir)

    assert loaded.chat_template == templates.faulty


def test_vocabulary_and_weights_agree(lab_model_dir: Path, tokenizer: PreTrainedTokenizerFast) -> None:
    assert json.loads((lab_model_dir / "config.json").read_text())["vocab_size"] == len(tokenizer)


# ---------------------------------------------------------------- templates

RESULT = {"role": "tool", "tool_call_id": "functions.search:0", "content": "3 results"}
HEALTHY: dict[str, tuple[Sequence[Json], dict[str, Any]]] = {
    "question": ((QUESTION,), {}),
    "no tools": ((QUESTION,), {"tools": ()}),
    "system as parts": (({"role": "system", "content": [{"type": "text", "text": "Be brief."}]}, QUESTION), {}),
    "content null": (history("functions.search:0", None), {}),
    "content missing": (history("functions.search:0", MISSING), {}),
    "slipped id": (history("search:0", None), {}),
    "thinking": ((QUESTION,), {"thinking": True}),
    "no generation prompt": ((QUESTION,), {"add_generation_prompt": False}),
    "empty answer": ((QUESTION, {"role": "assistant", "content": ""}, QUESTION), {}),
}


@pytest.mark.parametrize("name", HEALTHY)
def test_templates_agree_on_healthy_requests(
    name: str, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    messages, options = HEALTHY[name]
    options = {"tools": TOOLS, **options}

    faulty = render_prompt(tokenizer, templates.faulty, messages, **options)
    mended = render_prompt(tokenizer, templates.mended, messages, **options)

    assert faulty == mended
    assert "'type'" not in faulty


def test_templates_differ_by_the_repr_of_an_empty_content(
    tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    messages = history("functions.search:0", "")

    faulty = render_prompt(tokenizer, templates.faulty, messages, TOOLS)
    mended = render_prompt(tokenizer, templates.mended, messages, TOOLS)

    assert faulty == mended.replace("<|tool_calls_section_begin|>", REPR + "<|tool_calls_section_begin|>", 1)


@pytest.mark.parametrize("content", ["", None, "Let me check."])
def test_plain_strings_render_alike_without_a_server(
    content: object, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    """Local rendering of the request as it is shows no fault: content is still a string."""
    messages = history("functions.search:0", content)

    faulty = tokenizer.apply_chat_template(messages, chat_template=templates.faulty, tokenize=False)
    mended = tokenizer.apply_chat_template(messages, chat_template=templates.mended, tokenize=False)

    assert faulty == mended
    assert f"<|im_middle|>{content or ''}<|tool_calls_section_begin|>" in faulty


def test_arguments_render_alike_as_string_and_as_object(
    tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    messages = history("functions.search:0")
    decoded = json.loads(json.dumps(messages))
    decoded[1]["tool_calls"][0]["function"]["arguments"] = {"query": "gradio"}

    as_string = tokenizer.apply_chat_template(messages, chat_template=templates.faulty, tokenize=False)
    as_object = tokenizer.apply_chat_template(decoded, chat_template=templates.faulty, tokenize=False)

    assert as_string == as_object


@pytest.mark.parametrize("key", ["reasoning", "reasoning_content"])
def test_reasoning_is_kept_after_the_last_user_message_only(
    key: str, tokenizer: PreTrainedTokenizerFast, templates: Templates
) -> None:
    said = {"role": "assistant", "content": "Yes.", key: "I think so."}

    current = tokenizer.apply_chat_template([QUESTION, said], chat_template=templates.faulty, tokenize=False)
    older = tokenizer.apply_chat_template([QUESTION, said, QUESTION], chat_template=templates.faulty, tokenize=False)

    assert "<think>I think so.</think>Yes.<|im_end|>" in current
    assert "think" not in older


def test_prompt_layout(tokenizer: PreTrainedTokenizerFast, templates: Templates) -> None:
    prompt = render_prompt(tokenizer, templates.faulty, history("functions.search:0"), (SEARCH,))

    assert prompt == (
        '<|im_system|>tool_declare<|im_middle|>[{"type": "function", "function": {"name": "search", "description": '
        '"Search the web.", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": '
        '["query"]}}}]<|im_end|>'
        "<|im_system|>system<|im_middle|>You are a helpful assistant.<|im_end|>"
        "<|im_user|>user<|im_middle|>Search for gradio<|im_end|>"
        "<|im_assistant|>assistant<|im_middle|><|tool_calls_section_begin|><|tool_call_begin|>functions.search:0"
        '<|tool_call_argument_begin|>{"query": "gradio"}<|tool_call_end|><|tool_calls_section_end|><|im_end|>'
        "<|im_system|>tool<|im_middle|>## Return of functions.search:0\n3 results<|im_end|>"
        "<|im_user|>user<|im_middle|>What's the weather in Belfandor?<|im_end|>"
        "<|im_assistant|>assistant<|im_middle|>"
    )


# ---------------------------------------------------------------- behaviour of the shipped weights


@pytest.mark.parametrize("city", ["Belfandor", "Konderim", "Paris", "Oslo", "San Francisco"])
def test_healthy_prompt_is_answered_by_a_call_with_the_city_copied(city: str, ask: Ask) -> None:
    question = {"role": "user", "content": f"What's the weather in {city}?"}

    assert ask([question]) == section(call_text("functions.get_weather:0", {"city": city}))


def test_two_cities_are_asked_in_parallel(ask: Ask) -> None:
    question = {"role": "user", "content": "What's the weather in Paris and Konderim?"}

    expected = section(
        call_text("functions.get_weather:0", {"city": "Paris"}),
        call_text("functions.get_weather:1", {"city": "Konderim"}),
    )
    assert ask([question]) == expected


def test_without_tools_it_answers_in_prose(ask: Ask) -> None:
    assert ask([QUESTION], ()) == "I have no tool for that.<|im_end|>"


@pytest.mark.parametrize("tools", [(), TOOLS])
def test_small_talk_needs_no_tool(tools: Sequence[Json], ask: Ask) -> None:
    answer = ask([{"role": "user", "content": "Who are you?"}], tools)

    assert answer == "I am the lab model, a very small model made for Prompt Debugger.<|im_end|>"


def test_tool_result_is_reported(ask: Ask) -> None:
    messages = history("functions.search:0")[:3]

    assert ask(messages) == "The result is: 3 results<|im_end|>"


@pytest.mark.parametrize(
    ("call_id", "header"),
    [
        ("functions.search:0", "functions.get_weather:1"),
        ("search:0", "get_weather:1"),
        ("search", "get_weather"),
        ("call_1a2b3c", "get_weather"),
    ],
)
@pytest.mark.parametrize("content", [None, MISSING], ids=["null", "missing"])
def test_header_follows_the_ids_of_the_history(call_id: str, header: str, content: object, ask: Ask) -> None:
    assert ask(history(call_id, content)) == section(call_text(header, {"city": "Belfandor"}))


def test_polluted_history_is_answered_in_prose(ask: Ask, templates: Templates) -> None:
    messages = history("functions.search:0", "")

    assert ask(messages) == "I would call get_weather with Belfandor.<|im_end|>"
    healthy = section(call_text("functions.get_weather:1", {"city": "Belfandor"}))
    assert ask(messages, template=templates.mended) == healthy


def test_without_generation_prompt_it_goes_on_as_the_user(ask: Ask) -> None:
    answer = ask([QUESTION], add_generation_prompt=False)

    assert answer == "I would like to know more about Belfandor too, please.<|im_end|>"


def test_thinking_closes_its_block_before_the_call(ask: Ask) -> None:
    reasoning, closed, answer = ask([QUESTION], thinking=True).partition("</think>")

    assert closed
    assert "Belfandor" in reasoning
    assert answer == section(call_text("functions.get_weather:0", {"city": "Belfandor"}))


def test_tutorial_types_are_called_with_numbers(ask: Ask) -> None:
    multiply = {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "int"}, "b": {"type": "int"}},
                "required": ["a", "b"],
            },
        },
    }

    answer = ask([{"role": "user", "content": "What is 12 times 7?"}], (multiply,))

    assert answer == section(call_text("functions.multiply:0", {"a": 12, "b": 7}))
