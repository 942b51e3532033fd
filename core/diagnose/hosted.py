"""Which hosted API gave an answer, by fields that only it writes: no flag of a server there is a client's to set."""

from __future__ import annotations

import re

from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.diagnose.fields import body_of

_MAX_CHARS = 200_000  # of an answer
# A member of the answer itself: within a text its quotation marks are escaped.
_SIGNS: tuple[tuple[str, str], ...] = (
    (r'"x_groq"\s{0,8}:', "Groq"),
    (r'"time_info"\s{0,8}:\s{0,8}\{\s{0,40}"(?:queue|prompt|completion|total)_time"', "Cerebras"),
    (r'"native_finish_reason"\s{0,8}:', "OpenRouter"),
    (r'"prompt"\s{0,8}:\s{0,8}\[\s{0,8}\]\s{0,8}[,}]', "Together"),
    (r'"prompt_filter_results"\s{0,8}:', "Azure OpenAI"),
    (r'"base_resp"\s{0,8}:\s{0,8}\{\s{0,40}"status_', "MiniMax"),
    (r'"completion_tokens_after_first_per_sec"\s{0,8}:', "SambaNova"),
    (r'"search_context_size"\s{0,8}:', "Perplexity"),
    (r'"num_sources_used"\s{0,8}:', "xAI"),
    (r'"estimated_cost"\s{0,8}:\s{0,8}\d', "DeepInfra"),
    (r'"model"\s{0,8}:\s{0,8}"(?:[\w.-]{1,40}/)?claude-', "Anthropic"),
    (r'"model"\s{0,8}:\s{0,8}"(?:[\w.-]{1,40}/)?gpt-[345][\w.-]{0,30}?-20\d\d-\d\d-\d\d"', "OpenAI"),
    (r'"model"\s{0,8}:\s{0,8}"(?:[\w.-]{1,40}/)?gemini-\d', "Google"),
    (r'"(?:modelVersion|model_version)"\s{0,8}:\s{0,8}"(?:models/)?gemini-', "Google"),
    (r'"stopReason"\s{0,8}:\s{0,8}"(?:end_turn|tool_use|max_tokens|stop_sequence)"', "Amazon Bedrock"),
)
# A model as Amazon Bedrock names it: after its maker, often with a region before it, and with a version at its end.
_ON_BEDROCK = re.compile(
    r"(?:bedrock/)?(?:converse/)?(?:arn:aws[\w:/-]{1,80}/)?(?:(?:us|eu|apac|au|jp|ca|us-gov|global)\.)?"
    r"(?:(?:anthropic\.claude|amazon\.(?:nova|titan))-[\w.:-]{1,80}|[a-z][a-z0-9]{1,20}\.[a-z][\w.-]{0,80}[.-]v?\d:\d)"
)
_MODEL = re.compile(r'(?<!\\)"model"\s{0,8}:\s{0,8}"([^"\n]{1,200})"')
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
    ("api.deepseek.com", "DeepSeek"),
    ("api.moonshot.", "Moonshot"),
    ("api.z.ai", "Z.ai"),
    ("open.bigmodel.cn", "Z.ai"),
    ("dashscope", "DashScope"),
    ("api.mistral.ai", "Mistral"),
    ("api.x.ai", "xAI"),
    ("api.minimax", "MiniMax"),
    ("api.sambanova.ai", "SambaNova"),
    ("api.perplexity.ai", "Perplexity"),
    ("api.novita.ai", "Novita"),
    ("api.siliconflow.", "SiliconFlow"),
    (".volces.com", "Volcengine"),
    ("bedrock-mantle.", "Amazon Bedrock"),
    ("integrate.api.nvidia.com", "NVIDIA"),
    ("models.github.ai", "GitHub Models"),
    ("ai-gateway.vercel.sh", "Vercel's gateway"),
    ("api.cohere.", "Cohere"),
)


def hosted_by(trace: Trace) -> str | None:
    """Return whose hosted API gave the answer; `None` if nothing shows that it was one."""
    asked = "" if trace.server is None else trace.server.base_url  # the request may have been copied from elsewhere
    address = asked or trace.request.base_url or ""
    named = next((vendor for part, vendor in _ADDRESSES if part in address), None)
    if named is not None:
        return named
    body = "" if trace.chat is None else trace.chat.body[:_MAX_CHARS]
    if any(_ON_BEDROCK.fullmatch(model) for model in _models_of(trace, body)):
        return "Amazon Bedrock"
    return next((vendor for pattern, vendor in _PATTERNS if pattern.search(body)), None)


def answering_model(body: str) -> str | None:
    """Return the model that the body of an answer or a stream names first; `None` if it names none."""
    found = _MODEL.search(body)
    return None if found is None else found[1]


def _models_of(trace: Trace, body: str) -> tuple[str, ...]:
    """Return the models that the request and the answer name."""
    named = body_of(trace).get("model")
    return (named if isinstance(named, str) else "", answering_model(body) or "")
