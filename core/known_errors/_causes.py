"""What has to change, by words that many servers and vendors use; for sentences that are in no table.

The first cause in the list whose words are found counts. So rate limits come before quota, as their errors advertise a
larger plan, and a context that is too short before both, as its errors count tokens as theirs do.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from prompt_debugger.core.known_errors._account import ACCESS, QUOTA, RATE
from prompt_debugger.core.known_errors._listed import drop_listed_values
from prompt_debugger.core.known_errors.base import Cause

_MAX_CHARS = 4_000  # the cause is named at the beginning
_ADDRESS = re.compile(r"https?://\S{1,400}")

_OVER_RATE = re.compile(r"(?i)\bexceed\w{0,3} (?:your|the) (?:[\w'\u2019]{1,30} ){0,3}rate limit\b")

# What was not found is then a file of the model, or what runs it: the server knows the model by its name.
_LOADS = re.compile(
    r"(?i)\b(?:fail(?:ed|ure)|unable|error|cannot|can't|could not) (?:to )?(?:load(?:ing)?|open(?:ing)?) (?:the )?"
    r"model\b|with internal loader\b"
)

_CAUSE_BY_CODE: Mapping[str, Cause] = {
    **dict.fromkeys(RATE.codes, Cause.RATE),
    **dict.fromkeys(QUOTA.codes, Cause.QUOTA),
    **dict.fromkeys(ACCESS.codes, Cause.ACCESS),
    "content_filter": Cause.POLICY,
    "content_policy_violation": Cause.POLICY,
    "data_inspection_failed": Cause.POLICY,
    "context_length_exceeded": Cause.CONTEXT,
    "exceed_context_size_error": Cause.CONTEXT,
    "tokens_limit_reached": Cause.CONTEXT,
    "model_not_found": Cause.MODEL_NAME,
    "model_not_available": Cause.MODEL_NAME,
    "model_not_supported": Cause.MODEL_NAME,
    "model_decommissioned": Cause.MODEL_NAME,
    "tool_use_failed": Cause.OUTPUT,
    "json_validate_failed": Cause.OUTPUT,
    "template_error": Cause.TEMPLATE,
    "overloaded_error": Cause.BUSY,
    "engine_overloaded_error": Cause.BUSY,
    "capacity_exceeded": Cause.BUSY,
    "queue_exceeded": Cause.BUSY,
}

_WORDS_BY_CAUSE: Mapping[Cause, tuple[str, ...]] = {
    Cause.CONTEXT: (
        r"maximum context length|(?<!estimated )maximum model length|context_length_exceeded",
        r"(?<!derived )(?<!smaller than )(?<!target_)(?<!draft_)max_model_len(?! ?(?:\(\S{1,20}\) )?(?:is|must|cannot"
        r"|=))",
        r"context (?:size|window|length) (?:of|is|has been|exceeds)|exceeds? the (?:available |model'?s? )?context",
        r"is longer than the model'?s context length|(?:prompt|input) is too long|prompt exceeds max",
        r"`inputs` (?:tokens|must have less)|exceeded model token limit|range of input length should be",
        r"\b(?:prompt|input) length\b.{0,80}\b(?:exceed|larger|greater|longer)",
        r"reduce (?:the|your) (?:length of the )?(?:messages|prompt|input)",
        r"request body too large for .{1,80}max size: \d+ tokens|Prompt 超长|输入.{0,6}(?:超长|过长)",
    ),
    Cause.RATE: RATE.named,
    Cause.QUOTA: QUOTA.named,
    Cause.ACCESS: ACCESS.named,
    Cause.POLICY: (
        r"content (?:management )?(?:policy|filter)|inappropriate content|sensitive content|new_sensitive"
        r"|violat\w{0,3} (?:the |our )?usage guidelines"
        r"|violated guardrail|\bguardrail (?:checks?|rules?|polic\w{1,3})\b.{0,60}?(?:failed|violated|blocked)",
        r"considered high risk|rejected as a result of our safety system|\binput was flagged|requires moderation",
        r"敏感内容|不安全",
    ),
    Cause.SETTING: (
        r"(?:do(?:es)? ?n[o']t|not) support (?:tools|function[ -]calling|tool (?:use|calls?|calling))(?! in stream)",
        r"tool (?:use|calling|calls?) (?:is|are) not supported",
    ),
    Cause.OUTPUT: (
        r"(?:failed|unable|could not|cannot|error) ?(?:to )?(?:pars|read|decod)\w{0,4} (?:the )?"
        r"(?:tool|function)[ _]calls?\b",
        r"(?:tool|function)[ _]call\w{0,3} (?:could not be|failed to) (?:be )?pars",
        r"(?:failed to|did not|could not) (?:generate|output|produce|write) (?:an? )?(?:valid )?"
        r"(?:tool|function)[ _]?calls?\b",
        r"did not (?:generate|output|produce) (?:an? )?(?:valid )?JSON|harmony.{0,60}(?:error|pars)|HarmonyError",
    ),
    Cause.TEMPLATE: (
        r"\bjinja|chat[ _]template|raise_exception|Template ?Error|TemplateSyntaxError|UndefinedError",
        r"while executing \w{1,40} at line",
    ),
    Cause.LOADING: (
        r"\bmodel\b.{0,120}\b(?:is|are) (?:currently |still )?"
        r"(?:loading|being loaded|starting|warming up|initiali[sz]ing)",
        r"^loading model|\bmodel is not (?:yet )?ready",
    ),
    Cause.BUSY: (
        r"\boverloaded|\bat capacity\b|capacity (?:is )?(?:temporarily |currently )?(?:exceeded|exhausted)",
        r"queue is full",
        r"\bhigh (?:traffic|demand|load)\b"
        r"|\b(?:model|server|engine|service|workers?) (?:(?:is|are) )?(?:all |too |currently )?busy",
        r"no (?:healthy|available) (?:upstream|workers?|instances?|backends?|replicas?)|过载|繁忙",
    ),
    Cause.MODEL_NAME: (
        r"\bmodel\b(?! (?:returned|responded|replied|answered)).{0,120}\b(?:does not exist|not found"
        r"|is not (?:found|available|served|loaded)|unknown(?! (?:error|field|param|argument|key|option|propert|variant"
        r"|type|tool|function|role|finish)))",
        r"(?:no such|unknown|invalid|not a valid) model|model_not_found|pinned to .{1,200}requested",
        r"unable to access model|not supported by any provider|模型不存在",
        r"\bmodel\b.{0,120}\b(?:has been|is|was) (?:decommissioned|retired|sunset)|\bmodel\b.{0,120}end[ -]of[ -]life",
    ),
    Cause.SERVER: (
        r"\bCUDA (?:error|out of memory)|\bout of memory\b|internal[ _]server[ _]error|failed during generation",
        r"EngineDeadError|engine (?:core )?(?:is |has )?(?:dead|died)|\bNCCL\b",
    ),
    Cause.REQUEST: (r"\binvalid[ _](?:params?|parameters?|arguments?|request)\b|参数(?:非法|错误|不合法)",),
}
_PATTERN_BY_CAUSE = {
    cause: re.compile("|".join(words), re.IGNORECASE | re.DOTALL) for cause, words in _WORDS_BY_CAUSE.items()
}


def is_of_loading(words: str) -> bool:
    """Return whether words are about loading a model, which is then known by its name."""
    return _LOADS.search(words[:_MAX_CHARS]) is not None


def cause_of_words(message: str, code: str | None = None) -> Cause | None:
    """Return what has to change according to a server's words and its code; `None` if they say nothing that is known.

    Args:
        message: The words.
        code: The code or type of error that came with them.
    """
    if code is not None and (named := _CAUSE_BY_CODE.get(code.lower())) is not None:
        # LM Studio's `model_not_found` beside *Failed to load model* is of a model that it found.
        return None if named is Cause.MODEL_NAME and is_of_loading(message) else named
    words = drop_listed_values(_ADDRESS.sub(" ", message[:_MAX_CHARS]))  # `…/settings/billing` says nothing of why
    if _OVER_RATE.search(words) is not None:  # though a shorter prompt is advised as well
        return Cause.RATE
    cause = next((cause for cause, pattern in _PATTERN_BY_CAUSE.items() if pattern.search(words)), None)
    return None if cause is Cause.MODEL_NAME and is_of_loading(words) else cause
