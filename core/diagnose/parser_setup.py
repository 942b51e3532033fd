"""How a server without vLLM's flags is set to read a family's calls, and to split off its reasoning.

Sources: docs of Ollama (Modelfile, thinking), LM Studio (tool use, API changelog of 0.3.9) and LMDeploy (tools of its
API server), mlx-lm's `tokenizer_utils.py`, TensorRT-LLM's `tool_parser_factory.py` (34eff6a) and NVIDIA/TensorRT-
LLM#12196; OpenVINO Model Server's `output_parser.cpp` (00aec42) and its notes on 2026.3; the page of mlx-openai-server
on PyPI, jundot/omlx#1989, raullenchai/Rapid-MLX#25, waybarrios/vllm-mlx#28.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.advice import Step
from prompt_debugger.core.diagnose.thought_switches import is_ollamas_own
from prompt_debugger.core.formats import FORMATS

_UNKNOWN = "openai-compatible"  # of a server nothing of whose answers names it
_OF_OLLAMA = (
    "Ollama chooses its parser by the model's template: take the model from its library, or give the Modelfile the "
    "template that goes with this notation, and update Ollama. It returns only calls of tools that the request has: "
    "check that the name is one of them."
)
_OF_LM_STUDIO = (
    "LM Studio extracts calls only if it knows the model's template: update it and its runtime, and load a model that "
    "it marks as trained for tool use. For other models it reads only `[TOOL_REQUEST]` blocks."
)
_OF_LLAMA_CPP = (
    "Start llama-server with `--jinja` and the model's own template, in a current release: it chooses how calls are "
    "read by that template."
)
_NONE_OF_TENSORRT = (
    "Check whether this release of TensorRT-LLM has a parser for this model's family (`trtllm-serve --help`, "
    "`--tool_parser`): it has few, and without the flag no call is parsed."
)
# What TensorRT-LLM calls its parsers.
_TENSORRT = {
    "hermes": "qwen3",
    "qwen3_coder": "qwen3_coder",
    "kimi_k2": "kimi_k2",
    "deepseek_v3": "deepseekv3",
    "deepseek_v31": "deepseekv3.1",
    "deepseek_v32": "deepseek_v32",
    "glm45": "glm47",
    "minimax_m2": "minimax_m2",
}
# The names that ai-dynamo 1.6.1 lists.
_DYNAMO = {
    "hermes": "hermes",
    "kimi_k2": "kimi_k2",
    "llama3_json": "llama3_json",
    "mistral": "mistral",
    "deepseek_v3": "deepseek_v3",
    "deepseek_v31": "deepseek_v3_1",
    "deepseek_v32": "deepseek_v3_2",
    "qwen3_coder": "qwen3_coder",
    "glm45": "glm45",
    "harmony": "harmony",
    "minimax_m2": "minimax_m2",
    "gemma4": "gemma4",
}
_OPENVINO = {
    "hermes": "hermes3",
    "llama3_json": "llama3",
    "phi4_mini": "phi4",
    "mistral": "mistral",
    "harmony": "gptoss",
    "qwen3_coder": "qwen3coder",
    "lfm2": "lfm2",
    "gemma4": "gemma4",
}

_OF_LLAMA_CPP_PYTHON = (
    "llama-cpp-python extracts calls only with a few chat formats (`chat_format` as `chatml-function-calling` "
    "or `functionary-v2`), whatever the template: serve the model with llama.cpp's `llama-server --jinja`, or "
    "read the call in the client."
)


_OF_THOUGHTS = {
    "ollama": "Send `think: true`: Ollama then splits off the thoughts of models that it knows as thinking ones. If "
    "that does not help: take the model from its library, as the template of one from elsewhere often says nothing of "
    "thoughts; or split the text at the closing tag in the client.",
    "llama.cpp": "Start llama-server with `--jinja --reasoning-format auto`, in a current release.",
    "mlx-lm": "mlx-lm splits thoughts off where the tokenizer has tokens for their tags, without a flag: update "
    "it; or split the text at the closing tag in the client.",
    "transformers": "`transformers serve` splits thoughts off only for models that it knows: update it; or split the "
    "text at the closing tag in the client.",
    "llama-cpp-python": "llama-cpp-python does not split thoughts off: serve the model with llama.cpp's `llama-server "
    "--jinja --reasoning-format auto`, or split the text at the closing tag in the client.",
    "lm-studio": "Switch on in LM Studio (App Settings, Developer) that `reasoning_content` comes separately, and "
    "update it; or split the text at the closing tag in the client.",
}


def way_for_thoughts(trace: Trace) -> str | None:
    """Return what splits thoughts off where the software has no flag `--reasoning-parser`; else `None`."""
    if trace.server is None:  # then only Ollama's own API shows itself
        return _OF_THOUGHTS["ollama"] if is_ollamas_own(trace.chat) else None
    return _OF_THOUGHTS.get(trace.server.kind)


def own_way(trace: Trace, family: str) -> Step | None:
    """Return what to do where the server is of a software that vLLM's flags say nothing to; else `None`."""
    server = trace.server
    way = None if server is None else _WAYS.get(server.kind)
    if server is None or way is None or (server.tool_parser is not None and server.kind == "lmdeploy"):
        return None
    if server.kind == "tensorrt-llm" and server.tool_parser is not None:
        return Step(_advise_beside_tensorrts(server.tool_parser, family))
    if server.kind == "ovms" and server.tool_parser is not None:
        return Step(_advise_beside_openvinos(server.tool_parser, family))
    return Step(way(family))


def start_with(trace: Trace, flags: str) -> str:
    """Return the advice to start the server with flags of vLLM, which are named as such to a server of unknown make.

    Servers that do not say what they are, such as mlx-lm's, may have other flags or none.
    """
    return (
        f"If the server is vLLM, start it with {flags}"
        if is_of_unknown_make(trace)
        else f"Start the server with {flags}"
    )


def is_of_unknown_make(trace: Trace) -> bool:
    """Return whether nothing tells which software a server is, so that vLLM's flags may mean nothing to it."""
    server = trace.server
    return server is not None and server.kind == _UNKNOWN and server.tool_parser is None


def _parser_of(kind: str, family: str) -> str | None:
    """Return what a software calls its first parser for a family, where that is known."""
    names = FORMATS[family].facts.parser_names if family in FORMATS else {}
    return next(iter(names[kind].tools), None) if kind in names else None


def _advise_mlx(family: str) -> str:
    name = _parser_of("mlx-lm", family)
    hint = "" if name is None else f': `"tool_parser_type": "{name}"` in tokenizer_config.json names it'
    return (
        "mlx-lm chooses its parser by the chat template, and older releases read only JSON: update it, and check that "
        f"the model has a parser that reads this notation{hint}."
    )


def _advise_mlx_vlm(family: str) -> str:
    return (
        f"mlx-vlm chooses its parser by the chat template: update it, and keep the model's own template, from which "
        f"the notation `{family}` shows."
    )


def _advise_tensorrt(family: str) -> str:
    name = _TENSORRT.get(family)
    return _NONE_OF_TENSORRT if name is None else f"Start `trtllm-serve` with `--tool_parser {name}`."


def _advise_beside_tensorrts(parser: str, family: str) -> str:
    """Return what to do where `trtllm-serve` runs a parser already."""
    name = _TENSORRT.get(family)
    if name is None:
        return f"`trtllm-serve` runs the parser `{parser}`. {_NONE_OF_TENSORRT}"
    if name != parser:
        return f"Start `trtllm-serve` with `--tool_parser {name}` in place of `{parser}`."
    return (
        f"The parser for this notation runs already (`--tool_parser {parser}`): check that the request had its tools "
        "in `tools`, and run a current release."
    )


def _advise_openvino(family: str) -> str:
    name = _OPENVINO.get(family)
    flag = "`--tool_parser NAME` (`ovms --help` lists the names)" if name is None else f"`--tool_parser {name}`"
    return (
        f"Start `ovms` with {flag}: before 2026.3 it reads no calls without the flag. It reads calls only where the "
        "request has `tools`."
    )


def _advise_beside_openvinos(parser: str, family: str) -> str:
    """Return what to do where `ovms` runs a parser already."""
    name = _OPENVINO.get(family)
    if name == parser:
        return (
            f"The parser for this notation runs already (`--tool_parser {parser}`): check that the request had its "
            "tools in `tools`, without which `ovms` does not run it, and update to a current release."
        )
    if name is not None:
        return f"Start `ovms` with `--tool_parser {name}` in place of `{parser}`."
    return (
        f"`ovms` runs the parser `{parser}`, which is made for another notation: check whether its release has one for "
        "this model's family (`ovms --help`)."
    )


def _advise_lmdeploy(family: str) -> str:
    name = _parser_of("lmdeploy", family)
    if name is None:
        return "Check whether LMDeploy has a parser for this model's family (`--tool-call-parser`); it has only a few."
    return f"Start LMDeploy's API server with `--tool-call-parser {name}`."


def _advise_dynamo(family: str) -> str:
    name = _DYNAMO.get(family)
    if name is None:
        return "Check whether NVIDIA Dynamo has a parser for this model's family (`--dyn-tool-call-parser`)."
    return f"Start Dynamo's worker with `--dyn-tool-call-parser {name}`: without it, calls stay in the text."


_OF_RAPID_MLX = (
    "Rapid-MLX chooses its parser by the model's name: update it, and name the parser of a model with a different name "
    "(`--tool-call-parser`)."
)
_OF_OMLX = (
    "oMLX chooses its parser by the chat template: update it, keep the model's own template, and look in its log "
    "for the parser that it found as the model was loaded. What no parser reads it returns as text."
)
_OF_VLLM_MLX = (
    "Start `vllm-mlx serve` with `--enable-auto-tool-choice --tool-call-parser NAME`; `auto` lets it find the "
    "notation itself."
)


def _advise_mlx_openai_server(family: str) -> str:
    is_named = family == "qwen3_coder"  # in its manual, with a model
    hint = "" if is_named else " (`mlx-openai-server launch --help` lists the names)"
    return (
        f"Start `mlx-openai-server launch` with `--tool-call-parser {'qwen3_coder' if is_named else 'NAME'}`{hint}: "
        "without it, calls stay in the text."
    )


_WAYS: Mapping[str, Callable[[str], str]] = {
    "ollama": lambda _: _OF_OLLAMA,
    "lm-studio": lambda _: _OF_LM_STUDIO,
    "llama.cpp": lambda _: _OF_LLAMA_CPP,
    "llama-cpp-python": lambda _: _OF_LLAMA_CPP_PYTHON,
    "mlx-lm": _advise_mlx,
    "mlx-vlm": _advise_mlx_vlm,
    "mlx-openai-server": _advise_mlx_openai_server,
    "omlx": lambda _: _OF_OMLX,
    "rapid-mlx": lambda _: _OF_RAPID_MLX,
    "vllm-mlx": lambda _: _OF_VLLM_MLX,
    "lmdeploy": _advise_lmdeploy,
    "tensorrt-llm": _advise_tensorrt,
    "dynamo": _advise_dynamo,
    "ovms": _advise_openvino,
}
