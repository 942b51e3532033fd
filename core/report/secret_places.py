"""Secrets known by the place where they stand: after the option of a command, in the settings of a tool, in a call.

As in `secret_shapes`: group 1 is kept, time grows no faster than the text, no quote is taken without its other half.
A password that a person chose has no shape, so each place is one where nothing else can stand.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

from prompt_debugger.core.report.secret_shapes import Shape, shape

_QUOTE = r"\\?[\"']?"
_FREE = r"[^\s\"'\\\u2022$`<>{}()\[\],;|&]"  # a character of a value that stands without quotes
_VALUE = (  # as an argument of a command: in quotes whatever it is, but for a variable
    r"(?:(?<=\")(?![$`\[\u2022])[^\"\\\n\u2022]{3,200}(?=\\?\")|(?<=')(?![$`\[\u2022])[^'\\\n\u2022]{3,200}(?=\\?')"
    rf"|(?<![\"'])(?!-){_FREE}{{3,200}})"
)
_DIGIT = rf"(?={_FREE}{{0,128}}\d){_FREE}{{4,200}}"
_REST = r"[^\n|;&\u2022]{0,160}?"  # what may stand between a command and its option
_STDIN = "(?:--(?:password|passphrase|token)-stdin|--with-token)"
_BREAK = r"(?:\s|\\[nr])"


def _option(options: str, commands: str, *words: str, value: str = _VALUE) -> Shape:
    """Return the shape of what an option of a command is told."""
    return shape(rf"((?<![\w.-])(?:{commands})\b{_REST}\s{options}{_QUOTE}){value}", *words)


def contains_login(text: str) -> bool:
    """Say whether a text is a name and a password, as tools for containers and packages write them down.

    >>> holds_login("bWU6aHVudGVyMg=="), holds_login("required")
    (True, False)
    """
    try:
        login = b64decode(text, validate=True).decode("ascii")
    except (Error, ValueError):
        return False
    return ":" in login and login.isprintable()


PLACES = (
    # What commands are told without an option, or by one that says little.
    shape(rf"(\bwandb{_BREAK}{{1,4}}login{_BREAK}{{1,4}}(?:--?[a-z-]{{1,20}}(?:=[^\s]{{1,99}})?{_BREAK}{{1,4}}){{0,4}}{_QUOTE})"
          r"[A-Za-z0-9_]{30,}", "wandb"),
    shape(rf"(\bwandb\.login\([^)\n]{{0,80}}?key ?= ?{_QUOTE}){_DIGIT}", "wandb.login"),
    shape(
        rf"(\b(?:ngrok (?:config )?(?:add-)?authtoken|vastai set api-key|runpodctl config --apiKey"
        rf"|modal token set --token-secret) {_QUOTE}){_DIGIT}",
        "authtoken", "vastai", "runpodctl", "modal",
    ),
    # The parts of an `Authorization` that has many: each may stand in quotes of its own.
    shape(
        r"(?i)(\bauthorization\\?[\"']?\]?[:=] ?\\?[\"']?"
        r"(?:digest|oauth|hawk|mac|token|apikey|signature|aws4-[a-z0-9-]{4,20}) )"
        r"[a-z_-]{1,40}=(?:\\?\"[^\"\\\n\u2022]{0,4000}\\?\"|[^\s,\"'\\\u2022\[]{1,2000})"
        r"(?:, {0,4}[a-z_-]{1,40}=(?:\\?\"[^\"\\\n\u2022]{0,4000}\\?\"|[^\s,\"'\\\u2022]{1,2000}))*",
        "authorization",
    ),
    shape(
        r"((?<![\w-])(?:response|cnonce|mac|oauth_(?:signature|token|consumer_key))=\\?[\"'])"
        r"(?=[A-Za-z+/=%_.~-]{0,128}\d)[A-Za-z0-9+/=%_.~-]{16,}",
        "response=", "cnonce=", "mac=", "oauth_",
    ),
    shape(
        r"((?i:\bauthorization)\\?[\"']?\]?[:=] ?\\?[\"']?(?i:sharedkey(?:lite)?|aws) [\w.-]{1,64}:)[A-Za-z0-9+/=]{8,}",
        "authorization",
    ),
    # What commands are told. `mysql -p db` asks for the password of a database.
    _option("-p", r"mysql[a-z]{0,12}|mariadb(?:-[a-z]{1,12})?|sshpass|7z[az]?", "mysql", "mariadb", "sshpass", "7z"),
    _option(
        r"(?:-p|--password)[ =]",
        r"sshpass|mongo[a-z]{0,8}|cypher-shell|cqlsh"
        r"|(?:docker|podman|nerdctl|buildah|skopeo|crane|oras|registry|repo|cf|oc|az|argocd) (?:auth )?login",
        "sshpass", "mongo", "cypher-shell", "cqlsh", " login",
    ),
    _option(
        "-P ?", r"sqlcmd|bcp|tsql|isql|mosquitto_[a-z]{3,4}|zip|unzip", "sql", "bcp", "mosquitto", "zip", value=_DIGIT
    ),
    _option("(?:-a|--pass)[ =]", "redis-cli", "redis-cli"),
    _option("-w ?", "ldap[a-z]{3,8}", "ldap", value=_DIGIT),
    _option("-[kK] ", "openssl", "openssl"),
    _option("-pass(?:in|out)? pass:", "openssl", "openssl"),
    _option(rf"(?:-a|--auth)[ =]{_QUOTE}[^\s:\"'\\\u2022]{{1,100}}:", "(?:https?|xhs?)(?= )", "http", "xh"),
    _option(rf"(?:-U|--user)[ =]?{_QUOTE}[^\s%\"'\\\u2022]{{1,100}}%", "smbclient|rpcclient", "client"),
    shape(rf"(\bvault login (?:-[a-z-]{{1,20}}[= ]\w{{1,20}} )?(?:token=)?){_DIGIT}", "vault login"),
    shape(rf"(--from-literal[ =]{_QUOTE}[\w.-]{{1,100}}=){_VALUE}", "--from-literal"),
    shape(
        r"((?<![\w-])--(?:[a-z]{1,20}-){0,3}(?:password|passwd|passphrase)=\\?[\"']?)"
        rf"(?![A-Z_]{{4,200}}(?![^\s\"'\\])){_VALUE}",
        "--",
    ),
    shape(rf"((?<![\w-])--(?:[a-z]{{1,20}}-){{0,3}}(?:passwd|passphrase|pass) {_QUOTE}){_DIGIT}", "--pass"),
    # What is told a command on its standard input.
    shape(
        rf"(\b(?:echo|printf)(?: -[neE]{{1,3}})?(?: \\?[\"']%s(?:\\{{1,2}}n)?\\?[\"'])? {_QUOTE}){_VALUE}"
        rf"(?=\\?[\"']?\s{{0,3}}\|{_REST}(?:{_STDIN}|--passphrase-fd|-pass(?:in)? stdin|\bsudo -S))",
        "-stdin", "-fd", "--with-token", " stdin", "sudo -s",
    ),
    shape(rf"({_STDIN}[^\n\u2022]{{0,160}}?<<< ?{_QUOTE}){_VALUE}", "<<<"),
    shape(
        rf"({_STDIN}[^\n\u2022]{{0,160}}?<<-? ?{_QUOTE}[A-Za-z]\w{{0,20}}{_QUOTE}"
        rf"[^\n\\\u2022]{{0,100}}(?:\n|\\n)[ \t]{{0,8}})(?![$`\[]){_FREE}[^\s\"'\\\u2022]{{2,}}",
        "<<",
    ),
    # Variables of tools that join their words, or say less than `PASSWORD`.
    shape(
        r"((?<![A-Za-z0-9_])"
        r"(?:[A-Z][A-Z0-9]{0,11}PASSWORD|SSHPASS|REDISCLI_AUTH|(?:[A-Z0-9]{1,20}_){1,5}(?:PWD|PASS|PASSPHRASE))"
        r"=\\?[\"']?)(?!true\b|false\b|none\b|null\b|no\b|yes\b)(?![$<{`\[*\u2022/])"
        r"(?:(?<=\")[^\"\\\n\u2022]{4,}|(?<=')[^'\\\n\u2022]{4,}|(?<==)[^\s\"'\\\u2022]{4,})",
        "password=", "_pwd=", "pass=", "_auth=", "passphrase=",
    ),
    shape(
        r"((?<![A-Za-z0-9_])(?:[A-Z0-9]{1,20}_){1,5}(?:PASSWORD|PASSWD|PASSPHRASE): ?(\\?[\"']))"
        r"(?![$<{`\[*\u2022])[^\"'\\\n\u2022]{4,200}(?=\2)",
        "passw", "passphrase",
    ),
    # Settings.
    shape(
        r"((?<![\w-])ansible_(?:[a-z]{1,20}_){0,2}pass(?:word)? ?[:=] ?\\?[\"']?)(?![{$\[])[^\s\"'\\\u2022]{3,}",
        "ansible_",
    ),
    shape(
        r"((?<![\w-])\\?[\"'](?:password|passwd|pwd|passphrase|secret|client_secret)\\?[\"'] ?(?:=>|[:=]) ?(\\?[\"']))"
        r"(?=[^\"'\\\n\u2022\d]{0,64}\d)(?!\[)[^\"'\\\n\u2022]{4,200}(?=\2)",
        "passw", "pwd", "passphrase", "secret",
    ),
    shape(rf"(:_password={_QUOTE})(?![$\[]){_FREE}{{4,}}", ":_password="),
    Shape(
        re.compile(r"((?<![\w-])_?auth\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?)[A-Za-z0-9+/]{8,}={0,2}(?![\w+/=-])"),
        ("auth",),
        contains_login,
    ),
    shape(
        rf"((?:(?m:^)|(?<=\\n)|(?<=[\"'`]))(?:machine{_BREAK}{{1,8}}[^\s\\\u2022]{{1,100}}|default)"
        rf"(?:{_BREAK}{{1,8}}(?:login|account){_BREAK}{{1,8}}[^\s\\\u2022]{{1,100}}){{1,2}}"
        rf"{_BREAK}{{1,8}}password{_BREAK}{{1,8}})[^\s\"'\\\u2022\[]{{3,}}",
        "machine", "default",
    ),
    shape(rf"(\blogin [^\s\u2022]{{1,100}} password ){_DIGIT}", "login "),
    shape(r"((?i:[;?&](?:password|pwd)=))(?![$<{%\[*\u2022])[^\s\"'\\,;&<>{}()\[\]\u2022]{3,}", "password=", "pwd="),
    shape(r"(\bjdbc:oracle:\w{1,10}:[^/\s@\"'\\\u2022]{1,64}/)[^@\s\"'\\\u2022\[]{1,200}(?=@)", "jdbc:oracle"),
    shape(r"((?i:[?&]x-goog-(?:signature|credential)=))[A-Za-z0-9%._~-]{8,}", "x-goog-"),
    shape(
        r"((?<![\w-])(?i:private|vault|x-vault|job|deploy|service)-(?i:token)\\?[\"']?: ?\\?[\"']?)"
        r"(?=[^\s\"'\\,;\u2022\d]{0,128}\d)[^\s\"'\\,;\u2022\[\]]{8,}",
        "-token",
    ),
    # A name and a password as code is given them.
    shape(
        r"((?<!\w)(?:auth\\?[\"']?\s?[=:]\s?\(|[A-Za-z]{0,16}(?:Basic|Digest|Proxy|Ntlm|NTLM)Auth\()\s{0,3}"
        r"(\\?[\"'])[^\"'\\\n\u2022]{0,100}\\?[\"']\s?,\s{0,3}\\?[\"'])(?![$<{`\[\u2022])[^\"'\\\n\u2022]{1,200}",
        "auth",
    ),
)  # fmt: skip
