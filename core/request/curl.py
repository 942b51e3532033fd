"""A pasted `curl` command → the body it would send, and the server it would send it to.

Nothing is run, and nothing but the body and the server's address is kept: around
them there are keys, certificates, credentials and other commands.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.text import line_column
from prompt_debugger.core.base.types import Notice
from prompt_debugger.core.request.json_text import JsonText, locate_in_json
from prompt_debugger.core.request.places import Draft, Path, Place
from prompt_debugger.core.request.servers import Named, base_of_url, named_in_url
from prompt_debugger.core.request.shell import Word, split_commands

BODY_OPTIONS = ("--data", "--data-raw", "--data-binary", "--data-ascii", "--json", "-d")
FILE_OPTIONS = ("-F", "--form", "--form-string", "-T", "--upload-file")

# Options whose next word is theirs, and no server's address. Source: `curl --help all` of curl 7.88.1, and the manual
# page of curl 8.17 for what came later.
WITH_VALUE = frozenset(
    {
        "-A", "-b", "-c", "-C", "-D", "-e", "-E", "-F", "-H", "-K", "-m", "-o", "-P", "-Q", "-r", "-t", "-T", "-u",
        "-U", "-w", "-x", "-X", "-y", "-Y", "-z", "--abstract-unix-socket", "--alt-svc", "--aws-sigv4", "--cacert",
        "--capath", "--cert", "--cert-type", "--ciphers", "--config", "--connect-timeout", "--connect-to",
        "--continue-at", "--cookie", "--cookie-jar", "--create-file-mode", "--crlfile", "--curves", "--data-urlencode",
        "--delegation", "--dns-interface", "--dns-ipv4-addr", "--dns-ipv6-addr", "--dns-servers", "--doh-url",
        "--dump-header", "--ech", "--egd-file", "--engine", "--etag-compare", "--etag-save", "--expect100-timeout",
        "--form", "--form-string", "--ftp-account", "--ftp-alternative-to-user", "--ftp-method", "--ftp-port",
        "--ftp-ssl-ccc-mode", "--happy-eyeballs-timeout-ms", "--haproxy-clientip", "--header", "--hostpubmd5",
        "--hostpubsha256", "--hsts", "--interface", "--ip-tos", "--ipfs-gateway", "--keepalive-cnt", "--keepalive-time",
        "--key", "--key-type", "--krb", "--libcurl", "--limit-rate", "--local-port", "--login-options", "--mail-auth",
        "--mail-from", "--mail-rcpt", "--max-filesize", "--max-redirs", "--max-time", "--netrc-file", "--noproxy",
        "--oauth2-bearer", "--output", "--output-dir", "--parallel-max", "--pass", "--pinnedpubkey", "--preproxy",
        "--proto", "--proto-default", "--proto-redir", "--proxy", "--proxy-cacert", "--proxy-capath", "--proxy-cert",
        "--proxy-cert-type", "--proxy-ciphers", "--proxy-crlfile", "--proxy-header", "--proxy-key", "--proxy-key-type",
        "--proxy-pass", "--proxy-pinnedpubkey", "--proxy-service-name", "--proxy-tls13-ciphers", "--proxy-tlsauthtype",
        "--proxy-tlspassword", "--proxy-tlsuser", "--proxy-user", "--proxy1.0", "--pubkey", "--quote", "--random-file",
        "--range", "--rate", "--referer", "--request", "--request-target", "--resolve", "--retry", "--retry-delay",
        "--retry-max-time", "--sasl-authzid", "--service-name", "--sigalgs", "--socks4", "--socks4a", "--socks5",
        "--socks5-gssapi-service", "--socks5-hostname", "--speed-limit", "--speed-time", "--stderr", "--telnet-option",
        "--tftp-blksize", "--time-cond", "--tls-max", "--tls13-ciphers", "--tlsauthtype", "--tlspassword", "--tlsuser",
        "--trace", "--trace-ascii", "--trace-config", "--unix-socket", "--upload-file", "--upload-flags", "--url-query",
        "--user", "--user-agent", "--variable", "--vlan-priority", "--write-out",
    }
)  # fmt: skip


_CURL = re.compile(r"(?:^|[\s;&|(`])curl(?:\.exe)?[ \t\\^]", re.IGNORECASE)
_BROKEN_KEY = re.compile(r'"(?:\w+\n\w*|\w*\n\w+)"\s{0,9}:')
_EXPLICIT = re.compile(r"[a-z][\w+.-]*://", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:[^\s/@]*@)?(?:[\w.-]+(?::\d+)?/|[\w.-]+:\d+\Z|localhost\Z|[\w-]+(?:\.[\w-]+)+\Z)|\S*[$`{]", re.IGNORECASE
)


@dataclass(slots=True)
class _Command:
    """The parts of one curl command that matter here."""

    data: list[tuple[str, Word, int]] = field(default_factory=list)
    urls: list[Word] = field(default_factory=list)
    sends_file: bool = False

    @property
    def url(self) -> Word | None:
        """The server's address: what says `http` first, for a bare word may be the value of an unknown option."""
        explicit = (word for word in self.urls if _EXPLICIT.match(word.text))
        return next(explicit, next((word for word in self.urls if _ADDRESS.match(word.text)), None))


def _nowhere(_paths: Collection[Path]) -> Mapping[Path, Place]:
    """Find nothing in a text that lacks characters."""
    return {}


def has_curl(text: str) -> bool:
    """Return whether a text seems to hold a curl command."""
    return _CURL.search(text[:20_000]) is not None


def read_curl(text: str) -> Draft:
    """Read the first curl command of a shell text.

    Raises:
        RequestError: A quote is left open, the command sends no body, or the body is not JSON.
    """
    text = _bare(text)
    command = _collect(_curl_words(text))
    if not command.data and command.sends_file:
        raise RequestError(
            "The curl command sends a form or a file, not a chat request.",
            "Paste a command with its JSON as `-d '{…}'`.",
        )
    if not command.data:
        raise RequestError(
            "The curl command sends no body.",
            "Paste the command with its `-d '{…}'`; a here-document's text can be pasted on its own, as JSON.",
        )
    option, word, offset = command.data[0]
    body = word.text[offset:]
    is_broken = _BROKEN_KEY.search(body) is not None
    if is_broken:  # by the width of a terminal
        body = body.replace("\n", "")
    _refuse_file(option, body, text, word)
    if len(command.data) > 1:
        raise _error(text, command.data[1][1], "The curl command gives more than one body.", "Keep one `-d`.")
    reader = JsonText(body)
    try:
        value = reader.read()
    except RequestError as error:
        raise _moved(error, text, word, offset, body) from None
    notices = [_moved_notice(notice, text, word, offset, body) for notice in reader.notices]
    notices += [
        Notice("", f"The shell would have replaced `{name}`; it is kept unchanged.")
        for name in dict.fromkeys(word.expansions[:10])
    ]
    base_url, named = None, Named()
    if command.url is not None:
        named = named_in_url(command.url.text)
        base_url, remarks = base_of_url(command.url.text)
        notices += [Notice("", message, *line_column(text, command.url.start)) for message in remarks]
    locate = _nowhere if is_broken else _Locator(text, word, offset, body)
    return Draft(value, "curl", locate, text, base_url, tuple(notices), *named)


def _bare(text: str) -> str:
    """Return a text that is code between backticks without them; its places stay."""
    code = text.strip()
    if len(code) < 2 or not code.startswith("`") or not code.endswith("`") or code.count("`") != 2:
        return text
    return f"{text[: text.index('`')]} {code[1:-1]} "


def _curl_words(text: str) -> tuple[Word, ...]:
    for words in split_commands(text):
        for index, word in enumerate(words):
            if word.text.lower().rpartition("/")[2] in ("curl", "curl.exe"):
                return words[index + 1 :]
    raise RequestError("The text contains no curl command.", "Paste the whole command, starting with the word `curl`.")


def _collect(words: tuple[Word, ...]) -> _Command:
    command = _Command()
    remaining = iter(words)
    for word in remaining:
        option, attached = _option(word.text)
        if option is None:
            command.urls.append(word)
            continue
        if option not in WITH_VALUE and option not in BODY_OPTIONS and option != "--url":
            continue
        command.sends_file = command.sends_file or option in FILE_OPTIONS
        value, offset = word, attached
        if attached is None:
            following = next(remaining, None)
            if following is None:
                break
            value = following
        if option in BODY_OPTIONS:
            command.data.append((option, value, offset or 0))
        elif option == "--url":
            command.urls.append(value)
    return command


def _option(text: str) -> tuple[str | None, int | None]:
    """Return the option of a word that takes a value, and where an attached value begins.

    A bundle of short options counts as its last one: `-sSd` is `-d`.
    """
    if not text.startswith("-") or text == "-":
        return None, None
    if text.startswith("--"):
        name, equals, _ = text.partition("=")
        return name, (len(name) + 1 if equals else None)
    for index, letter in enumerate(text[1:50], start=1):
        option = f"-{letter}"
        if option in WITH_VALUE or option in BODY_OPTIONS:
            return option, (index + 1 if index + 1 < len(text) else None)
    return text[:2], None


def _refuse_file(option: str, body: str, text: str, word: Word) -> None:
    if body.startswith("@") and option != "--data-raw":
        name = "standard input" if body[1:] == "-" else f"the file {shorten(body[1:], 60)}"
        raise _error(text, word, f"The curl command reads its body from {name}.", "Paste the JSON itself.")


@dataclass(frozen=True, slots=True)
class _Locator:
    text: str
    word: Word
    offset: int
    body: str

    def __call__(self, paths: Collection[Path]) -> Mapping[Path, Place]:
        found = locate_in_json(self.body, paths)
        return {path: _place(self.text, self.word, self.offset, self.body, place) for path, place in found.items()}


def _place(text: str, word: Word, offset: int, body: str, place: Place) -> Place:
    """Turn a place of the decoded body into one of the pasted text."""
    line_start = 0
    for _ in range(place.line - 1):
        line_start = body.index("\n", line_start) + 1
    return Place(*line_column(text, word.source_offset(offset + line_start + place.column - 1)))


def _moved(error: RequestError, text: str, word: Word, offset: int, body: str) -> RequestError:
    place = _place(text, word, offset, body, Place(error.line or 1, error.column or 1))
    hint = error.hint or "An apostrophe inside '…' ends the shell's quote; write it as '\\''."
    return RequestError(error.message, hint, line=place.line, column=place.column, field=error.field)


def _moved_notice(notice: Notice, text: str, word: Word, offset: int, body: str) -> Notice:
    place = _place(text, word, offset, body, Place(notice.line or 1, notice.column or 1))
    return Notice(notice.field, notice.message, place.line, place.column)


def _error(text: str, word: Word, message: str, hint: str) -> RequestError:
    line, column = line_column(text, word.start)
    return RequestError(message, hint, line=line, column=column)
