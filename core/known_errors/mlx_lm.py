"""What mlx-lm's server says. Read in release 0.32.2."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "mlx-lm"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Only 'text' content type is supported.",
        Stage.RENDER,
        "A message contains a part that is not text.",
        "Send only text parts.",
        "mlx_lm/server.py: process_message_content",
        field="messages",
    ),
    KnownError(
        "Images must be data URLs or http(s) URLs.",
        Stage.REQUEST,
        "The address of an image has an unsupported form.",
        "Send the image as a `data:` URL, or an address with http or https.",
        "mlx_lm/server.py: _decode_image",
        field="messages",
    ),
    KnownError(
        "Invalid JSON in request body: {why}",
        Stage.REQUEST,
        "The body of the request is not JSON.",
        "Correct the body at the place that the message names.",
        "mlx_lm/server.py: APIHandler.do_POST",
        example="Invalid JSON in request body: Expecting value: line 1 column 9 (char 8)",
    ),
    KnownError(
        "Request should be a JSON dictionary",
        Stage.REQUEST,
        "The body of the request is JSON, but not an object.",
        "Send an object.",
        "mlx_lm/server.py: APIHandler.do_POST",
    ),
    KnownError(
        "{name:word} must be of type {kind:word}",
        Stage.REQUEST,
        "A field of the request has a value of the wrong type.",
        "Send a value of the type that the message names.",
        "mlx_lm/server.py: APIHandler._validate",
        example="max_tokens must be of type int",
        field="{name}",
        is_distinctive=False,
    ),
    KnownError(
        "Received tools but model does not {what} If you think this is an error",
        Stage.PARSE,
        "The server found no tool parser for the chat template, so it reads no calls of this model: what the model "
        "writes stays in `content`.",
        "Update mlx-lm: newer releases have parsers for more families of models. If the model writes a notation that "
        "mlx-lm has a parser for, name it in `tokenizer_config.json` (`tool_parser_type`).",
        "mlx_lm/server.py: _tokenize",
        example="Received tools but model does not support tool calling. If you think this is an error, file an issue",
    ),
    KnownError(
        "Could not parse tool call from: {text}",
        Stage.PARSE,
        "The text between the markers is in no form of Mistral's calls that this release reads: up to 0.31.3 that is "
        "`name[ARGS]{…}` alone; later ones read JSON, too, if it has the name and the arguments.",
        "If the message quotes whole JSON, update mlx-lm; otherwise check that text, and ask again.",
        "mlx_lm/tool_parsers/mistral.py: _parse_json_calls",
        example='Could not parse tool call from: {"name": "f"}',
    ),
    KnownError(
        "No function provided.",
        Stage.PARSE,
        "The text between the markers of a call is not a complete function, usually because the output was cut within "
        "the call.",
        "Raise `max_tokens` if the output was cut; otherwise check that the model's tool parser is the right one.",
        "https://github.com/ml-explore/mlx-lm/issues/905",
    ),
    KnownError(
        "No tool call arguments found.",
        Stage.PARSE,
        "A call in Kimi K2's notation has no part for its arguments.",
        "Check the raw output; ask again.",
        "mlx_lm/tool_parsers/kimi_k2.py: _parse_single_tool",
    ),
    KnownError(
        "tool text was likely truncated mid-generation.",
        Stage.PARSE,
        "The text between the markers of a call could not be read, and the server continued without the call.",
        "Look at `finish_reason`: if it is `length`, raise `max_tokens`; otherwise the model wrote the call in another "
        "notation, or its arguments are not JSON.",
        "mlx_lm/server.py: ToolCallFormatter.__call__",
    ),
    KnownError(
        "Repository Not Found for url: {url}",
        Stage.REQUEST,
        "The server looked for `model` on the Hugging Face Hub, which reports no such repository: the name "
        "does not exist, or the server's token is not allowed to read it.",
        "Name the model that the server was started with (`/v1/models` lists them), or one that exists.",
        "huggingface_hub/utils/_http.py: hf_raise_for_status",
        example="404 Client Error. Repository Not Found for url: https://huggingface.co/api/models/o/m/revision/main.",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "json.loads(tool_text.strip()) json.decoder.JSONDecodeError",
        Stage.PARSE,
        "This release reads what is between the markers of a call as JSON, and the model wrote the call in its own "
        "notation, such as `<arg_key>` and `<arg_value>`; the server breaks the answer off.",
        "Update mlx-lm: newer releases have parsers for these notations and choose one by the model's template.",
        "https://github.com/ml-explore/mlx-lm/issues/607",
        example="tool_call = json.loads(tool_text.strip()) json.decoder.JSONDecodeError: Expecting value: line 1",
    ),
)
