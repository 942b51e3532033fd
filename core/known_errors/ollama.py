"""What Ollama says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Ollama"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "{model:word} does not support tools",
        Stage.REQUEST,
        "The template of that model has no section for tools, so the server takes none.",
        "Serve a model whose template takes tools, or send the request without `tools`.",
        "https://github.com/ollama/ollama/issues/5793",
        example="registry.ollama.ai/library/gemma3:4b does not support tools",
        field="tools",
        cause=Cause.SETTING,
    ),
    KnownError(
        '"{model:word}" does not support thinking',
        Stage.REQUEST,
        "The request sets `think`, and that model has no thinking.",
        "Leave `think` out.",
        "https://github.com/ollama/ollama/issues/14212",
        example='"llama3.2" does not support thinking',
        field="think",
    ),
    KnownError(
        'think value "{value}" is not supported for this model',
        Stage.REQUEST,
        "That model does not know this level of thinking.",
        "Send `true` or `false`, or a level that the model's page lists.",
        "https://github.com/charmbracelet/crush/issues/2623",
        example='think value "high" is not supported for this model',
        field="think",
    ),
    KnownError(
        "error parsing tool call: raw=",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON, and the server answers with an error in place of "
        "the output.",
        "Ask again, with a lower temperature if it stays so; where the text ends early, allow more tokens "
        "(`num_predict`).",
        "https://github.com/ollama/ollama/issues/12064",
        example="error parsing tool call: raw='{\"a\": 1', err=unexpected end of JSON input",
    ),
    KnownError(
        "XML syntax error on line {line:int}: {why}",
        Stage.PARSE,
        "The call that the model wrote in tags is not well-formed, and the server answers with an error in place of "
        "the output.",
        "Ask again. A value with `<` or `&` in it can trip this parser as well as a tag that the model forgot to "
        "close; a newer release may be more tolerant.",
        "https://github.com/ollama/ollama/issues/17276",
        example="XML syntax error on line 35: element <parameter> closed by </function>",
    ),
    KnownError(
        "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
        Stage.REQUEST,
        "The content of a message was sent as a list of parts, and this API takes a text alone.",
        "Send `content` as one text, images in `images`; or use the route `/v1/chat/completions`, which takes parts.",
        "https://github.com/BerriAI/litellm/issues/11273",
        field="messages",
    ),
    KnownError(
        "json: cannot unmarshal {kind:word} into Go struct field {path:word} of type {wanted}",
        Stage.REQUEST,
        "A field of the request has a value of another type than the server reads there.",
        "Send the field that the sentence names in the type that it names.",
        "https://github.com/ollama/ollama/issues/8235",
        example="json: cannot unmarshal string into Go struct field ChatRequest.tools of type api.Tools",
    ),
    KnownError(
        "error parsing tool call: {why} (status code: {status:int})",
        Stage.PARSE,
        "The arguments that the model wrote for a call are not JSON, and the server answers with an error in place "
        "of the output.",
        "Look at the arguments in the server's log, and ask again; where they end early, allow more tokens "
        "(`num_predict`).",
        "https://github.com/ollama/ollama/issues/12064",
        example="error parsing tool call: invalid character ']' after object key:value pair (status code: 500)",
    ),
)
