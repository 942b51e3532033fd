"""Fields of a request that vLLM removed, and what took their place.

Source: vLLM 0.12.0, which took the `guided_…` fields out of `ChatCompletionRequest`; 0.32 accepts and ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping

REMOVED_IN = (0, 12)
SUCCESSORS: Mapping[str, str] = {
    "guided_json": "`structured_outputs.json`, or `response_format` of type `json_schema`",
    "guided_regex": "`structured_outputs.regex`",
    "guided_choice": "`structured_outputs.choice`",
    "guided_grammar": "`structured_outputs.grammar`",
    "guided_whitespace_pattern": "`structured_outputs.whitespace_pattern`",
    "guided_decoding_backend": "the server's `--structured-outputs-config.backend`",
    "guided_decoding_disable_fallback": "`structured_outputs.disable_fallback`",
    "guided_decoding_disable_any_whitespace": "`structured_outputs.disable_any_whitespace`",
}
