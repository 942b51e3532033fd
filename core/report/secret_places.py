"""Places of secrets: options of commands, headers, variables, and values next to a telling name."""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error

from prompt_debugger.core.report.secret_lines import DRAWN, drawn
from prompt_debugger.core.report.secret_shapes import NAMES, Shape, shape

# Places of secrets. As in `secret_shapes`, group 1 is kept, and no quote is taken without its other half. A password
# that a person chose has no shape, so each place is one where nothing else can occur.
_QUOTE = r"\\?[\"']?"
_FREE_IN_PLACE = r"[^\s\"'\\\u2022$`<>{}()\[\],;|&]"  # a character of a value without quotes
_VALUE = (  # as an argument of a command: in quotes whatever it is, but for a variable
    r"(?:(?<=\")(?![$`\[\u2022])[^\"\\\n\u2022]{3,200}(?=\\?\")|(?<=')(?![$`\[\u2022])[^'\\\n\u2022]{3,200}(?=\\?')"
    rf"|(?<![\"'])(?!-){_FREE_IN_PLACE}{{3,200}})"
)
_DIGIT = rf"(?={_FREE_IN_PLACE}{{0,128}}\d){_FREE_IN_PLACE}{{4,200}}"
_REST = r"[^\n|;&\u2022]{0,160}?"  # what may come between a command and its option
_STDIN = "(?:--(?:password|passphrase|token)-stdin|--with-token)"
_BREAK = r"(?:\s|\\[nr])"


def _option(options: str, commands: str, *words: str, value: str = _VALUE) -> Shape:
    """Return the shape of the value of a command's option."""
    return shape(rf"((?<![\w.-])(?:{commands})\b{_REST}\s{options}{_QUOTE}){value}", *words)


def contains_login(text: str) -> bool:
    """Return whether a text is a name and a password, as tools for containers and packages write them down.

    >>> contains_login("bWU6aHVudGVyMg=="), contains_login("required")
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
    # The parts of an `Authorization` that has several: each may have its own quotes.
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
        rf"[^\n\\\u2022]{{0,100}}(?:\n|\\n)[ \t]{{0,8}})(?![$`\[]){_FREE_IN_PLACE}[^\s\"'\\\u2022]{{2,}}",
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
    shape(rf"(:_password={_QUOTE})(?![$\[]){_FREE_IN_PLACE}{{4,}}", ":_password="),
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


_VARIABLE = r"(?-i:[A-Z][A-Z0-9_]{0,40}_(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD))"
_NAME = rf"(?:{NAMES}|{_VARIABLE}|authorization|cookie|session(?:[-_]?id)?)"
_BETWEEN = (
    r"(?:\\[nrt]|[\s\"'`,|:=>(\[{}*\\]){1,16}(?:[>|]-\s{1,40})?"
    r"(?:b(?=\\?[\"']))?\\{0,3}[\"']?(?:(?:is|was|value|--body)(?:\\{0,3}[\"'])?[ :=\"'`*\\]{1,8})?"
    r"(?:(?:token|basic|apikey) )?"
)
_FREE = r"[^\s\"'\\,;&<>{}()\[\]\u2022$`]"


_WORDS = ("key", "secret", "passw", "passphrase", "token", "authorization", "cookie", "session", "_pwd", "_pass")
BESIDE_NAMES = (
    drawn(rf"(?i)({_NAME}{_BETWEEN}){DRAWN}", *_WORDS),
    drawn(rf"(?i)((?<![\w-])token\\{{0,3}}[\"']?\s?[:=]\s?\\{{0,3}}[\"']?){DRAWN}", "token"),
    # Between name and value: a type, a tag of YAML, the default of a variable; or a class that contains only keys.
    drawn(rf"(?i)((?:{NAMES})\s?:\s?[\w.<>?]{{1,30}}\s?=\s?\\?[\"']){DRAWN}", *_WORDS),
    drawn(rf"(?i)((?:{NAMES})\\?[\"']?:\s?!\w{{1,20}}\s\\?[\"']?){DRAWN}", *_WORDS),
    drawn(
        rf"(?i)(\bvariable \\?[\"'][\w-]{{0,40}}(?:{NAMES})\\?[\"'] \{{"
        rf"[^{{}}]{{0,300}}?\bdefault\s{{0,9}}=\s{{0,9}}\\?[\"'])"
        rf"{DRAWN}",
        "variable ",
    ),
    drawn(
        rf"((?<!\w)(?:[A-Z]\w{{0,30}})?(?:Key|Secret|Token)(?:Credentials?|Str|Auth)\(\s?\\?[\"']){DRAWN}",
        "credential", "secretstr", "keyauth", "tokenauth",
    ),
    drawn(rf"(\s-A (?:bearer|basic) (?:-a|--auth)[ =]\\?[\"']?){DRAWN}", " -a "),
    # A password that a person chose, where nothing else can occur.
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
    # Private keys that are not in PEM form: those of JSON and of PuTTY.
    shape(r"((?<![\w-])\\?[\"'](?:d|p|q|dp|dq|qi|k)\\?[\"'] ?: ?\\?[\"'])[A-Za-z0-9_-]{40,}", "\"kty", "'kty"),
    shape(
        r"(Private-Lines: \d{1,4}(?:\r?\n|\\n))(?:[A-Za-z0-9+/=]{16,}(?:\r?\n|\\n)){0,200}[A-Za-z0-9+/=]{16,}",
        "private-lines",
    ),
    # What passwords are kept as: with it they can be guessed.
    shape(r"(?<![\w$])\$(?:2[aby]|apr1|[156y]|argon2(?:id?|d))\$[A-Za-z0-9./=,$+]{20,200}", "$"),
)  # fmt: skip
