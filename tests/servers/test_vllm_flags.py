"""A real vLLM with six other sets of flags: what is said of its runs is true."""

from __future__ import annotations

import asyncio
import shutil

import pytest

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.tools.lab import LabPool, LabSpec
from tests.servers.scenarios import body_of, debug
from tests.servers.truth import EXPECTED_CALLS, assert_healthy, assert_loss_is_not_denied, errors_of, returned_calls

pytestmark = [pytest.mark.lab, pytest.mark.servers]

KEY = "sk-vllm-of-the-tests-0123456789"


def boot(labs: LabPool, spec: LabSpec) -> str:
    return asyncio.run(labs.get(spec)).base_url


def test_another_tool_parser(labs):
    url = boot(labs, LabSpec(tool_parser="hermes"))

    lost = debug(url, body_of("healthy"))
    prose = debug(url, body_of("prose"))

    assert_loss_is_not_denied(lost)
    assert lost.verdict.dropped_calls == 1
    assert any(error.startswith("PD405") for error in errors_of(lost))
    assert_healthy(prose)


def test_no_automatic_tool_choice(labs):
    url = boot(labs, LabSpec(tool_parser=None))

    refused = debug(url, body_of("healthy"))
    prose = debug(url, body_of("prose"))

    assert "--enable-auto-tool-choice" in refused.refusal.message
    assert refused.verdict.stage.value == "complete"
    assert "`--enable-auto-tool-choice`" in refused.findings[0].fix
    assert_healthy(prose)


def test_a_reasoning_parser_of_another_model(labs):
    url = boot(labs, LabSpec(reasoning_parser="deepseek_r1"))

    prose = debug(url, body_of("prose"))

    assert prose.chat.message["content"] is None
    assert any(error.startswith("PD408") for error in errors_of(prose))
    assert prose.verdict.dropped_calls == prose.verdict.invented_calls == 0


def test_an_api_key(labs):
    url = boot(labs, LabSpec(extra_args=("--api-key", KEY)))

    trace = debug(url, body_of("healthy"), api_key=KEY)
    with pytest.raises(BackendError) as without:
        debug(url, body_of("healthy"))

    assert returned_calls(trace) == EXPECTED_CALLS["healthy"]
    assert_healthy(trace)
    assert without.value.status == 401
    assert "--api-key-env" in without.value.hint


def test_a_short_context(labs):
    url = boot(labs, LabSpec(max_model_len=200))
    endless = body_of("healthy", max_tokens=None, ignore_eos=True)
    long = body_of("healthy")
    long["messages"][-1]["content"] *= 20

    healthy = debug(url, body_of("healthy", max_tokens=None))
    filled = debug(url, endless)
    refused = debug(url, long)

    assert_healthy(healthy)
    assert "PD306" in {finding.code for finding in filled.findings}
    assert not [finding for finding in filled.findings if "max_tokens" in finding.title]
    assert refused.verdict.sentence.startswith("The request does not fit the server's context")


def test_another_name_and_a_folder_that_is_gone(labs, lab_model_dir, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(lab_model_dir, folder)
    url = boot(labs, LabSpec(model_dir=folder, served_model_name="other-name"))
    shutil.rmtree(folder)

    healthy = debug(url, body_of("healthy"))
    dropped = debug(url, body_of("dropped", model="other-name"))
    unknown = debug(url, body_of("prose", model="lab-model"))

    assert healthy.server.model == "other-name"
    assert returned_calls(healthy) == EXPECTED_CALLS["healthy"]
    assert_healthy(healthy)
    assert dropped.verdict.dropped_calls == 1
    assert unknown.verdict.sentence.startswith("The server does not serve the model that the request names")
    assert "`other-name`" in unknown.findings[0].fix
