"""Specs: what counts as the same lab, and what is refused before anything starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.base.assets import packaged_model_dir
from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.tools.lab.spec import LabSpec, check_spec


def test_the_default_model_is_the_packaged_one() -> None:
    spec = LabSpec()

    assert spec.is_lab_model
    assert spec.model == "lab-model"
    assert Path(spec.model_dir) == packaged_model_dir()


def test_the_same_folder_written_differently_is_the_same_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model").mkdir()
    monkeypatch.chdir(tmp_path)

    specs = {LabSpec(model_dir="model"), LabSpec(model_dir=Path("model")), LabSpec(model_dir=tmp_path / "model")}

    assert len(specs) == 1


def test_specs_that_differ_in_template_variables_are_different() -> None:
    off = LabSpec(default_chat_template_kwargs={"thinking": False})

    assert off != LabSpec()
    assert off == LabSpec(default_chat_template_kwargs={"thinking": False})
    assert len({off, LabSpec(), LabSpec(default_chat_template_kwargs={"thinking": False})}) == 2


def test_a_spec_does_not_change_with_the_mapping_it_was_made_from() -> None:
    variables: dict[str, bool] = {"thinking": False}
    spec = LabSpec(default_chat_template_kwargs=dict(variables))

    variables["thinking"] = True

    assert spec.default_chat_template_kwargs == {"thinking": False}


@pytest.mark.parametrize(
    ("model_dir", "is_hub_id", "model"),
    [
        ("Qwen/Qwen3-0.6B", True, "Qwen/Qwen3-0.6B"),
        ("./models/mine", False, "mine"),
        (Path("models/mine"), False, "mine"),
    ],
)
def test_a_model_goes_by_its_own_name(model_dir: Path | str, is_hub_id: bool, model: str) -> None:
    spec = LabSpec(model_dir=model_dir)

    assert (is_hub_id, model) == (spec.is_hub_id, spec.model)
    assert LabSpec(model_dir=model_dir, served_model_name="other").model == "other"


def test_a_missing_folder_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="There is no model folder") as caught:
        check_spec(LabSpec(model_dir=tmp_path / "nowhere"))

    assert "nowhere" in caught.value.message
    assert "Hub id" in caught.value.hint


def test_a_missing_template_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="There is no chat template"):
        check_spec(LabSpec(model_dir="org/model", chat_template=tmp_path / "nowhere.jinja"))


def test_an_engine_needs_a_config_and_a_renderer_does_not(tmp_path: Path) -> None:
    check_spec(LabSpec(model_dir=tmp_path, kind="renderer"))

    with pytest.raises(LabError, match="has no `config"):
        check_spec(LabSpec(model_dir=tmp_path))


def test_a_hub_id_is_left_to_vllm() -> None:
    check_spec(LabSpec(model_dir="org/model"))
