"""Secrets beside their name, whatever stands between: a table, a tuple, a pair of `name` and `value`, a sentence.

Where the place proves little, the value has to look drawn by lot: long, of one piece, its letters and digits mixed.
As in `secret_shapes`, group 1 is kept and time grows no faster than the text.
"""

from __future__ import annotations

import re

from prompt_debugger.core.report.secret_shapes import NAMES, Shape, is_drawn, shape

_VARIABLE = r"(?-i:[A-Z][A-Z0-9_]{0,40}_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD))"
_NAME = rf"(?:{NAMES}|{_VARIABLE}|authorization|cookie|session(?:[-_]?id)?)"
_BETWEEN = (
    r"(?:\\[nrt]|[\s\"'`,|:=>(\[{*\\]){1,16}(?:[>|]-\s{1,40})?"
    r"(?:b(?=\\?[\"']))?\\{0,3}[\"']?(?:(?:is|was|value|--body)(?:\\{0,3}[\"'])?[ :=\"'`*\\]{1,8})?"
    r"(?:(?:token|basic|apikey) )?"
)
_DRAWN = r"[A-Za-z0-9][A-Za-z0-9_+/=.~-]{15,}"
_FREE = r"[^\s\"'\\,;&<>{}()\[\]\u2022$`]"


def _drawn(pattern: str, *words: str) -> Shape:
    return Shape(re.compile(pattern), words, is_drawn)


_WORDS = ("key", "secret", "passw", "passphrase", "token", "authorization", "cookie", "session", "_pwd", "_pass")
BESIDE_NAMES = (
    _drawn(rf"(?i)({_NAME}{_BETWEEN}){_DRAWN}", *_WORDS),
    _drawn(rf"(?i)((?<![\w-])token\\{{0,3}}[\"']?\s?[:=]\s?\\{{0,3}}[\"']?){_DRAWN}", "token"),
    # A password that a person chose, where nothing else can stand.
    shape(
        r"((?<![\w-])name\\?[\"']?: ?\\?[\"']?[A-Z0-9_]{0,40}(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|ACCESS_KEY)"
        r"\\?[\"']?,?(?:\s|\\n){1,40}\\?[\"']?value\\?[\"']?: ?\\?[\"']?)" rf"{_FREE}{{4,}}",
        "name",
    ),
    shape(rf"(?i)(<(?:[\w.-]{{0,40}}[_:.-])?(?:{NAMES})>)(?![$\[]){_FREE}{{6,200}}(?=</)", ">"),
    shape(
        r"(?i)(\btype=\\?[\"']password\\?[\"'][^<>\n]{0,120}?\bvalue=\\?[\"'])[^\"'\\<>\n\u2022\[]{3,200}",
        "password",
    ),
    shape(
        r"((?<![\w-])(?:host|hostaddr|user|dbname|port)=[^\s=\"'\\\u2022]{1,100} "
        r"(?:[a-z_]{1,30}=[^\s=\"'\\\u2022]{1,100} ){0,6}?password=\\?[\"']?)"
        r"(?:(?<=')[^'\"\\\n\u2022]{3,}|(?<==)(?![$\[{<])[^\s\"'\\\u2022]{3,})",
        "password=",
    ),
    shape(rf"(::add-mask::){_FREE}{{4,}}", "::add-mask::"),
    shape(r"(insecure-api-key\.)[A-Za-z0-9_-]{8,}", "insecure-api-key"),
    shape(r"((?i:\b(?:negotiate|ntlm|kerberos)) )[A-Za-z0-9+/=]{24,}", "negotiate", "ntlm", "kerberos"),
    # A cookie as curl, or a browser for it, writes it down.
    shape(r"(\t(?:TRUE|FALSE)\t/[^\t\n]{0,100}\t(?:TRUE|FALSE)\t\d{1,20}\t[^\t\n]{1,100}\t)[^\s\u2022\[]{4,}", "\t"),
    shape(rf"(\bcookies\\?[\"']?\s?[=:]\s?\{{\s?\\?[\"'][\w.-]{{1,60}}\\?[\"']: ?\\?[\"']){_FREE}{{6,}}", "cookies"),
    # Private keys that are no PEM: of JSON and of PuTTY.
    shape(r"((?<![\w-])\\?[\"'](?:d|p|q|dp|dq|qi|k)\\?[\"'] ?: ?\\?[\"'])[A-Za-z0-9_-]{40,}", "\"kty", "'kty"),
    shape(
        r"(Private-Lines: \d{1,4}(?:\r?\n|\\n))(?:[A-Za-z0-9+/=]{16,}(?:\r?\n|\\n)){0,200}[A-Za-z0-9+/=]{16,}",
        "private-lines",
    ),
    # What passwords are kept as: with it they can be guessed.
    shape(r"(?<![\w$])\$(?:2[aby]|apr1|[156y]|argon2(?:id?|d))\$[A-Za-z0-9./=,$+]{20,200}", "$"),
)  # fmt: skip
