"""Fields of a chat completion request that one vendor's own reference documents, beyond those that vLLM reads.

vLLM ignores them, and so does many another server; sent to that vendor's API they are right. Of a field that some
program uses in another form as well, the kind of value tells: `thinking` is an object at DeepSeek and Z.ai, and a
template's switch where it is true or false.

Source: the references of the vendors' chat completions as of 2026-11: platform.openai.com/docs/api-reference/chat,
console.groq.com/docs/api-reference, inference-docs.cerebras.ai/api-reference, docs.mistral.ai/api,
openrouter.ai/docs/api-reference, docs.cohere.com/reference/chat, docs.together.ai/reference, docs.fireworks.ai,
docs.z.ai/guides, api-docs.deepseek.com, platform.moonshot.ai/docs, docs.perplexity.ai/api-reference, docs.x.ai,
help.aliyun.com/zh/model-studio, docs.aws.amazon.com/bedrock (Converse, Nova); llama.cpp's `tools/server/README.md`.

Moonshot was compared with its OpenAPI description, Fireworks with its own Python client. xAI's `search_parameters`,
what is listed of DashScope, and a part of Cerebras were not compared with the reference.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from prompt_debugger.core.base.types import JSON, JSONObject

_OPENAI = "OpenAI's API"
_OPENROUTER = "OpenRouter"
_BEDROCK = "Amazon Bedrock"

# By whose API documents them: fields of the body.
_OF_BODY: Final = {
    _OPENAI: "moderation store modalities audio prediction web_search_options verbosity "
    "prompt_cache_key prompt_cache_options prompt_cache_retention",
    "Groq": "reasoning_format search_settings compound_custom citation_options disable_tool_validation "
    "exclude_domains include_domains",
    "Cerebras": "clear_thinking disable_reasoning queue_threshold",
    "Mistral's API": "safe_prompt prompt_mode random_seed guardrails",
    _OPENROUTER: "provider plugins transforms models route usage image_config",
    "Cohere": "stop_sequences safety_mode strict_tools k p",
    "Together": "safety_model compliance",
    "Fireworks": "prompt_truncate_len perf_metrics_in_response mirostat_target mirostat_lr raw_output echo_last "
    "prompt_cache_isolation_key reasoning_history speculation",
    "Z.ai": "do_sample tool_stream user_id",
    "DashScope": "enable_search search_options thinking_budget translation_options asr_options "
    "vl_high_resolution_images",
    "Perplexity": "search_domain_filter search_recency_filter search_mode search_after_date_filter "
    "search_before_date_filter last_updated_after_filter last_updated_before_filter return_images "
    "return_related_questions return_citations disable_search enable_search_classifier media_response",
    "xAI": "search_parameters deferred",
    "llama.cpp": "dynatemp_range dynatemp_exponent samplers timings_per_token mirostat mirostat_tau mirostat_eta "
    "dry_multiplier dry_base dry_allowed_length dry_penalty_last_n dry_sequence_breakers xtc_probability "
    "xtc_threshold typical_p repeat_last_n n_probs id_slot cache_prompt return_progress post_sampling_probs",
    "KoboldCpp": "continue_assistant_turn",
    _BEDROCK: "inferenceConfig schemaVersion toolConfig guardrailConfig additionalModelRequestFields "
    "additionalModelResponseFieldPaths performanceConfig promptVariables requestMetadata outputConfig serviceTier",
}
# Fields that several document under the same name.
_SHARED: Final = {
    "service_tier": (_OPENAI, "Groq", "Cerebras"),
    "metadata": (_OPENAI, "Groq", "Mistral's API", "Fireworks"),
    "reasoning_format": ("Groq", "Cerebras"),
    "prediction": (_OPENAI, "Mistral's API", "Cerebras", "Fireworks"),
    "safety_identifier": (_OPENAI, "Moonshot"),
    "context_length_exceeded_behavior": ("Together", "Fireworks"),
    "prompt_cache_key": (_OPENAI, "Mistral's API", "Moonshot"),
    "web_search_options": (_OPENAI, "Perplexity"),
    "reasoning": (_OPENROUTER, "Together"),
    "thinking": ("Z.ai", "DeepSeek", "Moonshot", "Fireworks"),
    "modalities": (_OPENAI, _OPENROUTER),
    "verbosity": (_OPENAI, _OPENROUTER),
}
# The kind of value that the vendor's field has, where other programs use the name as well.
_KINDS: Final = {
    "thinking": dict,
    "reasoning": dict,
    "metadata": dict,
    "provider": dict,
    "usage": dict,
    "audio": dict,
    "models": list,
    "plugins": list,
    "transforms": list,
    "user_id": str,
}
# Keys of a message, by its role.
_OF_MESSAGE: Final = {
    ("assistant", "prefix"): ("Mistral's API", "DeepSeek"),
    ("assistant", "partial"): ("Moonshot", "DashScope"),
    ("assistant", "reasoning_details"): (_OPENROUTER,),
    ("assistant", "refusal"): (_OPENAI,),
    ("assistant", "annotations"): (_OPENAI,),
    ("assistant", "audio"): (_OPENAI,),
}
_VENDORS: Final = {
    **{name: (vendor,) for vendor, names in _OF_BODY.items() for name in names.split()},
    **_SHARED,
}
_KEY_OF_MESSAGE = re.compile(r"messages\[(\d{1,6})\]\.(\w{1,40})")


class VendorField(NamedTuple):
    """A field, and the vendors whose API documents it."""

    name: str
    vendors: tuple[str, ...]

    @property
    def words(self) -> str:
        """Whose field it is, in a sentence."""
        *others, last = self.vendors
        return f"`{self.name}` is documented by {', '.join(others) + ' and ' if others else ''}{last}."


def vendor_field(name: str, value: JSON) -> VendorField | None:
    """Return whose field of a body that is; `None` if it is in no vendor's reference that is known.

    >>> vendor_field("thinking", {"type": "enabled"}).words
    '`thinking` is documented by Z.ai, DeepSeek, Moonshot and Fireworks.'
    >>> vendor_field("thinking", True)
    """
    vendors = _VENDORS.get(name)
    return VendorField(name, vendors) if vendors and isinstance(value, _KINDS.get(name, object)) else None


def vendor_key(role: JSON, name: str) -> VendorField | None:
    """Return whose key of a message that is; `None` if it is in no vendor's reference that is known."""
    vendors = _OF_MESSAGE.get((role, name)) if isinstance(role, str) else None
    return VendorField(name, vendors) if vendors else None


def vendor_field_at(body: JSONObject, path: str) -> VendorField | None:
    """Return whose field is at a path of a body, such as `messages[1].prefix`."""
    if (key := _KEY_OF_MESSAGE.fullmatch(path)) is None:
        return vendor_field(path, body.get(path))
    messages, index = body.get("messages"), int(key[1])
    message = messages[index] if isinstance(messages, list) and index < len(messages) else None
    return vendor_key(message.get("role"), key[2]) if isinstance(message, dict) else None
