"""A model that vLLM renders without its template is not compared: the installed release says which those are."""

import json
import shutil
from dataclasses import replace

import pytest

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.tools.check import CheckedModel, Checker, Wanted, check_to_json, load_model
from prompt_debugger.core.tools.check.agreement import Agreement, Engines
from prompt_debugger.core.tools.check.own_renderer import Words, words_on_renderer
from prompt_debugger.ui.cli.check_text import check_to_terminal
from tests.conftest import ROOT
from tests.core.tools.check.checks import check_of
from tests.core.tools.check.templates import HERMES


@pytest.fixture
def folder(tmp_path):
    """Return what writes the lab model's files with a configuration and further empty files."""

    def write(architecture, *more):
        home = tmp_path / "model"
        home.mkdir()
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(ROOT / "assets" / "lab-model" / name, home)
        (home / "chat_template.jinja").write_text(HERMES)
        if architecture:
            (home / "config.json").write_text(json.dumps({"architectures": [architecture]}))
        for name in more:
            (home / name).write_text("")
        return load_model(str(home))

    return write


async def words(engine, model, family="hermes"):
    return await words_on_renderer(engine, model, family, "vLLM 0.32.0")


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("architecture", "mode", "renderer"),
    [
        ("KimiK3ForConditionalGeneration", "kimi_k3", "vllm.renderers.kimi_k3.KimiK3Renderer"),
        ("DeepseekV32ForCausalLM", "deepseek_v32", "vllm.renderers.deepseek_v32.DeepseekV32Renderer"),
        ("DeepseekV4ForCausalLM", "deepseek_v4", "vllm.renderers.deepseek_v4.DeepseekV4Renderer"),
        ("DeepseekV41ForCausalLM", "deepseek_v41", "vllm.renderers.deepseek_v4.DeepseekV4Renderer"),
        ("InklingForCausalLM", "inkling", "vllm.renderers.inkling.InklingRenderer"),
    ],
)
async def test_an_architecture_that_vllm_renders_itself_is_reported(engine, folder, architecture, mode, renderer):
    skipped, note = await words(engine, folder(architecture))

    assert skipped.startswith("vLLM 0.32.0 does not render this model with the template. ")
    assert f"`config.json` names `{architecture}`, it uses tokenizer mode `{mode}`" in skipped
    assert f"whose renderer is `{renderer}`" in skipped
    assert note is None


@pytest.mark.vllm
async def test_mistral_own_tokenizer_next_to_its_own_weights_is_reported(engine, folder):
    model = folder("MistralForCausalLM", "tekken.json", "consolidated.safetensors")

    skipped, _ = await words(engine, model, "mistral")

    assert "Mistral's own tokenizer is next to `consolidated*.safetensors`" in skipped
    assert "`vllm.renderers.mistral.MistralRenderer`" in skipped


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("architecture", "files", "family"),
    [
        ("Qwen3ForCausalLM", (), "hermes"),
        ("MoonshotKimiaForCausalLM", (), "hermes"),  # a mode of its own, and the renderer of templates
        ("DeepseekV3ForCausalLM", (), "deepseek_v32"),  # writes that format, and is rendered with its template
        ("MistralForCausalLM", ("tekken.json", "model-00001-of-00002.safetensors"), "mistral"),
        ("MistralForCausalLM", ("consolidated.safetensors",), "mistral"),
        (None, (), "hermes"),
    ],
)
async def test_of_a_model_that_vllm_renders_with_its_template_nothing_is_reported(
    engine, folder, architecture, files, family
):
    assert await words(engine, folder(architecture, *files), family) == Words()


@pytest.mark.vllm
@pytest.mark.parametrize(
    ("family", "shown"),
    [
        ("kimi_k3", "`vllm.renderers.kimi_k3.KimiK3Renderer` for models whose `config.json` names `KimiK3"),
        ("deepseek_v32", "`vllm.renderers.deepseek_v4.DeepseekV4Renderer` for models whose `config.json` names"),
        ("mistral", "for models that have `consolidated*.safetensors` next to Mistral's own tokenizer"),
        ("hermes", None),
        ("cohere_command", None),  # vLLM's renderer for it has to be asked for
        (None, None),
    ],
)
async def test_a_template_alone_reports_its_format_and_no_more(engine, family, shown):
    skipped, note = await words(engine, CheckedModel("ours", HERMES), family)

    assert skipped is None
    assert shown in note if shown else note is None, note


@pytest.mark.vllm
async def test_without_any_weights_a_mistral_tokenizer_is_a_condition(engine, folder):
    skipped, note = await words(engine, folder("MistralForCausalLM", "tekken.json"), "mistral")

    assert skipped is None
    assert "MistralRenderer" in note


class _Old:
    async def renderer_of(self, *_):
        raise EngineError("No module named vllm.renderers.registry")


async def test_a_release_without_such_renderers_says_nothing(folder):
    assert await words(_Old(), folder("KimiK3ForConditionalGeneration")) == Words()


@pytest.mark.vllm
async def test_the_check_of_such_a_model_compares_nothing_and_says_why(engine, folder):
    check = await Checker([engine]).check(folder("KimiK3ForConditionalGeneration"), Wanted(("hermes",)))

    assert check.engines.conversations == ()
    assert "`vllm.renderers.kimi_k3.KimiK3Renderer`" in check_to_json(check)["engines"]["skipped"]
    assert "were not compared: vLLM " in check_to_terminal(check)
    assert [one for one in check.findings if one.code == "PD809"] == []


def test_a_condition_stands_next_to_the_comparison():
    one = Agreement("plain", "a question", {}, agrees=True)
    check = replace(check_of(), engines=Engines("vLLM", (one,), note="This holds where."))

    assert "\n  This holds where.\n" in check_to_terminal(check)
    assert check_to_json(check)["engines"]["note"] == "This holds where."
