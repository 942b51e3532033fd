"""The server of llama-cpp-python: llama.cpp's model behind OpenAI's endpoints, and none of llama.cpp's own.

It ends an answer that it streams when another request comes (`interrupt_requests`, the default), leaves control tokens
out of its text, and lists its tokens only where alternatives are asked for; a control token has an empty string there.
In a stream it is not asked for them: 0.3.36 then repeats a piece for a control token and loses the last ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from prompt_debugger.core.base.json_values import as_object, as_text
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.complete.engines._record import ControlTokens, Engine, Marks, OwnFields

_FIELDS: JSONObject = {"logprobs": True, "top_logprobs": 1}


def _is_it(answers: Sequence[JSONObject]) -> bool:
    (described,) = answers
    return "llama.cpp Python API" in (as_text(as_object(described.get("info")).get("title")) or "")


ENGINE = Engine(
    kind="llama-cpp-python",
    title="llama-cpp-python",
    marks=Marks(paths=("/openapi.json",), is_it=_is_it, order=40),
    distributions=("llama-cpp-python",),
    own_fields=OwnFields(chat=_FIELDS, stream={}),
    control_tokens=ControlTokens.LEFT_OUT,
    renders_like="llama.cpp",
)
