"""What a secret looks like: patterns that each take time linear in the text.

Group 1, if there is one, is kept: the name before a key. No pattern takes a quote or half an escape, so
that a text which was JSON or code stays what it was; none takes `•` or `[removed]`, so that what is covered stays so.
A key without a shape is known by its name alone, and then only if it contains a digit: `password: required` is prose.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

_FREE = r"[^\s\"'\\,;&<>{}()\[\]\u2022$`]"  # a character of a value without quotes
_VALUE = r"(?=[^\s\"'\\,;&<>{}()\[\]\u2022\d]{0,128}\d)" rf"{_FREE}{{8,}}"
_BREAK = r"(?:\s|\\[nr])"  # as it occurs in a text, or in one that is quoted in another
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
    # Notion, Square, Netlify, Fly, Heroku, Airtable, PlanetScale, Prefect, Nomic, Modal, Asana, Dropbox, Terraform, …
    r"secret_(?=[A-Za-z]{0,64}\d)[A-Za-z0-9]{40,}",
    r"(?:[a-z0-9]{1,12}[_-]){0,2}(?:tok|tkn|token|pat|secret|pw|apikey)_(?:[a-z]{1,12}_)?"
    r"(?=[A-Za-z]{0,64}\d)(?=[0-9]{0,64}[A-Za-z])[A-Za-z0-9]{24,}(?:\.[A-Za-z0-9_-]{16,})?",
    r"EAAA(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{56,}",
    r"(?:nfp|pnu|HRKU)[_-](?=[A-Za-z_-]{0,64}\d)(?=[A-Za-z0-9]{12})[A-Za-z0-9_-]{32,}",
    r"fm[12][ar]?_[A-Za-z0-9+/=]{24,}",
    r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}\b",
    r"(?:nk|ak|as)-(?=[A-Za-z]{0,64}\d)(?=[a-z0-9]{0,64}[A-Z])[A-Za-z0-9]{22,}",
    r"sl\.(?:u\.)?(?=[A-Za-z_-]{0,128}\d)[A-Za-z0-9_-]{100,}",
    r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_-]{60,}",
    r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40}(?![A-Za-z0-9_.-])",  # Discord
    r"[0-9a-f]{32}\.(?=[A-Za-z]{0,15}\d)(?=[a-z0-9]{0,15}[A-Z])[A-Za-z0-9]{16}(?![A-Za-z0-9_.-])",  # Zhipu
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
NAMES = (
    r"(?:api|access|account|secret|private|subscription|signing|encryption|shared[-_]?access)[-_ ]?key"
    r"|client[-_]?secret|secret|password|passwd|passphrase"
    r"|(?:access|ad|api|auth|bearer|hf|id|refresh|security|session|github)[-_]?token"
)

_QUERYNAMES = "key|token|auth|sig|signature|code|pwd|x-amz-(?:signature|credential|security-token)"
_WORDS_OF_PREFIXES = (
    "dapi", "eaaa", "akid", "atbb", "llm|", "sk", "akia", "asia",
    "absk", "aiza", "atatt3", "eyjhdxrocyi6", "eyjrijoi", "ltai", "ls0tls1crudjti",
)  # fmt: skip


_KINDS = ("lower", "upper", "digit")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_LONG_RUN = re.compile(r"[A-Za-z0-9+/]{32,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


class Shape(NamedTuple):
    """A pattern, words in lower case of which every match has one, and what else has to hold."""

    pattern: re.Pattern[str]
    words: tuple[str, ...]
    is_secret: Callable[[str], bool] = bool


def shape(pattern: str, *words: str) -> Shape:
    """Return a shape of this pattern."""
    return Shape(re.compile(pattern), words)


def is_drawn(text: str) -> bool:
    """Return whether a text looks drawn by lot, not chosen as a name is.

    >>> is_drawn("q7Zt9Kx2Wm4Vb8Nc3Rj6"), is_drawn("Qwen2.5-Coder-32B-Instruct"), is_drawn("max_tokens_to_sample_1")
    (True, False, False)
    """
    if _UUID.fullmatch(text):
        return True
    return any(_mixes(run, 0.3) and any(map(str.isdigit, run)) and not run.isdigit() for run in _RUN.findall(text))


def mixes_case(text: str) -> bool:
    """Return whether a long text is drawn by lot although it happens to have no digit.

    >>> mixes_case("cTdadDlLeDJXbTRWYjhOYzNSajZaZDVMczFEZjBH"), mixes_case("AnotherVeryLongNameOfAClassInJavaCode")
    (True, False)
    """
    return any(_mixes(run, 0.45) for run in _LONG_RUN.findall(text))


def _mixes(run: str, share: float) -> bool:
    kinds = [_KINDS[character.isupper() + 2 * character.isdigit()] for character in run]
    return sum(one != other for one, other in pairwise(kinds)) >= share * len(run)


def _is_no_word(text: str) -> bool:
    return any(map(str.isdigit, text[:129])) or mixes_case(text)


SHAPES = (
    shape(rf"\b(?:{'|'.join(_BY_PREFIX)})", *"-_.", *_WORDS_OF_PREFIXES),
    shape(r"(?<!\d)\d{8,10}:AA[A-Za-z0-9_-]{30,}", ":aa"),  # Telegram
    shape(r"(?<![\w/])[12](?:/\d{12,20}){1,2}:[0-9a-f]{32}\b", "/"),  # Asana
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
    # A password in an address, with `@` or without, or a token alone in that place.
    shape(
        r"(?<=://)(?!\u2022)(?:[^/@\s:\"'\\]*:[^/?#\s\"'`\\<>|]{1,200}|[^/@\s:\"'\\]{16,})(?=@[\w.\[])", "://"
    ),
    # A part of an address that says of the next one what it is.
    shape(
        r"(https?://[^\s\"'<>\\]{1,200}?/(?i:api[-_]?key|key|token|secret|auth|access[-_]?token)s?/)"
        r"(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{16,}(?![A-Za-z0-9._-])",
        "://",
    ),
    # A part of an address that no one would write by hand.
    shape(
        r"(https?://[^\s\"'<>\\]{1,200}?/)(?=[a-zA-Z]{0,64}\d)(?=[a-z0-9]{0,64}[A-Z])(?=[A-Z0-9]{0,64}[a-z])"
        r"[A-Za-z0-9]{24,}(?![A-Za-z0-9._-])",
        "://",
    ),
    shape(rf"(?i)([?&;](?:{NAMES}|{_QUERYNAMES})=){_VALUE}", "="),
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
    Shape(
        re.compile(
            rf"(?i)((?:{NAMES})(?:[-_]?\d)?\\?[\"']?\]? ?(?:=>|:=|[:=]) ?\\?[\"']?|[?&](?:sig|signature)=)"
            rf"{_FREE}{{8,}}"
        ),
        ("key", "secret", "passw", "passphrase", "token", "sig"),
        _is_no_word,
    ),
    shape(
        rf"((?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?:api-?key|token|password|secret)[ =]\\?[\"']?){_VALUE}", "--"
    ),
    # The scheme of an `Authorization` is a word; what comes after it is base64, in which letters mix, or contains a
    # digit.
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
    # User and password as commands take them; two numbers are user and group.
    shape(
        r"((?<!\w)(?:-u|--user|-U|--proxy-user)[ =]?[\"']?[^\s:\"'\\\u2022-][^\s:\"'\\\u2022]{0,99}:)(?!\d+(?!\S))"
        r"[^\s\"'\\\u2022$\[]{4,}",
        "-u", "-user",
    ),
)  # fmt: skip

# Those that need no name before them: a key broken over lines is looked for by these alone.
ALONE = SHAPES[:6]
