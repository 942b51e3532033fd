"""Secrets known by the line they are in: a sentence that names one, code that fills it in, a file's own columns.

As in `secret_shapes`, group 1 is kept, and no quote is taken without its other half. A sentence and a template name
much that is not a secret, so what they name has to look random, or to be in quotes with both digits and letters.
"""

from __future__ import annotations

import re

from prompt_debugger.core.report.secret_shapes import Shape, is_drawn, shape

DRAWN = r"[A-Za-z0-9][A-Za-z0-9_+/=.~-]{15,}"
_FREE = r"[^\s\"'\\\u2022$`<>{}()\[\],;|&]"
_START = r"(?:(?m:^)|(?<=\\n)|(?<=[\"'`>\s]))"
_END = r"(?=\s|\\[nr]|\\?[\"'`<]|$)"
_FOREIGN = (
    "passwort", "kennwort", "schlüssel", "mot de passe", "clé ", "contraseña", "clave", "chiave", "senha", "chave",
    "wachtwoord", "hasło", "парол", "ключ", "密码", "密碼", "密钥", "密鑰", "口令", "パスワード", "비밀번호", "şifre",
    "lösenord", "passord", "adgangskode",
)  # fmt: skip
_NAMED = (
    r"(?:passwort|kennwort|(?:api-?|zugangs|geheim)schlüssel|mot de passe|clé (?:d['\u2019]api|api|secrète)|contraseña"
    r"|clave (?:de )?api|chiave (?:api|segreta)|senha|chave (?:de )?api|wachtwoord|hasło|парол[ья]|ключ api"
    r"|密[码碼钥鑰]|口令|パスワード|비밀번호|şifre|lösenord(?:et)?|passord(?:et)?|adgangskode[nr]?)"
)
# At most five words, as in `Mein Passwort für den Server ist …`; Chinese and Japanese put no space there.
_IS = r"(?:\s?[是为為はが는은]|(?:\s[^\W\d_]{1,12}){0,5}\s?[:\uff1a=]?)\s?(?:\\?[\"'`]|[*„“«「]){0,3}"


def drawn(pattern: str, *words: str) -> Shape:
    """Return the shape of a value that has to look drawn by lot."""
    return Shape(re.compile(pattern), words, is_drawn)


LINES = (
    drawn(rf"(?i)({_NAMED}{_IS})(?-i:{DRAWN})", *_FOREIGN),
    # A password that a person chose, in quotes: `mein Passwort ist "…"`.
    shape(
        r"(?i)(\b(?:my|our|mein|unser|mon|mi|il mio|minha|mijn|moje) (?:password|passphrase|"
        rf"{_NAMED})[ \w]{{0,20}}?:? ?(\\?[\"'`]))(?=[^\"'`\\\s\d]{{0,64}}\d)(?=[\d\W]{{0,64}}[a-z])"
        r"[^\"'`\\\s\u2022\[\]{}$]{6,64}(?=\2)",
        "passw", "passphrase", *_FOREIGN,
    ),
    # Code that fills it in: `f"Bearer {'…'}"`, `"Bearer {}".format("…")`, `"Bearer %s" % "…"`, `["Bearer", "…"]`.
    drawn(rf"((?i:\bbearer)(?:%s|\.format|[\s\"'`,{{}}\[\]()$%+\\]){{1,16}}){DRAWN}", "bearer"),
    # A line of `.pgpass`: host, port, database, user, password; at a port of PostgreSQL whatever it is.
    shape(
        rf"({_START}(?:[\w.-]{{1,100}}|\*):(?:54\d\d|6432|6543|\*):(?!\d{{1,9}}:)(?:[\w-]{{1,64}}|\*):"
        rf"(?:[\w.@-]{{1,64}}|\*):){_FREE}{{4,200}}{_END}",
        ":54", ":6432:", ":6543:", ":*:",
    ),
    # A header of someone's own, by what its name ends in.
    drawn(
        r"(?i)((?<![\w-])x-(?!idempotency|request|trace)(?:[a-z0-9]{1,20}-){0,4}?(?:auth|key|token|secret|credential)"
        rf"\\?[\"']?\s?:\s?\\?[\"']?)(?-i:{DRAWN})",
        "x-",
    ),
    # Variables of an environment that is written as JSON or YAML.
    shape(
        r"((?<![A-Za-z0-9_])(?:[A-Z0-9]{1,20}_){1,5}(?:PASS|PWD)\\?[\"']?: ?(\\?[\"']))"
        r"(?!true\b|false\b|none\b|null\b|no\b|yes\b)(?![$<{`\[*\u2022/])[^\"'\\\n\u2022]{4,200}(?=\2)",
        "_pass", "_pwd",
    ),
    # Settings and commands.
    drawn(rf"({_START}pass(?:word)?2?\s?=\s?){DRAWN}", "pass"),
    shape(r"((?<![\w-])(?:psk|wpa_passphrase) ?= ?(\\?[\"']))(?!\[)[^\"'\\\n\u2022]{8,63}(?=\2)", "psk", "wpa_"),
    shape(rf"(\b(?:cmdkey|runas)\b[^\n\u2022]{{0,120}}?\s/pass:)(?!\[){_FREE}{{3,}}", "/pass:"),
    shape(r"(\bsips?:[^\s:@\"'\\\u2022]{1,64}:)(?!\[)[^\s:@\"'\\\u2022]{4,100}(?=@)", "sip"),
    shape(r"(\{S?SHA(?:256|512)?\})[A-Za-z0-9+/]{20,}={0,2}", "sha"),
)  # fmt: skip
