"""What a secret looks like: patterns, each of which takes time that grows no faster than the text.

What stands in group 1, if there is one, is kept: the name before a key. No pattern takes a quote or half an escape, so
that a text which was JSON or code stays what it was; none takes `•` or `[removed]`, so that what is covered stays so.
A key without a shape is known by its name alone, and then only if it holds a digit: `password: required` is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

_VALUE = r"(?=[^\s\"'\\,;&<>{}()\[\]\u2022\d]{0,128}\d)[^\s\"'\\,;&<>{}()\[\]\u2022$`]{8,}"
_BREAK = r"(?:\s|\\[nr])"  # as it stands in a text, or in one that is quoted in another
_COOKIE = r"[^\s=;\"'\\\u2022]{1,100}"
_BY_PREFIX = (
    r"[spr]k-[A-Za-z0-9_-]{16,}",  # OpenAI, Anthropic, OpenRouter
    r"[spr]k_(?:live|test)_[A-Za-z0-9]{16,}",
    r"(?:hf|api_org|gsk|fw|gh[oprsu]|github_pat|glpat|npm|tgp_v1|shp[a-z]{2}|dop_v1|lsv2_[a-z]{2})[_-]"
    r"(?=[A-Za-z_-]{0,128}[A-Za-z0-9]{12})[A-Za-z0-9_-]{16,}",
    r"(?:xai|nvapi|pplx|csk|sess|GOCSPX)-(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{20,}",
    r"r8_[A-Za-z0-9]{30,}",
    # GitLab: runners, deployments, builds, triggers, feeds, mail, agents, applications.
    r"(?:glrtr?|gldt|glcbt|glptt|glft|glimt|glagent|gloas|glsoat)-(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_.-]{20,}",
    r"rpa_[A-Za-z0-9]{30,}",  # RunPod
    r"sb_secret_[A-Za-z0-9_-]{20,}",  # Supabase
    r"(?:esecret|jina|phx|e2b|vc[kpi]|cpk|syt|bb_(?:live|test)|glc|nvpk)_"
    r"(?=[A-Za-z]{0,64}\d)(?=[A-Za-z0-9]{12})[A-Za-z0-9_+/=.-]{20,}",  # Anyscale, Jina, PostHog, E2B, Vercel, …
    r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{40,}",  # Pinecone
    r"wandb_v1_(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{40,}",
    r"re_[A-Za-z0-9]{6,12}_(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{18,}",  # Resend
    r"sk_[0-9a-f]{40,}",  # ElevenLabs
    r"tvly-(?:dev-|prod-)?(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{20,}",  # Tavily
    r"pa-(?=[A-Za-z_-]{0,128}\d)(?=[A-Za-z0-9]{12})[A-Za-z0-9_-]{40,}",  # Voyage
    r"NRAK-[A-Z0-9]{27}\b",  # New Relic
    r"sgp_(?=[A-Za-z_]{0,128}\d)[A-Za-z0-9_]{40,}",  # Sourcegraph
    r"fc-[0-9a-f]{32}\b",  # Firecrawl
    r"bce-v3/ALTAK-[A-Za-z0-9/]{32,}",  # Baidu
    r"AKID[A-Za-z0-9]{32}\b",  # Tencent
    r"AQ\.Ab[A-Za-z0-9_-]{30,}",  # Google
    r"ATBB[A-Za-z0-9]{28,}",  # Bitbucket
    r"LLM\|\d{10,20}\|[A-Za-z0-9_-]{20,}",  # Meta
    r"dapi[0-9a-f]{32}",
    r"SK[0-9a-f]{32}",
    r"(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"ABSK[A-Za-z0-9+/=]{40,}",
    r"bedrock-api-key-[A-Za-z0-9+/=_-]{16,}",
    r"AIza[A-Za-z0-9_-]{30,}",
    r"ya29\.[A-Za-z0-9._-]{20,}",
    r"(?:xox[abeprs]|xapp)-[A-Za-z0-9-]{10,}",
    r"SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    r"pypi-AgE[A-Za-z0-9_-]{32,}",
    r"AGE-SECRET-KEY-1[0-9A-Z]{20,}",
    r"hv[sbr]\.(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{20,}",
    r"(?:whsec|dckr_pat|lin_api|glsa|rubygems|sntry[su]|rnd|figd)_(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_+/=-]{20,}",
    r"(?:tskey-[a-z]{3,10}|sq0[a-z]{3}|PMAK|xkeysib)-(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{16,}",
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[A-Za-z0-9_-]{1,40}\.)?(?=[A-Za-z]{0,128}\d)[A-Za-z0-9]{20,}",
    r"ATATT3[A-Za-z0-9_=-]{20,}",
    r"sbp_[0-9a-f]{40}",
    r"ntn_\d{6,20}[A-Za-z0-9]{20,}",
    r"LTAI[A-Za-z0-9]{16,}",
    r"key-[0-9a-f]{32}\b",
    r"[ps]k\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{8,}",
    r"eyJ(?:hdXRocyI6|rIjoi)[A-Za-z0-9+/=_-]{16,}",  # a file of logins to registries, in base64; Grafana
    r"LS0tLS1CRUdJTi(?:BQUklWQVRF|BSU0EgUFJJVkFUR|BFQyBQUklWQVRF|BPUEVOU1NIIFBSSVZBVE|BFTkNSWVBURUQgUFJJVkFUR)"
    r"[A-Za-z0-9+/=]{8,}",  # a private key in base64
)
_NAMES = (
    r"(?:api|access|account|secret|private|subscription|signing|encryption|shared[-_]?access)[-_ ]?key"
    r"|client[-_]?secret|secret|password|passwd|passphrase"
    r"|(?:access|ad|api|auth|bearer|hf|id|refresh|security|session|github)[-_]?token"
)

_QUERY_NAMES = "key|token|auth|sig|signature|code|pwd|x-amz-(?:signature|credential|security-token)"
_WORDS_OF_PREFIXES = (
    "dapi", "akid", "atbb", "llm|", "sk", "akia", "asia",
    "absk", "aiza", "atatt3", "eyjhdxrocyi6", "eyjrijoi", "ltai", "ls0tls1crudjti",
)  # fmt: skip


class Shape(NamedTuple):
    """A pattern, the words without one of which, in small letters, no text can match it, and what else has to hold."""

    pattern: re.Pattern[str]
    words: tuple[str, ...]
    is_secret: Callable[[str], bool] = bool


def shape(pattern: str, *words: str) -> Shape:
    """Return a shape of this pattern."""
    return Shape(re.compile(pattern), words)


SHAPES = (
    shape(rf"\b(?:{'|'.join(_BY_PREFIX)})", *"-_.", *_WORDS_OF_PREFIXES),
    shape(r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,}", ":aa"),  # Telegram
    # Keys of Azure have their mark in the middle.
    shape(r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{8,40}", "jqqj99"),
    shape(r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])", "q~"),  # Azure, too
    # A token that signs or encrypts JSON: three parts, the last of which may be empty, or five.
    shape(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3}", "eyj"),
    # A private key: its lines, and the short ones before its end.
    shape(
        r"(-----BEGIN (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)?-----)"
        rf"(?:{_BREAK}*+(?:[A-Za-z0-9+/=]{{16,}}+|[A-Za-z][A-Za-z-]{{2,20}}: [^\n\\\"'\u2022]{{1,100}}+))++"
        rf"(?:{_BREAK}*+[A-Za-z0-9+/=]{{1,80}}+(?={_BREAK}*+(?:-----END|=[A-Za-z0-9+/]{{4}})))?"
        rf"(?:{_BREAK}*+=[A-Za-z0-9+/]{{4}}(?={_BREAK}*+-----END))?",
        "private key",
    ),
    shape(r"((?i:\bbearer) )[A-Za-z0-9._~+/=-]{8,}", "bearer "),
    shape(
        r"((?i:\bbearer)(?:\s|\\[nrt]|[>|+\"'`\\]){1,16})(?=[A-Za-z._~+/=-]{0,128}\d)[A-Za-z0-9._~+/=-]{8,}",
        "bearer",
    ),
    # A password in an address, with `@` or without, or a token that stands there alone.
    shape(
        r"(?<=://)(?!\u2022)(?:[^/@\s:\"'\\]*:[^/?#\s\"'`\\<>|]{1,200}|[^/@\s:\"'\\]{16,})(?=@[\w.\[])", "://"
    ),
    # A part of an address that says of the next one what it is.
    shape(
        r"(https?://[^\s\"'<>\\]{1,200}?/(?i:api[-_]?key|key|token|secret|auth|access[-_]?token)s?/)"
        r"(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}(?![A-Za-z0-9._-])",
        "://",
    ),
    # A part of an address that nobody would write by hand.
    shape(
        r"(https?://[^\s\"'<>\\]{1,200}?/)(?=[a-zA-Z]{0,64}\d)(?=[a-z0-9]{0,64}[A-Z])(?=[A-Z0-9]{0,64}[a-z])"
        r"[A-Za-z0-9]{24,}(?![A-Za-z0-9._-])",
        "://",
    ),
    shape(rf"(?i)([?&;](?:{_NAMES}|{_QUERY_NAMES})=){_VALUE}", "="),
    shape(r"(\bhooks\.slack\.com/services/|/api/webhooks/\d{10,24}/)[A-Za-z0-9/_-]{16,}", "hooks"),
    # A shell variable that is set to a key, not one that takes it from another variable or command, nor one covered.
    shape(
        r"((?<![A-Za-z0-9_])(?!(?:BOS|EOS|PAD|UNK|SEP|CLS|MASK|STOP|IMAGE)_TOKEN)(?:[A-Z0-9]+_)*"
        r"(?:API_?KEY|ACCESS_KEY|SECRET_KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)=\\?[\"']?)(?![$<{`\[*\u2022])"
        r"(?:(?<=\")[^\"\\\n]{4,}|(?<=')[^'\\\n]{4,}|(?<==)[^\s\"'\\]{4,})",
        "key=", "token=", "secret=", "passw", "credential",
    ),
    shape(
        r"(\b(?:setx|setenv|set -[A-Za-z]{1,3}) [A-Z0-9_]{0,64}(?:KEY|TOKEN|SECRET|PASSWORD)[A-Z0-9_]{0,16} \\?[\"']?)"
        + _VALUE,
        "set",
    ),
    # A header, a field or an assignment, whatever the language: `api-key: 0123456789abcdef`.
    shape(
        rf"(?i)((?:{_NAMES})(?:[-_]?\d)?\\?[\"']?\]? ?(?:=>|:=|[:=]) ?\\?[\"']?){_VALUE}",
        "key", "secret", "passw", "passphrase", "token",
    ),
    shape(
        rf"((?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?:api-?key|token|password|secret)[ =]\\?[\"']?){_VALUE}", "--"
    ),
    # The scheme of an `Authorization` is a word; what comes after it is base64, in which letters mix, or holds a digit.
    shape(
        r"(?i)(\bauthorization\\?[\"']?\]?[:=] ?\\?[\"']?(?:[a-z][a-z-]{2,19} )?)"
        r"(?=[A-Za-z._~+/-]{0,128}[\d=])[A-Za-z0-9._~+/=-]{8,}",
        "authorization",
    ),
    shape(
        r"((?i:\bauthorization)\\?[\"']?\]?[:=] ?\\?[\"']?[Bb]asic )(?=[a-z]{0,128}[A-Z])(?=[A-Z]{0,128}[a-z])"
        r"[A-Za-z0-9+/=]{8,}",
        "authorization",
    ),
    shape(
        r"((?i:\b(?:set-)?cookie)\\?[\"']?: ?\\?[\"']?)(?=[^;]{8})"
        rf"{_COOKIE}=[^\s;\"'\\\u2022]+(?:; ?{_COOKIE}(?:=[^\s;\"'\\\u2022]*)?)*",
        "cookie",
    ),
    # User and password as commands are told them; two numbers are user and group.
    shape(
        r"((?<!\w)(?:-u|--user|-U|--proxy-user)[ =]?[\"']?[^\s:\"'\\\u2022-][^\s:\"'\\\u2022]{0,99}:)(?!\d+(?!\S))"
        r"[^\s\"'\\\u2022$\[]{4,}",
        "-u", "-user",
    ),
)  # fmt: skip

# Those that need no name before them: a key broken over lines is looked for by these alone.
ALONE = SHAPES[:5]
