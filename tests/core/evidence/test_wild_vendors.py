"""Errors of vendors, plug-ins and model repositories as people copy them: what each is about, and near misses."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.evidence import gather_evidence, show_evidence


def found_in(text: str) -> dict[str, Finding]:
    return {one.code: one for one in asyncio.run(show_evidence(gather_evidence([text]))).findings}


def test_what_a_python_model_of_triton_raised_is_the_server_s_fault_though_its_body_is_cut() -> None:
    body = (
        "{\"error\":\"in ensemble 'shop', Failed to process the request(s) for model instance 'preprocessing_0_3', "
        "message: TypeError: 'float' object has no attribute 'decode'\\n\\nAt:\\n  /models/preprocessing/1/model.py(88)"
    )
    found = found_in(body)["PD100"]

    assert found.title.startswith("The `preprocessing` model of the repository raised an error")
    assert "config.pbtxt" in (found.fix or "")


def test_a_key_that_an_engine_s_settings_lack_is_no_field_of_the_request() -> None:
    said = "| tensorrt_llm | 1 | UNAVAILABLE: Internal: [json.exception.out_of_range.403] key 'lora_rank' not found |"
    found = found_in(f"I0105 server.cc:677\n{said}\n")["PD100"]

    assert found.title.startswith("Triton could not load the engine")
    assert "of the request as the server asks" not in (found.fix or "")


@pytest.mark.parametrize("name", ["prompt", "max_tokens"])
def test_a_parameter_that_zhipu_refuses_in_its_own_words(name: str) -> None:
    found = found_in(f"返回[1214][{name} 参数非法。请检查文档。]")["PD100"]

    assert "invalid (code 1214)" in found.title
    assert name in found.title


@pytest.mark.parametrize("class_name", ["ModelGetLLMNumTokens", "ModelInvokeLLMRequest"])
def test_a_check_within_dify_s_plug_in_says_nothing_of_the_model(class_name: str) -> None:
    said = (
        '[shop] Error: PluginInvokeError: {"args":{},"error_type":"ValidationError","message":"1 validation error for '
        f"{class_name}\\nprompt_messages.role\\n Input should be 'user' [type=literal_error, input_value='u']\"}}"
    )
    found = found_in(said)["PD100"]

    assert "Update both Dify and the plug-in" in (found.fix or "")
    assert "usually from a model" not in found.detail


def test_a_check_of_one_s_own_class_is_still_the_model_s_value() -> None:
    said = (
        "Traceback (most recent call last):\n"
        '  File "/app/ask.py", line 7, in <module>\n    answer = client.chat.completions.create(response_model=Pet)\n'
        "pydantic_core._pydantic_core.ValidationError: 1 validation error for Pet\nage\n"
        "  Input should be a valid integer [type=int_parsing, input_value='old', input_type=str]\n"
    )

    assert "Pet" in found_in(said)["PD445"].detail


def test_a_schema_that_google_s_client_refuses_names_the_tool_s_schema() -> None:
    said = (
        "2 validation errors for FunctionDeclaration\nparameters.properties.size.examples\n  Extra inputs are not "
        "permitted [type=extra_forbidden, input_value=['big'], input_type=list]\nparameters.$schema\n  Extra inputs "
        "are not permitted [type=extra_forbidden, input_value='x', input_type=str]\n"
    )

    assert found_in(said)["PD100"].title.startswith("A tool's schema has a keyword or a value")


def test_an_image_that_llama_server_does_not_read_is_not_to_be_sent_as_an_image_again() -> None:
    found = found_in('500: Failed to parse messages: Unsupported content part type: "image_url"; messages = [')["PD100"]

    assert "--mmproj" in (found.fix or "")
    assert "Send parts of" not in (found.fix or "")
