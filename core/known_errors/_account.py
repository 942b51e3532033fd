"""The words and codes of errors about an account: its rate limit, its plan and billing, its key.

One list for both who asks what has to change, whatever else a text says (`named`), and who looks for the class of an
error that no table lists (`told`), which is asked after the classes that come before it.
"""

from __future__ import annotations

from typing import NamedTuple

STATUS = (
    r"(?:\A\W{0,3}(?=\d{3}(?!\s{1,20}(?:[\d.\[]|true\b|false\b)))"
    r"|(?:status|code|error|http|returned|got)\W{0,3}(?:code\W{0,3})?)"
)
"""What precedes the number of an HTTP status; the row of a table, with more numbers after it, is none."""


class AccountWords(NamedTuple):
    """What errors of one kind say.

    Attributes:
        named: Patterns of words that alone name the cause.
        pattern: Pattern of the words by which the class is found.
        codes: Codes and types of error that mean it.
    """

    named: tuple[str, ...]
    pattern: str
    codes: tuple[str, ...]


RATE = AccountWords(
    named=(
        r"rate[ _-]?limit|too many requests|throttl|\brequests? limit\b",
        r"\b(?:RPM|TPM|RPD|TPD)\b|\bretry (?:in|after) \d",
        r"\b(?:limit|quota|allocation|requests|tokens)\b.{0,60}\bper (?:second|minute|hour|day)\b|concurrency limit",
        r"\bper (?:second|minute|hour|day)\b.{0,40}\blimit|\bdaily (?:\w+ ){0,2}(?:limit|quota|allocation)",
        r"resource (?:has been )?exhausted(?! ?:? ?your)|并发|频率|限流",
    ),
    pattern=(
        rf"rate[ _-]?limit|too many requests|{STATUS}429\b"
        r"|(?:requests?|tokens?) per (?:min(?:ute)?|day|hour|second)|\b(?:tpm|rpm|rpd|tpd)\b|throttl"
        r"|resource[_ ]exhausted|(?:try|retry) again in \d|too many tokens, please wait"
    ),
    codes=("rate_limit_exceeded",),
)
QUOTA = AccountWords(
    named=(
        r"(?:insufficient|not (?:have )?enough)[ _](?:account[ _])?(?:balance|credits?|funds|quota)",
        r"balance is (?:insufficient|too low|not enough)",
        r"(?:credits?|quota) (?:(?:limit|is|are|was|has been|have been) )?"
        r"(?:exceeded|expired|exhausted|used up|too low)",
        r"(?:out of|ran out of|any|no|all available|no remaining|included|purchase more) credits?\b",
        r"exceeded your (?:current |monthly )?(?:quota|included credits|usage limit)|spending limit|overdue balance",
        r"(?:enter|add) a payment method|upgrade (?:your plan|to (?:a )?(?:paid|pro|plus|premium))\b",
        r"past invoices|plan and billing|in good standing|top up your balance",
        r"\bexceeded (?:(?:its|the|your|their) )?budget\b",
        r"free (?:tier|quota|allocation)\b.{0,60}\b(?:exhausted|used up)|余额不足|欠费|请充值",
    ),
    pattern=(
        r"insufficient[_ ](?:quota|balance|credits?|funds)"
        r"|(?:exceeded|over|out of|reached|no) (?:your |the )?(?:current |remaining |monthly |usage )?"
        r"(?:quota|credits?|balance|spend(?:ing)? limit)|billing (?:details|plan|period|account|cycle|hard|issue)"
        r"|(?:check|update|enable|your) (?:your )?(?:plan and )?billing\b|credit balance|payment required"
        rf"|{STATUS}402\b|arrear|account .{{0,30}}?(?:suspended|deactivated|overdue)"
        r"|\bbudget (?:has been |was |is |limit )?(?:exceeded|exhausted|reached|spent)"
        r"|\bexceeded (?:(?:its|the|your|their) )?budget\b"
        r"|quota (?:exceeded|exhausted|limit)|(?:weekly|monthly|usage|5-hour) limit"
    ),
    codes=(
        "insufficient_quota",
        "billing_hard_limit_reached",
        "exceeded_current_quota_error",
        "credit_limit",
    ),
)
ACCESS = AccountWords(
    named=(
        r"(?:incorrect|invalid|missing|wrong|expired|revoked) (?:api|subscription|secret|access)[ _-]?(?:key|token)",
        r"\b(?:api|subscription|secret)[ _-]?key (?:\w+ ){0,3}(?:not valid|invalid|incorrect|missing|expired|required)",
        r"api key not valid|not a valid api key|carry the API secret key|authentication (?:failed|error)",
        r"invalid (?:authentication )?credentials|身份验证|鉴权失败",
    ),
    pattern=(
        rf"{STATUS}401\b|unauthori[sz]ed"
        r"|(?:invalid|incorrect|missing|no|wrong|expired|malformed) (?:authentication|api[ _-]?key|x-api"
        r"-key|access token|auth(?:orization)?|credentials?|token provided|bearer)"
        r"|api[ _-]?key\b.{0,50}?(?:not (?:valid|found|set|provided|configured)|missing|invalid|is required"
        r"|expired|must be (?:set|provided)|incorrect|leaked)"
        r"|authentication(?:error| failed| fails| required|_error)|not authenticated"
        r"|(?:token|key|credentials?) (?:has |have |is |are )?expired|could not resolve authentication"
        r"|unable to locate credentials|authenticate|invalid subscription key|not currently signed in"
        r"|\Aauthorization failed\b"
    ),
    codes=(
        "invalid_api_key",
        "invalid_organization",
        "account_deactivated",
        "authentication_error",
    ),
)
