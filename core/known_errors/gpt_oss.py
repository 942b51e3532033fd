"""What servers of gpt-oss say, whoever runs them: vLLM, and vendors such as Azure OpenAI."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import KnownError

MAKER = "servers of gpt-oss"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "Unknown channel: {channel}",
        Stage.PARSE,
        "A message of gpt-oss has a channel other than `analysis`, `commentary` and `final`: the model wrote "
        "something else, or more, in its header.",
        "Ask again. On your own server, check the header in the raw output, and try a newer release, which may "
        "recover by itself; report it to a vendor with the request.",
        "vllm/entrypoints/openai/responses/harmony.py: harmony_to_response_output",
        example="Unknown channel: comment",
        is_distinctive=False,
    ),
)
