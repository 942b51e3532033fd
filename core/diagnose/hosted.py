"""Which hosted API gave an answer, by fields that only it writes: no flag of a server there is a client's to set."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Trace

_MAX_CHARS = 200_000  # of an answer
# A member of the answer itself: within a text its quotation marks are escaped.
_SIGNS: tuple[tuple[str, str], ...] = (
    (r'"x_groq"\s{0,8}:', "Groq"),
    (r'"time_info"\s{0,8}:\s{0,8}\{\s{0,40}"(?:queue|prompt|completion|total)_time"', "Cerebras"),
    (r'"native_finish_reason"\s{0,8}:', "OpenRouter"),
    (r'"prompt"\s{0,8}:\s{0,8}\[\s{0,8}\]\s{0,8}[,}]', "Together"),
    (r'"prompt_filter_results"\s{0,8}:', "Azure OpenAI"),
    (r'"model"\s{0,8}:\s{0,8}"(?:[\w.-]{1,40}/)?claude-', "Anthropic"),
    (r'"(?:modelVersion|model_version)"\s{0,8}:\s{0,8}"(?:models/)?gemini-', "Google"),
    (r'"stopReason"\s{0,8}:\s{0,8}"(?:end_turn|tool_use|max_tokens|stop_sequence)"', "Amazon Bedrock"),
)
_PATTERNS = tuple((re.compile(rf"(?<!\\){sign}"), vendor) for sign, vendor in _SIGNS)
_ADDRESSES: tuple[tuple[str, str], ...] = (
    ("api.anthropic.com", "Anthropic"),
    ("generativelanguage.googleapis.com", "Google"),
    ("api.groq.com", "Groq"),
    ("api.cerebras.ai", "Cerebras"),
    ("openrouter.ai", "OpenRouter"),
    ("router.huggingface.co", "Hugging Face's router"),
    ("api.together.", "Together"),
    ("api.fireworks.ai", "Fireworks"),
    ("api.deepinfra.com", "DeepInfra"),
    ("bedrock-runtime.", "Amazon Bedrock"),
    ("api.openai.com", "OpenAI"),
    (".openai.azure.com", "Azure OpenAI"),
    ("api.anthropic.com", "Anthropic"),
    ("generativelanguage.googleapis.com", "Google"),
    ("api.deepseek.com", "DeepSeek"),
    ("api.moonshot.", "Moonshot"),
    ("api.z.ai", "Z.ai"),
    ("open.bigmodel.cn", "Z.ai"),
    ("dashscope", "DashScope"),
    ("api.mistral.ai", "Mistral"),
    ("api.x.ai", "xAI"),
)


def hosted_by(trace: Trace) -> str | None:
    """Return whose hosted API gave the answer; `None` if nothing shows that it was one."""
    asked = "" if trace.server is None else trace.server.base_url  # the request may have been copied from elsewhere
    address = asked or trace.request.base_url or ""
    named = next((vendor for part, vendor in _ADDRESSES if part in address), None)
    body = "" if trace.chat is None else trace.chat.body[:_MAX_CHARS]
    return named or next((vendor for pattern, vendor in _PATTERNS if pattern.search(body)), None)
