"""How a server is told to read calls: by flags that its own software has, and never by another one's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from prompt_debugger.core.base.types import ChatResult, JSONObject, Request, Server, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.diagnose.advice import Step, advise, parse_it_yourself
from prompt_debugger.core.diagnose.calls.unparsed_calls import beside_its_parser, has_its_parser, parser_steps
from prompt_debugger.core.diagnose.parser_setup import own_way
from prompt_debugger.core.formats import FORMATS


def served_by(kind: str, tool_parser: str | None = None, model: str | None = None) -> Trace:
    server = Server("http://127.0.0.1:1/v1", kind, model=model, tool_parser=tool_parser)
    return Trace(Request({}, ""), server=server)


def way(kind: str, family: str, tool_parser: str | None = None) -> str | None:
    step = own_way(served_by(kind, tool_parser), family)
    return None if step is None else step.text


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ollama", "Ollama chooses its parser by the model's template"),
        ("lm-studio", "LM Studio extracts calls only if it knows the model's template"),
        ("llama.cpp", "Start llama-server with `--jinja`"),
        ("llama-cpp-python", "llama-cpp-python extracts calls only with a few chat formats"),
        ("omlx", "oMLX chooses its parser by the chat template"),
        ("rapid-mlx", "Rapid-MLX chooses its parser by the model's name"),
        ("vllm-mlx", "Start `vllm-mlx serve` with `--enable-auto-tool-choice --tool-call-parser NAME`"),
    ],
)
def test_software_with_one_way_gets_it_whatever_the_family(kind: str, words: str) -> None:
    for family in ("hermes", "mistral"):
        assert str(way(kind, family)).startswith(words)


@pytest.mark.parametrize("kind", ["vllm", "sglang", "openai-compatible", "tgi"])
def test_software_that_takes_vllms_flags_or_is_unknown_has_no_way_of_its_own(kind: str) -> None:
    assert way(kind, "hermes") is None
    assert own_way(Trace(Request({}, "")), "hermes") is None


@pytest.mark.parametrize("kind", ["mlx-lm", "lmdeploy"])
def test_the_parser_is_named_as_this_software_calls_it_and_only_where_it_has_one(kind: str) -> None:
    names = {family: one.facts.parser_names.get(kind) for family, one in FORMATS.items()}
    known = {family: name.tools[0] for family, name in names.items() if name is not None and name.tools}
    unknown = next(family for family, name in names.items() if name is None)

    assert known
    for family, name in known.items():
        wanted = f'"tool_parser_type": "{name}"' if kind == "mlx-lm" else f"`--tool-call-parser {name}`."
        assert wanted in str(way(kind, family))
    assert not any(name in str(way(kind, unknown)) for name in known.values() if len(name) > 4)
    assert "None" not in str(way(kind, unknown))
    assert "None" not in str(way(kind, "no-such-family"))


def test_lmdeploy_with_a_parser_is_not_told_to_start_with_one() -> None:
    assert way("lmdeploy", "hermes", tool_parser="qwen3") is None


def test_mlx_vlm_names_the_notation() -> None:
    assert "shows" in str(way("mlx-vlm", "hermes"))
    assert "`hermes`" in str(way("mlx-vlm", "hermes"))


def test_mlx_openai_server_gets_the_one_name_that_its_manual_has() -> None:
    assert "`--tool-call-parser qwen3_coder`: without it" in str(way("mlx-openai-server", "qwen3_coder"))
    assert "`--tool-call-parser NAME` (`mlx-openai-server launch --help`" in str(way("mlx-openai-server", "hermes"))


@pytest.mark.parametrize(
    ("family", "running", "words"),
    [
        ("hermes", None, "Start `trtllm-serve` with `--tool_parser qwen3`."),
        ("mistral", None, "Check whether this release of TensorRT-LLM has a parser"),
        ("hermes", "kimi_k2", "Start `trtllm-serve` with `--tool_parser qwen3` in place of `kimi_k2`."),
        ("hermes", "qwen3", "The parser for this notation runs already (`--tool_parser qwen3`)"),
        ("mistral", "qwen3", "`trtllm-serve` runs the parser `qwen3`. Check whether this release"),
    ],
)
def test_tensorrt_is_told_by_its_own_names_and_by_what_runs(family: str, running: str | None, words: str) -> None:
    assert str(way("tensorrt-llm", family, running)).startswith(words)


@pytest.mark.parametrize(
    ("parser", "model", "runs"),
    [
        ("hermes", "Qwen/Qwen3-8B", True),
        ("kimi_k2", "moonshotai/Kimi-K2-Instruct", True),
        ("kimi_k2", "Qwen/Qwen3-8B", False),
        ("hermes", "my-model", False),
        ("hermes", None, False),
        (None, "Qwen/Qwen3-8B", False),
    ],
)
def test_the_models_parser_runs_only_where_name_and_parser_agree(
    parser: str | None, model: str | None, *, runs: bool
) -> None:
    trace = served_by("vllm", parser, model)

    assert has_its_parser(trace.server) is runs
    assert bool(beside_its_parser(trace)) is runs
    assert (f"(`{parser}`)" in beside_its_parser(trace)) is runs


def test_without_a_server_no_parser_runs() -> None:
    assert not has_its_parser(None)
    assert beside_its_parser(Trace(Request({}, ""))) == ""


def test_mistrals_parser_without_its_tokenizer_is_told_of_the_tokenizer() -> None:
    assert "--tokenizer-mode mistral" in beside_its_parser(served_by("vllm", "mistral", "mistralai/Mistral-Small-3.2"))


@pytest.mark.parametrize(("kind", "named"), [("vllm", "vllm:hermes"), ("sglang", "sglang:qwen25")])
def test_a_parser_that_runs_and_left_the_call_is_to_be_tried_alone(kind: str, named: str) -> None:
    trace = served_by(kind, named.partition(":")[2], "Qwen/Qwen3-8B")
    words = " ".join(step.text for step in parser_steps(trace, "hermes"))

    assert kind == "sglang" or f"`parse RAW --parser {named} --splits`" in words
    assert kind == "vllm" or "--parser vllm:" not in words


def test_a_parser_of_the_softwares_own_name_that_runs_is_to_be_tried_alone_too() -> None:
    named = Server("http://127.0.0.1:1/v1", "sglang", tool_parser="qwen25", parser_families=("hermes",))
    trace = Trace(Request({}, ""), server=named)

    assert "`parse RAW --parser sglang:qwen25 --splits`" in parser_steps(trace, "hermes")[-1].text
    assert "in place of `qwen25`" in parser_steps(trace, "kimi_k2")[0].text


def test_mistrals_tokenizer_is_asked_for_only_with_mistrals_parser() -> None:
    def words(family: str, parser: str) -> str:
        return " ".join(step.text for step in parser_steps(served_by("vllm", parser), family))

    assert "tokenizer" in words("mistral_v11", "mistral")
    assert "tokenizer" not in words("hermes", "hermes")
    assert "tokenizer" not in words("mistral_v11", "hermes").split("mistral", 1)[0]


def test_tools_in_the_request_are_asked_for_only_where_they_are_absent() -> None:
    trace = served_by("vllm", "hermes", "Qwen/Qwen3-8B")
    with_tools = Trace(Request({"tools": [{"type": "function"}]}, ""), server=trace.server)

    absent, present = ([step.text for step in parser_steps(one, "hermes")] for one in (trace, with_tools))

    assert [text for text in absent if text not in present] == [
        "Check that the request had its tools in `tools`: a server runs its parser only for such requests."
    ]


@pytest.mark.parametrize(
    ("readers", "words"),
    [
        (("hermes", "qwen3_xml"), "give its text to one such as vLLM's `hermes`, or ask `vllm serve` instead."),
        ((), "give its text to one, or ask `vllm serve` instead."),
    ],
)
def test_text_of_a_method_goes_to_a_parser_that_is_named_where_one_is_known(
    readers: tuple[str, ...], words: str
) -> None:
    assert parse_it_yourself("chat", readers) == f"`LLM.chat` runs no tool parser: {words}"


def test_what_the_server_has_already_is_named_as_a_person_would() -> None:
    server = Server("http://127.0.0.1:1/v1", "vllm", tool_parser="hermes", reasoning_parser="qwen3")
    step = Step("Set it.", {"temperature": 0}, {"tool_parser": "hermes"})

    said = advise(Trace(Request({"temperature": 0}, ""), server=server), (step, Step("Update the server.")))

    assert said == (
        "`temperature: 0` and the tool parser `hermes` are set already, and the problem remains. Update the server."
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ollama", "Send `think: true`"),
        ("llama.cpp", "Start llama-server with `--jinja --reasoning-format auto`"),
        ("lm-studio", "Switch on in LM Studio"),
        ("vllm", "The block has its opening tag: start the server with the `--reasoning-parser`"),
    ],
)
def test_thoughts_in_content_are_split_off_as_the_software_does_it(kind: str, words: str) -> None:
    chat = ChatResult({"role": "assistant", "content": "<think>\nHm.\n</think>\n\nOslo."}, "stop")
    (found,) = diagnose_trace(replace(served_by(kind), chat=chat))

    assert found.code == "PD409"
    assert found.fix.startswith(words)


def test_an_answer_of_ollamas_own_api_shows_whose_it_is() -> None:
    ended = '{"message": {"content": "…"}, "done": true, "done_reason": "stop"}'
    content: JSONObject = {"role": "assistant", "content": "<think>\nHm.\n</think>\n\nOslo."}
    (found,) = diagnose_trace(Trace(Request({}, ""), chat=ChatResult(content, "stop", body=ended)))

    assert found.fix.startswith("Send `think: true`")


@pytest.mark.parametrize(
    ("family", "running", "words"),
    [
        ("hermes", None, "Start `ovms` with `--tool_parser hermes3`"),
        ("kimi_k2", None, "Start `ovms` with `--tool_parser NAME` (`ovms --help` lists the names)"),
        ("hermes", "llama3", "Start `ovms` with `--tool_parser hermes3` in place of `llama3`."),
        ("gemma4", "gemma4", "The parser for this notation runs already (`--tool_parser gemma4`)"),
        ("kimi_k2", "hermes3", "`ovms` runs the parser `hermes3`, which is made for another notation"),
    ],
)
def test_openvino_is_told_by_its_own_names_and_by_what_runs(family: str, running: str | None, words: str) -> None:
    assert str(way("ovms", family, running)).startswith(words)
