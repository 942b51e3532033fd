"""Errors as clients in Ruby and Swift, gateways and start-ups print them, and near misses that are something else."""

import asyncio

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence, show_evidence
from prompt_debugger.core.evidence.errors.copied import error_of_text
from prompt_debugger.core.evidence.errors.other_languages import plain_of_ruby, plain_of_swift
from prompt_debugger.core.evidence.errors.statements import statements_in
from prompt_debugger.core.evidence.errors.values import error_of_value
from prompt_debugger.core.known_errors import classes_of, speaker_of
from tests.attacks.growth import grows_linearly

FENCE = "```"


def shown(text):
    return asyncio.run(show_evidence(read_evidence(text)))


def findings_of(text):
    return {finding.code: finding for finding in shown(text).findings}


@pytest.mark.parametrize("body", ['{"error" => {"message" => "%s", "param" => nil}}', '{:error=>{:message=>"%s"}}'])
def test_a_body_that_ruby_prints_is_read(body):
    said = "you must send a model parameter"
    found = findings_of("Shop HTTP Error: " + body % said + "\nlib/shop.rb:3:in 'ask': status 400 (Faraday::Error)")

    assert said in found["PD100"].title
    assert "`model`" in found["PD100"].fix


def test_arrows_of_other_languages_are_no_hash():
    text = 'const ask = ("error") => { fail }; "a" => {"b"}'

    assert plain_of_ruby(text) == text


def test_a_key_that_swift_misses_in_an_answer_is_what_the_answer_lacks():
    said = r"No value associated with key CodingKeys(stringValue: \"choices\", intValue: nil) (\"choices\")."
    text = (
        'keyNotFound(CodingKeys(stringValue: "choices", intValue: nil), Swift.DecodingError.Context(codingPath: [], '
        f'debugDescription: "{said}", underlyingError: nil))'
    )

    found = findings_of(text)["PD445"]

    assert "lacks a field" in found.title
    assert "`choices`" in found.detail
    assert error_of_text(text.replace("choices", "street")) is None


@pytest.mark.parametrize("wrong", ["keyNotFound(", "keyNotFound(x)", 'keyNotFound(K(stringValue: "a"), b)'])
def test_other_text_about_keys_is_left(wrong):
    assert plain_of_swift(wrong) == wrong


def test_status_and_headers_alone_give_no_reason():
    error = {"status": 422, "headers": {"content-type": "text/plain; charset=utf-8", "date": "today"}}

    assert error_of_value({"error": error}).message == "Unprocessable Content"
    assert "text/plain" in error_of_value({"error": {**error, "message": "text/plain is not taken"}}).message


def test_a_status_for_a_model_before_the_reason_does_not_hide_it():
    words = "Unable to count tokens with status code 400 for model Acme-V3: Invalid 'content' type. Expected one of: "

    assert (
        "content of a message is not a text" in findings_of(f"API Error: 400 {words}['str'], got list.")["PD100"].title
    )
    assert next(classes_of("failed with status code 400 for model Acme-V3")).error.name == "words-not-shown"


def test_the_stack_of_a_gateway_is_not_among_the_words():
    said = "messages.2: the last message must come from the user"
    stack = r"\n\n    at nt (/opt/gate/dist/cli.js:79940:11)\n    at async l0 (/opt/gate/dist/cli.js:7:96)"

    message = error_of_text(
        'API Error: 400 {"error":{"message":"' + said + stack + '","type":"api_error"}}'
    ).refusal.message

    assert message == said


def test_all_fields_that_are_not_known_are_named():
    names = ("reasoning", "top_k", "min_p")
    said = "\n".join(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.' for name in names)

    assert "`reasoning`, `top_k` and `min_p`" in next(classes_of(said)).remedy
    assert "`top_k`" in next(classes_of('Unknown name "top_k": Cannot find field.')).remedy
    assert " and " not in next(classes_of('Unknown name "top_k": Cannot find field.')).remedy.partition("out")[0]


def test_a_process_before_an_exception_is_not_what_failed():
    text = (
        "(EngineCore pid=316)     raise ValueError(\n"
        "(EngineCore pid=316) ValueError: To serve at least one request with the model's max seq len (900), (4.26 GiB "
        "KV cach\ne is needed, which is larger than the available KV cache memory (4.25 GiB)."
    )

    title = findings_of(text)["PD100"].title

    assert "memory" in title
    assert "EngineCore" not in title


def test_an_older_log_that_says_that_the_prompt_was_cut_is_no_refusal():
    found = findings_of('INFO [update_slots] input truncated | n_ctx=2048 n_erase=1090 n_keep=4 tid="1" timestamp=1721')

    assert "2048" in found["PD231"].title
    assert "PD100" not in found


def test_a_name_of_a_template_in_a_list_is_no_field_of_the_request():
    text = (
        "AssertionError: chat template 'acme4' is not registered. The builtin chat templates are: dict_keys(['base', "
    )

    found = findings_of(text + "'acme', 'acme_preview'])")["PD100"]

    assert "`acme4`" in found.detail
    assert "acme_preview" not in found.fix


def test_the_address_of_a_page_is_no_module():
    assert speaker_of("see https://docs.sglang.ai/backend/calling.html") is None
    assert speaker_of("sglang.srt.entrypoints: ValueError").title == "SGLang"


def test_words_below_the_command_that_sent_them_are_the_bodys():
    said = "The tool_choice parameter does not support being set to required or object in thinking mode"
    command = (
        'curl https://shop.example/v1/chat/completions \\\n  -H "Authorization: Bearer k" \\\n  -d \'{\n'
        '    "model": "m",\n    "messages": [{"role":"user", "content": "ask"}],\n    "enable_thinking": true,\n'
        '    "tool_choice": "required"\n  }\'\n'
    )
    body = '{"error":{"message":"<400> InternalError.Algo.InvalidParameter: ' + said + '","code":"x"}}%'

    found = findings_of(f"**Bug**\n\nIt fails.\n\n{FENCE}\n{command}{body}\n{FENCE}\n")

    assert "Bearer" not in found["PD100"].detail
    assert said in found["PD100"].detail
    assert "PD105" not in found  # the server's own words say that it reads the field


def test_what_a_person_says_before_the_words_is_not_among_them():
    text = (
        'An error occurs after enabling the "Effort" option: Shop completion error: 400 Invalid combination of effort '
    )

    title = findings_of(f"{text}and thinking: high + disabled")["PD100"].title

    assert "occurs after" not in title
    assert "exclude each other" in title


def test_a_mark_of_code_that_is_open_is_not_among_the_words():
    said = "content blocks are expected to be either text or image_url type"

    assert (
        f": {said}."
        in findings_of(f"### Bug\n\nThe library throws this error.\n\n`{said}`\n\n### More\n\nx\n")["PD100"].title
    )


def test_a_tokenizer_without_text_is_about_the_template():
    path = "/x/site-packages/transformers/tokenization_utils_fast.py"
    text = (
        f'  File "{path}", line 5, in _encode_plus\n    encodings = self._tokenizer.encode_batch(\n'
        "TypeError: TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]"
    )

    assert "no chat template" in findings_of(text)["PD221"].fix


def test_a_path_that_a_model_does_not_take_is_no_endpoint():
    title = findings_of(
        "Error: 400 Unable to submit request because `function_response.bits` is not supported for this model."
    )

    assert "setting" in title["PD100"].title
    assert "function_response.bits" in title["PD100"].fix


def test_a_match_that_failed_in_elixir_is_the_programs_own():
    text = (
        '** (MatchError) no match of right hand side value: {:error, %LangChain.Chain{model: "m", name: "find_shop"}}'
    )

    found = findings_of(text)

    assert "program failed" in found["PD445"].title
    assert "PD100" not in found


def test_an_argument_that_an_engine_does_not_know_is_an_option():
    text = (
        "Server error: 500 - [address=0.0.0.0:1, pid=2] AsyncEngineArgs.__init__() got an unexpected keyword argument "
    )

    assert "`shop-parser`" in findings_of(f"{text}'shop-parser'")["PD100"].fix
    assert "option" not in findings_of("openai: create() got an unexpected keyword argument 'shop'")["PD100"].title


@pytest.mark.parametrize(
    "text",
    [
        "# Why\n\nPaste it.\n\n> The prompt ends at a user turn: no generation prompt. Guilty stage: render.\n\n"
        "The model then goes on with the user's message.\n",
        "# Cost\n\nAn agent sends history to a model.\n\n```\n  1: 577 tokens, the server reused 0\n```\n",
        "# Shop\n\n```\nshop.py: error: argument -q/--quiet: not allowed with argument -v/--verbose\n```\n",
        "# Shop\n\n```\nshop.py: error: unrecognized arguments: world\n```\n",
    ],
    ids=["verdict", "tokens", "argument", "arguments"],
)
def test_command_lines_pages_and_our_own_verdicts_are_no_errors(text):
    with pytest.raises(RequestError):
        read_evidence(text)


def test_an_exception_to_a_rule_is_none_that_was_raised():
    rule = "The prose says nothing, with one exception: the model that it names, whose content may be empty."

    assert not any(said.words.startswith("exception") for said in statements_in(rule))
    assert any(said.words.startswith("Exception") for said in statements_in("ask: Exception: the model was not found"))


@pytest.mark.parametrize(
    "flood",
    ['{"error" => ' + '"a" => ' * 400, 'keyNotFound(K(stringValue: "' + 'a\\" ' * 400, "\n at f (/" * 400],
    ids=["ruby", "swift", "stack"],
)
def test_floods_of_other_languages_are_linear(flood):
    assert grows_linearly(lambda count: error_of_text(flood * count), first=4)
