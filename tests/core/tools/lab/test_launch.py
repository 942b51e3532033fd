"""Command line and environment, as values."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from prompt_debugger.core.tools.lab.launch import build_command, build_environment, prepare_model, start_words
from prompt_debugger.core.tools.lab.spec import LabSpec


def flag(command: tuple[str, ...], name: str) -> str:
    return command[command.index(name) + 1]


def test_an_engine_is_told_model_port_limits_and_parsers(tmp_path: Path) -> None:
    template = tmp_path / "fixed.jinja"
    spec = LabSpec(
        reasoning_parser="kimi_k2",
        chat_template=template,
        default_chat_template_kwargs={"thinking": False},
        extra_args=("--seed", "7"),
    )

    command = build_command(spec, "/models/m", 8131)

    assert command[:3] == (sys.executable, "-m", "vllm.entrypoints.launchers.api_server.entry")
    assert flag(command, "--model") == "/models/m"
    assert flag(command, "--host") == "127.0.0.1"
    assert flag(command, "--port") == "8131"
    assert flag(command, "--served-model-name") == "lab-model"
    assert flag(command, "--tool-call-parser") == "kimi_k2"
    assert flag(command, "--reasoning-parser") == "kimi_k2"
    assert flag(command, "--chat-template") == str(template)
    assert flag(command, "--kv-cache-memory-bytes") == "33554432"
    assert json.loads(flag(command, "--default-chat-template-kwargs")) == {"thinking": False}
    assert {"--enable-scale-out", "--enable-tokenizer-info-endpoint", "--enforce-eager"} <= set(command)
    assert command[-2:] == ("--seed", "7")


def test_without_a_tool_parser_there_is_no_automatic_tool_choice() -> None:
    command = build_command(LabSpec(tool_parser=None), "/models/m", 8131)

    assert "--tool-call-parser" not in command
    assert "--enable-auto-tool-choice" not in command


def test_a_renderer_gets_no_engine_options() -> None:
    command = build_command(LabSpec(kind="renderer"), "/models/m", 8131)

    assert command[2] == "vllm.entrypoints.launchers.render.entry"
    assert "--kv-cache-memory-bytes" not in command


def test_settings_and_secrets_of_the_user_do_not_reach_the_lab(tmp_path: Path) -> None:
    inherited = {
        "PATH": "/bin",
        "VLLM_CPU_KVCACHE_SPACE": "8",
        "VLLM_API_KEY": "secret",
        "VLLM_CACHE_ROOT": "/cache",
        "OPENAI_API_KEY": "secret",
        "HF_TOKEN": "secret",
        "PYTHONUNBUFFERED": "1",
    }

    environment = build_environment(LabSpec(), inherited, tmp_path)

    assert "secret" not in environment.values()
    assert {"VLLM_CPU_KVCACHE_SPACE", "PYTHONUNBUFFERED", "VLLM_SERVER_DEV_MODE"}.isdisjoint(environment)
    assert environment["PATH"] == "/bin"
    assert environment["VLLM_CACHE_ROOT"] == "/cache"
    assert environment["TMPDIR"] == str(tmp_path)
    assert environment["OMP_NUM_THREADS"] == "1"
    assert environment["TORCHDYNAMO_DISABLE"] == "1"
    assert environment["HF_HUB_OFFLINE"] == "1"


def test_a_hub_model_may_use_the_hub(tmp_path: Path) -> None:
    environment = build_environment(LabSpec(model_dir="org/model"), {"HF_TOKEN": "mine"}, tmp_path)

    assert environment["HF_TOKEN"] == "mine"
    assert "HF_HUB_OFFLINE" not in environment


def test_development_endpoints_are_there_when_asked_for(tmp_path: Path) -> None:
    assert build_environment(LabSpec(dev_mode=True), {}, tmp_path)["VLLM_SERVER_DEV_MODE"] == "1"


def test_a_folder_of_tokenizer_files_gets_a_config_without_being_touched(tmp_path: Path) -> None:
    source, scratch = tmp_path / "source", tmp_path / "scratch"
    source.mkdir()
    scratch.mkdir()
    (source / "tokenizer.json").write_text("{}")

    prepared = Path(prepare_model(LabSpec(model_dir=source, kind="renderer", max_model_len=512), scratch))

    assert prepared.parent == scratch
    assert (prepared / "tokenizer.json").read_text() == "{}"
    assert json.loads((prepared / "config.json").read_text())["max_position_embeddings"] == 512
    assert [file.name for file in source.iterdir()] == ["tokenizer.json"]


def test_a_complete_folder_is_used_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")

    assert prepare_model(LabSpec(model_dir=tmp_path, kind="renderer"), tmp_path) == str(tmp_path)


def test_the_command_for_others_names_what_shapes_answers_and_no_folder_or_key(tmp_path: Path) -> None:
    template = tmp_path / "mine.jinja"
    more = ("--api-key", "sk-private", "--hf-token=abc", "--lora-modules", "/home/me/lora", "--dtype", "float32")
    spec = LabSpec(model_dir=tmp_path / "My-Model", tool_parser="hermes", chat_template=template, extra_args=more)

    command = start_words(spec)

    assert command.startswith("vllm serve My-Model --max-model-len 2048 --enable-auto-tool-choice")
    assert "--tool-call-parser hermes --chat-template mine.jinja" in command
    assert "--dtype float32" in command
    assert not any(secret in command for secret in ("private", "abc", "/home", str(tmp_path)))


def test_a_model_of_the_hub_is_served_by_its_id() -> None:
    spec = LabSpec(model_dir="org/model", served_model_name="mine", tool_parser=None)

    assert start_words(spec) == "vllm serve org/model --served-model-name mine --max-model-len 2048"
