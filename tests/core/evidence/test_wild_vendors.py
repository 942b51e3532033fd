"""Errors of vendors, plug-ins and model repositories as people copy them: what each is about, and near misses."""

from __future__ import annotations

import asyncio

import pytest

from prompt_debugger.core.base.types import Finding
from prompt_debugger.core.evidence import gather_evidence, show_evidence
from prompt_debugger.core.known_errors import innermost


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


NODE = """{
  retry: {
    id: 'op:1',
    error: BadRequestError: 400 {
      status: 400,
      headers: { 'cf-ray': '8d-MEL', connection: 'keep-alive' },
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'messages.4.content.0.image.source.base64: image exceeds 5 MB maximum: 7340032 bytes > 5242880 bytes'
        }
      }
    }
  }
}
"""


def test_of_an_error_that_node_printed_the_innermost_message_is_the_title() -> None:
    found = found_in(NODE)["PD100"]

    assert "`messages[4].content[0].source.base64`" not in found.title
    assert "cf-ray" not in found.title
    assert "image exceeds 5 MB" in found.title


def test_an_object_without_an_error_in_it_keeps_its_words() -> None:
    assert (
        innermost("got { message: 'all is well here' } from it").words == "got { message: 'all is well here' } from it"
    )


def test_a_format_that_is_not_read_needs_no_vision_model() -> None:
    said = (
        "Error code: 400 - {'error': {'code': 'InvalidParameter.UnsupportedImageFormat', 'message': 'The request "
        "failed because the image format is not supported by the API.', 'param': 'image_url', 'type': 'BadRequest'}}"
    )
    found = found_in(said)["PD100"]

    assert "JPEG or PNG" in (found.fix or "")
    assert "vision model" not in (found.fix or "")


def test_a_refusal_that_names_nothing_points_at_nothing() -> None:
    said = 'shop.error.InvalidRequestError: Error code: 400 - {"message": "Input validation error", "type_": '
    found = found_in(f'{said}"invalid_request_error"}}')["PD100"]

    assert found.title.startswith("The API refused the request without naming")
    assert "what the message names" not in (found.fix or "")


def test_a_call_without_a_name_is_no_field_that_the_request_lacks() -> None:
    said = (
        "<error>Tool '' is not available. Use one of: [read_it, write_it]</error>\nYou must reflect within "
        "`shop_thinking` tags. Was it the wrong tool, or missing parameters? Miss a required field?"
    )
    found = found_in(said)["PD445"]

    assert found.title.startswith("A call reached the program without the name")
    assert "shop_thinking" not in (found.fix or "")


def test_a_strict_tool_over_broken_lines_is_known() -> None:
    said = (
        "  The vendor rejected the request (request ID: r1). Error details: Status: 400, Type:\n  invalid_request_error"
        ", Message: 400 Invalid schema for function 'run': In context=(), 'required' is required to be supplied and\n"
        "  to be an array including every key in properties. Missing 'folder'.\n"
    )

    assert found_in(said)["PD100"].title.startswith("A strict tool leaves a property out of `required`")


def test_a_title_says_what_is_wrong_and_not_that_a_call_was_refused() -> None:
    said = "pydantic_ai.exceptions.UsageLimitExceeded: The next request would exceed the request_limit of 50"

    assert found_in(said)["PD445"].title.startswith("The run stopped at its own limit of requests")


def test_what_a_client_lists_as_faults_of_the_answer_is_no_field_of_the_request() -> None:
    said = (
        'Gateway error:\nNo object generated: response did not match schema. Type validation failed: Value: {"go":null}'
        '. Error message: [ { "code": "invalid_type", "expected": "object", "path": [ "go" ], "message": "Expected '
        'object, received null" } ]'
    )
    found = found_in(said)

    assert "PD100" not in found
    assert found["PD445"].title.startswith("The model's JSON does not match the program's schema")


def test_faults_without_a_client_s_sentence_stay_those_of_the_request() -> None:
    said = (
        'API Error: 400 [ { "code": "invalid_type", "expected": "object", "path": [ "metadata" ], "message": '
        '"Expected object, received null" } ]'
    )

    assert "`metadata`" in found_in(said)["PD100"].detail


def test_parts_that_vllm_does_not_know_are_not_the_model_s_answer() -> None:
    said = (
        "Error code: 400 - {'error': {'message': \"2 validation errors for ValidatorIterator\\n"
        "0.ChatCompletionContentPartTextParam.type\\n  Input should be 'text' [type=literal_error, "
        "input_value='summary_text', input_type=str]\\n0.ChatCompletionContentPartRefusalParam.type\\n  Input should "
        "be 'refusal' [type=literal_error, input_value='summary_text', input_type=str]\", 'code': 400}}"
    )
    found = found_in(said)

    assert "PD445" not in found
    assert "Responses API" in (found["PD100"].fix or "")


def test_a_result_of_a_vendor_s_tool_lacks_no_field() -> None:
    said = (
        "API Error: 400 messages.5.content.1: unexpected `tool_use_id` found in `web_fetch_tool_result` blocks: "
        "srvtoolu_9. Each `web_fetch_tool_result` block must have a corresponding `server_tool_use` block before it."
    )
    found = found_in(said)["PD100"]

    assert found.title.startswith("A result of a tool that Anthropic runs itself comes without")
    assert "with a value" not in (found.fix or "")


def test_a_field_that_a_part_may_not_have_outweighs_a_status_beside_it() -> None:
    said = (
        '{"error":{"message":"request param validation error, message[1].content[0] has invalid field(s): cache_control'
        ', ***.Request failed with status: 400 BAD_REQUEST.","code":"400"}}'
    )
    found = found_in(said)["PD100"]

    assert found.title.startswith("The request has a field that is not accepted")
    assert "`cache_control`" in (found.fix or "")
