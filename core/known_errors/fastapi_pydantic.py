"""What FastAPI and pydantic say for many Python servers."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError, Look

MAKER = "FastAPI or pydantic"

_FORM_OF_ANSWER = "https://github.com/pydantic/pydantic-ai/pull/1379"


SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Invalid JSON: {why} [type=json_invalid, input_value=",
        Stage.PARSE,
        "A text was parsed as JSON, usually the model's output, and it is not JSON.",
        "Check the quoted text: constrain the output with a schema, or use the parser for the notation "
        "that the model writes.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#json_invalid",
        example="1 validation error for Answer Invalid JSON: expected value at line 1 column 1 [type=json_invalid, "
        "input_value='Sure', input_type=str]",
        tried="pydantic 2.14.3",
    ),
    KnownError(
        "Invalid JSON: trailing characters at line {line:int} column {column:int} [type=json_invalid, input_value=",
        Stage.PARSE,
        "A text was parsed as JSON, usually the model's output; its JSON is complete, and more follows at the line and "
        "column that are given: prose, the end of a code fence, or a second value.",
        "Have the server enforce the form (`response_format` with a schema, or a mode of the client that sends one): a "
        "prompt alone does not. Until then read the first value only, or ask for nothing but JSON.",
        "https://github.com/567-labs/instructor/pull/356",
        example="1 validation error for Car Invalid JSON: trailing characters at line 10 column 1 [type=json_invalid, "
        "input_value='{}\\n\\nThat is all.', input_type=str]",
        tried="pydantic 2.14.3",
    ),
    KnownError(
        "Invalid JSON: expected value at line {line:int} column {column:int} [type=json_invalid, input_value='```",
        Stage.PARSE,
        "The model wrote its JSON inside a Markdown code fence, and the text was parsed as it is.",
        "Have the server enforce the form (`response_format` with a schema, or a mode of the client that sends one) "
        "or remove the fence before reading; a prompt that asks for no fence helps, but not always.",
        "https://github.com/crewAIInc/crewAI/issues/3821",
        example="1 validation error for Car Invalid JSON: expected value at line 1 column 1 [type=json_invalid, "
        'input_value=\'```json\\n{\\n  "color..."red"\\n}\\n```\', input_type=str]',
    ),
    KnownError(
        "Invalid JSON: expected value at line {line:int} column {column:int} [type=json_invalid, input_value='<think>",
        Stage.PARSE,
        "The text begins with the model's thoughts, which nothing has separated from the answer, and was parsed as "
        "JSON.",
        "Start the server with the model's reasoning parser (`--reasoning-parser`), switch thinking off, or drop "
        "everything up to `</think>` before reading.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#json_invalid",
        example="1 validation error for Car Invalid JSON: expected value at line 1 column 1 [type=json_invalid, "
        'input_value=\'<think>\\nThe user wants...lor": "red"}\', input_type=str]',
    ),
    KnownError(
        "Extra inputs are not permitted",
        Stage.REQUEST,
        "The server rejects unknown fields, and one was sent.",
        "Leave the field out.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#extra_forbidden",
        is_distinctive=False,
        tried="pydantic 2.14.3",
    ),
    KnownError(
        "`body`: Field required",
        Stage.REQUEST,
        "The server received a request without a body.",
        "Find out what lost the body between the program and the server: record the request (`capture`). Java's own "
        "HTTP client asks plain `http://` servers for HTTP/2 first, and uvicorn answers that with this error: set it "
        "to HTTP/1.1. A proxy that follows a redirect loses the body as well.",
        "https://github.com/spring-projects/spring-ai/issues/3775",
    ),
    KnownError(
        "`prompt`: Field required",
        Stage.REQUEST,
        "What took the request needs a `prompt`, as plain completions have one, and a chat request has `messages` "
        "instead.",
        "Send chat requests to `/v1/chat/completions`. If it was sent there, the worker that got it takes prompts that "
        "are rendered already: register it for completions, or put the part in between that applies the chat template.",
        "https://github.com/triton-inference-server/triton_distributed/issues/302",
        field="prompt",
    ),
    KnownError(
        "`body`: Input should be a valid dictionary or object to extract fields from",
        Stage.REQUEST,
        "The server read the body as something other than a JSON object: as text, if the header is missing that says "
        "that it is JSON, or as a list.",
        "Send the header `Content-Type: application/json`, and one object as the body.",
        "https://fastapi.tiangolo.com/tutorial/body/",
    ),
    KnownError(
        "Input should be 'user' or 'assistant'",
        Stage.REQUEST,
        "A message has a role that this API does not accept: Anthropic's Messages API knows `user` and `assistant` "
        "only.",
        "Send the system prompt in the field `system`, and a tool's result as a part of a `user` message "
        "(`tool_result`); where a client or gateway writes the request, update it.",
        "https://github.com/Alishahryar1/free-claude-code/issues/1041",
    ),
    KnownError(
        "Field required",
        Stage.REQUEST,
        "A field that must be there is missing.",
        "Send the field.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#missing",
        is_distinctive=False,
    ),
    KnownError(
        "`{place:word}`: None of the forms that the server knows accepts this value",
        Stage.REQUEST,
        "A value may have one of several forms, such as the items of `input` or the tools of a request, and this one "
        "has none of them: its `type` is one that the server does not know, or the fields are not those of the type. "
        "The server itself lists why each form does not fit, one error a field.",
        "Leave the value out, or send it in a form that the server knows: with a `type` that it supports, and all "
        "fields of that type. A newer release of the server may know more types.",
        "https://github.com/vllm-project/vllm/issues/42475",
        example="`input[1]`: None of the forms that the server knows accepts this value, whose `type` is `novel`",
        look=Look.NO_FORM,
    ),
    KnownError(
        "function.arguments Input should be a valid string [type=string_type, input_value=None",
        Stage.CONTRACT,
        "A call of the answer has `arguments: null`, where the API has a text: the server or gateway wrote a call "
        "without arguments so.",
        'The request needs no change: update that server or gateway, which must send `"{}"`, or choose another '
        "provider "
        "of the model. A tool with one required parameter avoids it.",
        "https://github.com/pydantic/pydantic-ai/issues/822",
    ),
    KnownError(
        "function.arguments Input should be a valid string [type=string_type, input_value={",
        Stage.CONTRACT,
        "The arguments of a call are an object, where chat completions have a text with JSON.",
        "In an answer, update the server or gateway. In a message of the history, encode them: "
        "`json.dumps(arguments)`.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#string_type",
    ),
    KnownError(
        "Input should be a valid {kind}",
        Stage.REQUEST,
        "A field has a value of the wrong type.",
        "Send a value of the type that the message names.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/",
        example="Input should be a valid string",
        is_distinctive=False,
    ),
    KnownError(
        "JSON decode error",
        Stage.REQUEST,
        "The body of the request is not JSON.",
        "Correct the body at the place that the message names.",
        "https://fastapi.tiangolo.com/tutorial/handling-errors/",
        is_distinctive=False,
    ),
    KnownError(
        "Method Not Allowed",
        Stage.REQUEST,
        "The address exists, but does not accept this method.",
        "Check the server address: it must go up to and including `/v1`.",
        "https://fastapi.tiangolo.com/tutorial/handling-errors/",
        cause=Cause.ADDRESS,
        is_distinctive=False,
    ),
    KnownError(
        "JSON: EOF while parsing a value at line 1 column 0 [type=json_invalid, input_value='',",
        Stage.PARSE,
        "An empty string was parsed as JSON: the arguments of a call, if a tool is named, or the whole answer.",
        "If the tool has no parameters, read an empty string as `{}`, or update the client that does not. Otherwise "
        "look at the whole body of the answer: reasoning may have used up `max_tokens`, or a gateway lost the text.",
        "https://github.com/pydantic/pydantic-ai/issues/1512",
        example="1 validation error for list_files Invalid JSON: EOF while parsing a value at line 1 column 0 "
        "[type=json_invalid, input_value='', input_type=str]",
    ),
    KnownError(
        "Invalid JSON: EOF while parsing {what} at line {line:int} column {column:int} [type=json_invalid, "
        "input_value=",
        Stage.PARSE,
        "Text was parsed as JSON, usually the model's output, but it ends before the JSON is closed.",
        "Look at `finish_reason`: if it is `length`, raise `max_tokens`; a schema or a prompt that asks for less "
        "also helps.",
        "https://github.com/567-labs/instructor/issues/276",
        example="1 validation error for Answer Invalid JSON: EOF while parsing a string at line 1 column 9 "
        '[type=json_invalid, input_value=\'{"a": "b\', input_type=str]',
    ),
    KnownError(
        "validation error{s} for {model:word} {rest} [type=literal_error, input_value='MALFORMED_FUNCTION_CALL'",
        Stage.PARSE,
        "Gemini ended its answer because the call that the model wrote could not be read; that answer has no "
        "content, and this release of the client does not know that reason.",
        "Ask again; simplify the tool's schema (few nested objects, no long text in arguments) if it happens often. "
        "Update the client.",
        _FORM_OF_ANSWER,
        example="1 validation error for Answer candidates.0.finishReason Input should be 'STOP' or 'SAFETY' "
        "[type=literal_error, input_value='MALFORMED_FUNCTION_CALL', input_type=str]",
    ),
    KnownError(
        "validation error{s} for {model:word} tool_calls.{rest} Input should be a valid dictionary [type=dict_type, "
        "input_value='",
        Stage.CONTRACT,
        "The arguments of a call are a text, and this client's class has an object there: Ollama's own API has "
        "objects, chat completions have the text of one.",
        "Decode the arguments (`json.loads`) before the message is built. If the message came from the server as it "
        "is, the server, or a proxy before it, answers in the form of another API: update both, or use the client of "
        "that API.",
        "https://github.com/ollama/ollama-python/issues/484",
        example="1 validation error for Message tool_calls.0.function.arguments Input should be a valid dictionary "
        "[type=dict_type, input_value='{}', input_type=str]",
    ),
    KnownError(
        "validation error{s} for {model:word} {rest} Field required [type=missing, input_value=",
        Stage.CONTRACT,
        "A value does not match the class that it was validated against: the model's output, if the class "
        "describes an answer or the arguments of a tool; settings or a request, if it describes those.",
        "Check the value that the message quotes, and compare it with the class; for an answer of the "
        "model, paste the answer itself.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/#missing",
        example="1 validation error for UserInfo name Field required [type=missing, input_value={'type': 'object'}, "
        "input_type=dict]",
        cause=Cause.UNCLEAR,
        is_distinctive=False,
        tried="pydantic 2.14.3",
    ),
    KnownError(
        "validation error{s} for {model:word} {rest} Input should be {kind} input_value=",
        Stage.CONTRACT,
        "A value does not match the class that it was validated against: the model's output, if the class "
        "describes an answer or the arguments of a tool; settings or a request, if it describes those.",
        "Check the value that the message quotes, and compare it with the class; for an answer of the "
        "model, paste the answer itself.",
        "https://docs.pydantic.dev/latest/errors/validation_errors/",
        example="2 validation errors for UserInfo age Input should be a valid integer, unable to parse string "
        "[type=int_parsing, input_value='x', input_type=str]",
        cause=Cause.UNCLEAR,
        is_distinctive=False,
        tried="pydantic 2.14.3",
    ),
    KnownError(
        "validation error{s} for {model:word} choices.{rest}.finish_reason Input should be {kind} input_value='error'",
        Stage.COMPLETE,
        "The answer ended with the finish reason `error`, which the client's release does not know: a gateway such as "
        "OpenRouter writes it where the provider failed while it answered.",
        "Record the answer (`capture`): `error` and `native_finish_reason` in it say what happened. Ask again, and, if "
        "it comes again, choose another provider for this model. Update the client: newer releases know the word.",
        "https://openrouter.ai/docs/api-reference/overview",
        example="1 validation error for ChatCompletion choices.0.finish_reason Input should be 'stop' or 'length' "
        "[type=literal_error, input_value='error', input_type=str]",
        cause=Cause.OUTPUT,
    ),
    *(
        KnownError(
            f"validation error{{s}} for {{model:word}} {place}.{{rest}} {fault}",
            Stage.CONTRACT,
            "The answer does not have the form that the client's release knows: it was compared with "
            f"{whose}, and departs from it at the places that are listed, where the server leaves fields out, or "
            "writes them differently.",
            f"Record the answer (`capture`) and paste it: if it is an error, its words say more, and {reason} says how "
            "it ended. Update server and client; a client made for any server requires less than one made for a single "
            "vendor.",
            _FORM_OF_ANSWER,
            example=f"1 validation error for Answer {place}.0.{example}",
        )
        for place, whose, reason in (
            ("candidates", "Gemini's answer", "`finishReason`"),
            ("choices", "the answer", "`finish_reason`"),
        )
        for fault, example in (
            (
                "Field required [type=missing, input_value=",
                "content Field required [type=missing, input_value={}, input_type=dict]",
            ),
            (
                "Input should be {kind} input_value=",
                "index Input should be a valid integer [type=int_type, input_value=None, input_type=NoneType]",
            ),
        )
    ),
    KnownError(
        "'MockValSer' object {how} 'SchemaSerializer'",
        Stage.COMPLETE,
        "A program wrote out an answer, or an event of a stream, whose class pydantic had not built fully: a fault "
        "of that program, such as a gateway. Neither the request nor the model's output is wrong.",
        "Update the program (LiteLLM has had this with calls and `logprobs` in streams) and pydantic with it; until "
        "then ask without streaming, or without `logprobs`.",
        "https://github.com/BerriAI/litellm/issues/18801",
        example="'MockValSer' object is not an instance of 'SchemaSerializer'",
        cause=Cause.SERVER,
    ),
    KnownError(
        "ResponseValidationError: ",
        Stage.COMPLETE,
        "The server's program made an answer and then found that it does not have the form that it declares: a fault "
        "of the server, after the model had answered.",
        "Update the server, or go back to the previous release, and report the field that the message names to its "
        "authors. The request needs no change.",
        "https://github.com/JamePeng/llama-cpp-python/issues/113",
        example="fastapi.exceptions.ResponseValidationError: Field required",
    ),
)
