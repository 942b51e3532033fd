r"""Errors in words that no table lists: found by their shape and class, and distinguished from other programs' errors.

    SomeError: words                    an exception, alone or at the end of a traceback, in any language
    ERROR module: words                 a line of a log
    words                               a short text that says what a class of errors says
    {\"message\": \"words\"                 a body that was cut, or escaped, so that it is no JSON any more

A text counts if its words are of chat requests alone, or if something around them is: a module of an engine or client,
an address, a field of a request. An error of anything else is named as such, and nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Refusal
from prompt_debugger.core.evidence.errors.found import FoundError
from prompt_debugger.core.evidence.errors.other_languages import links_of_rust
from prompt_debugger.core.evidence.errors.sentences import COUNTED
from prompt_debugger.core.evidence.errors.statements import MAX_ALONE, Statement, statements_in
from prompt_debugger.core.evidence.errors.tracebacks import (
    EXCEPTION,
    FRAME,
    TRACEBACK,
    place_of,
    raised_without_words,
)
from prompt_debugger.core.evidence.no_errors.data import drop_documents
from prompt_debugger.core.evidence.no_errors.documentation import is_heading
from prompt_debugger.core.evidence.no_errors.manuals import drop_guidance, is_manual
from prompt_debugger.core.evidence.no_errors.names import drop_names, has_come
from prompt_debugger.core.evidence.no_errors.programs import is_field_of_calls, is_source
from prompt_debugger.core.evidence.no_errors.wording import is_of_page
from prompt_debugger.core.known_errors import Cause, Classified, classes_of, speaker_of

_SCORE = 0.62  # less than that of a log, which is read with the error in it
SCORE_ALONE = 0.61  # of an exception whose words say nothing that is known: it counts if it is all of a text
# How a text begins that is a log, or what a program printed.
_LOGGED = re.compile(
    r"\W{0,4}(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d|(?:ERROR|FATAL|CRITICAL)\b(?! ?=)"
    r"|(?:Error|error)(?: \w{1,20}){0,3}(?:: |\n)|[\w.-]{1,40} {1,20}\| )"
)
_FOREIGN = re.compile(
    r"psycopg|sqlalchemy|redis|mysql|mariadb|pymongo|mongodb|smtplib|kafka|celery"
    r"|paramiko|selenium|playwright|sqlite|postgres",
    re.IGNORECASE,
)
# What other programs log and print of their own work: logins, packages, images, a compiler.
_OF_OTHERS = re.compile(
    r"\bReceived disconnect from [\d.:a-f]{7,40}: \d|\bauthentication failed from \d|\bsshd(?:\(\w{1,20}\))?\[\d"
    r"|\bpam_unix\(|\bopenldap\b|\bLDAP\b|pip's dependency resolver|Failed to pull image"
    r"|\berror(?:\[|: ?|, )E0\d{3}\b"
    r"|\berror: (?:could not compile `|failed to (?:run custom build command|parse manifest|select a version"
    r"|load source|download (?:from )?`|get `))",
    re.IGNORECASE,
)
# The logs of daemons, which count unless a word in them is of chat requests.
_OF_DAEMONS = re.compile(
    r"\bsystemd(?:-\w{1,20})?\[\d{1,7}\]: |\[\d{1,7}\] (?:ERROR|FATAL|LOG|STATEMENT|DETAIL|HINT):  "
    r"|\bWORKER TIMEOUT \(pid:\d"
    r"|\bError response from daemon\b|\bpassword authentication failed for user\b|\btoo many clients already\b"
    r"|\[(?:error|crit|alert|emerg)\] \d{1,7}#\d{1,7}: |\brelation \"[^\"\n]{1,80}\" does not exist\b|\bapache2?\[\d"
    r"|\b(?:kernel|cron|dockerd|containerd|postfix/\w{1,20}|dovecot|named|ntpd|chronyd|NetworkManager)"
    r"(?:\[\d{1,7}\])?: "
)
# A proxy's error about a request to an address that serves no model.
# `I use vLLM and get `openai_harmony.HarmonyError`.`
_MET = re.compile(
    r"\b(?:I|[Ww]e) (?:[^\n.`]{1,80} )?(?:get|got|see|saw|hit|receive) (?:an? |the )?"
    r"`(?P<name>[\w.]{3,80}(?:Error|Exception))`"
)
_PROXIED = re.compile(
    r"request: \"[A-Z]{3,7} (?!\S*(?:/v\d|chat|complet|generat|messages|model|respons|embed|/api/|infer|predict))/"
)
_SENTENCE = re.compile(r"(?:[^\W\d_]{2,}[ ,]+){2}[^\W\d_]{2,}")  # three words in a row
_WHEN_RAISED = re.compile(
    r"\W{0,3}(?:is |are )?(?:raised|thrown|occurs|happens|returned|emitted) (?:if|when|by|for|on|with)\b"
)
_COUNTED = re.compile(rf"(?i) ?{COUNTED}")
_OURS = re.compile(r"\. (?:Guilty|Probable) stage: [a-z]+\.?(?:\s|\Z)")  # a verdict of this program
_RAISES = re.compile(r"\braise [A-Z]\w{2,60}(?:Error|Exception)\(")
# A class in an expression, a name in place of one that a program puts in, a pattern; and what describes a field.
_OF_CODE = re.compile(
    r"\btype\(\w{1,40}\) is \w|\bisinstance\(|<(?:name|tool|tool_name|path|url|key|value)>(?:`|\W{0,3}\Z)"
    r"|\br\"[^\"|]{1,80}\||, or `(?:null|None)` (?:if|when)\b|\A(?:For|When|If) [^,]{1,80}, this field\b"
)
# A timeout that does not say what was waited for: any program may report one.
_ONLY_TIMED = re.compile(
    r"(?i)(?=[^\n]*\d)"
    r"(?:\W|\b(?:error|with|timed?|out|timeout|after|in|of|\d[\d.]{0,8} ?(?:m?s|sec\w{0,5}|min\w{0,5}))\b)++"
)
_OF_CHAT = re.compile(
    r"(?<![A-Za-z])(?:llms?|litellm|vllm|sglang|llama[\w.-]{0,20}|ollama|lm ?studio|openai|anthropic|claude|gemini"
    r"|vertex ?ai|bedrock|openrouter|groq|mistral\w{0,10}|qwen[\w.-]{0,20}|deepseek|kimi|glm-\d[\w.-]{0,20}"
    r"|minimax|gpt-[\w.-]{1,20}"
    r"|chat[ _.]?completion(?:s|stream|request|chunk)?|completions?|tokenizer"
    r"|tool[ _]?(?:calls?|choice|use)|tool messages?|function call\w{0,3}"
    r"|chat[_ ]template|(?:system|assistant) (?:message|prompt)s?|max_(?:completion_)?tokens|response[_ ]format"
    r"|reasoning(?:_content)?|thinking|structured[ _](?:outputs?|data|generation)|(?:finish|stop)[_ ]reason"
    r"|assistant['\"`]? role|role=?:? ?['\"`]?(?:assistant|system|tool|user)"
    r"|(?:no|empty|missing|multiple|without) (?:\w{1,20} ){0,2}choices|choices in (?:the )?(?:response|answer)"
    r"|(?:model|assistant) (?:returned|responded|produced|generated|responses?|outputs?|messages?|turns?)"
    r"|content blocks?"
    r"|langchain(?:4j)?|langgraph|spring[ .-]?ai|springframework\.ai|semantic ?kernel|chatlas|crewai"
    r"|llama_?index|pydantic[_ ]ai|smolagents|dspy|instructor|mcp|agents?|prompts?|context (?:length|window)|inference"
    r"|huggingface|transformers|gguf|o?mlx)\b|/v1/|\b(?:messages|input|choices|contents|tools)(?:\[\d|\.\d{1,4}\.)"
    r"|/api/(?:chat|generate|tags|version)|:11434|ai_apicallerror|ai_\w{3,40}error"
    r"|tool_?(?:call|use)(?:_?id|s|block|part|chunk|message|result)?\b|tool_?(?:message|invocation)\b|function_?call"
    r"|tool_?execution_?requests?\b|\btool_?executors?\b",
    re.IGNORECASE,
)
# What a traceback of a chat template has, if nothing else in it shows what is rendered.
_OF_MESSAGES = re.compile(r"\bmessages?\b|\brole\b|generation_prompt|conversation|\"<(?:template|unknown|string)>\"")
_RENDERS = re.compile(r"\brender(?:_\w{1,30})?\(")  # the source line at which a program renders something
_FOLDERS = re.compile(
    r"File \"(?:[^\"\n]{0,200}[/\\](?:site|dist)-packages[/\\]|[^\"\n]{0,200}[/\\](?=[^\"\n/\\]{1,200}\"))"
)
_FURTHER_LINE = re.compile(r"\n(?![ \t]+\S)")  # that is no frame and does not continue the line above it
_UNASSIGNED = re.compile(r"name '(\w{1,80})' is not defined")  # of the program itself, whatever it is about
_QUOTED_LAST = re.compile(r"(?<=: )[\"`]([^\"`]{15,600})[\"`]\W{0,3}\Z")


def error_by_meaning(text: str, whole: str = "") -> FoundError | None:
    """Return the error of a chat request that a text is about, by what its words mean; else `None`.

    Args:
        text: The text, without the heads of a log's lines.
        whole: The text with them, which show whose log it is.
    """
    if len(text) > MAX_ALONE * 40:
        text = text[-MAX_ALONE * 40 :]
    whole = whole[-MAX_ALONE * 40 :] or text
    text = drop_guidance(drop_documents(text))
    is_foreign = (_OF_OTHERS.search(whole) is not None and speaker_of(whole) is None) or (
        _OF_DAEMONS.search(whole) is not None and not is_about_chat(whole)
    )
    statements = () if is_foreign or is_source(text) or is_manual(text) else tuple(statements_in(text))
    statements = tuple(one for one in statements if _is_met(one, text) or not _is_of_others(one))
    if not statements:
        return None
    is_of_chat, around = is_about_chat(whole), text[-4_000:]
    rest: list[Statement] = []
    without_reason: Statement | None = None
    for statement in statements:
        sentence = f"{statement.name}: {statement.words}" if statement.name else statement.words
        found = next(classes_of(sentence, around), None)
        if found is not None and not statement.name and _only_names(statement.words, around, whole):
            continue
        if found is None:
            rest.append(statement)
        elif found.error.is_distinctive or is_of_chat or _is_of_connection(found, statement, text):
            statement = _quoted_alone(statement, found)
            if found.error.has_reason:
                return FoundError(_refusal(statement), _SCORE)
            without_reason = without_reason or statement
    if without_reason is not None:
        return FoundError(_refusal(without_reason), _SCORE)
    return _error_by_shape(rest, text, whole, is_of_chat=is_of_chat)


def _error_by_shape(rest: Sequence[Statement], text: str, whole: str, *, is_of_chat: bool) -> FoundError | None:
    """Return an error whose words say nothing that is known, by its form and by what it is in."""
    named = next((one for one in rest if one.is_shaped and one.name), None)
    if named is not None and speaker_of(whole) is not None:
        return FoundError(_refusal(named), _SCORE)
    if named is not None and is_of_chat and _is_alone(whole):
        return FoundError(_refusal(named), SCORE_ALONE)
    if is_chain_of_others(whole):
        return None
    reported = next((one for one in rest if one.is_shaped), None)
    is_logged = _LOGGED.match(text.strip()) is not None and EXCEPTION.search(text) is None
    is_answer = is_of_chat and _status(text.strip()) is not None
    if reported is not None and len(text) <= MAX_ALONE * 2 and (is_logged or is_answer):
        return FoundError(_refusal(reported), _SCORE)
    return None


def _is_alone(text: str) -> bool:
    """Return whether a text is one exception with its words and nothing else, or a traceback that ends with it."""
    stripped = text.strip()
    if EXCEPTION.match(stripped) is None:
        last = stripped.rpartition("\n")[2]
        return TRACEBACK in stripped and "\n\n\n" not in stripped and EXCEPTION.match(last) is not None
    is_listed = stripped.startswith(("- ", "* ", "#"))
    return len(stripped) <= MAX_ALONE and not is_listed and _FURTHER_LINE.search(stripped) is None


def _is_met(said: Statement, text: str) -> bool:
    """Return whether the words are the name of an exception, and someone writes that they got it."""
    met = _MET.search(text)
    return met is not None and said.words == met["name"]


def _is_of_others(said: Statement) -> bool:
    """Return whether words are source, a field of calls, of a page, or a proxy's error about some other page."""
    words = said.words
    if _OURS.search(words) is not None:
        return True
    if _WHEN_RAISED.match(words) is not None or (not said.name and is_of_page(words)):
        return True
    is_source_line = _RAISES.search(words) is not None or _OF_CODE.search(words) is not None
    return is_source_line or is_field_of_calls(words) or is_heading(words) or _PROXIED.search(words) is not None


def _only_names(words: str, around: str, text: str) -> bool:
    """Return whether words are of an error only by a name in a sentence, and nothing says that it came."""
    bare = drop_names(words)
    if bare == words or not _SENTENCE.search(drop_names(text)) or has_come(text):
        return False
    return next(classes_of(bare, around), None) is None


def _quoted_alone(statement: Statement, found: Classified) -> Statement:
    """Return a sentence as what it quotes at its end, where that alone says the same: the rest is a person's."""
    quoted = _QUOTED_LAST.search(statement.words)
    if statement.name or quoted is None:
        return statement
    same = next(classes_of(quoted[1]), None)
    return statement if same is None or same.error is not found.error else statement._replace(words=quoted[1])


def _is_of_connection(found: Classified, statement: Statement, text: str) -> bool:
    """Return whether a client did not get its answer, of any server but a database and the like."""
    is_waiting = found.error.cause is Cause.CONNECTION and statement.is_shaped and _FOREIGN.search(text) is None
    return is_waiting and _ONLY_TIMED.fullmatch(statement.words) is None


def is_about_chat(text: str) -> bool:
    """Return whether a text has a sign of chat requests: a program that handles them, an address, a field.

    Of a frame's path the package counts, and no folder above it: a user's name or a project's says nothing.
    """
    if is_of_other_template(text):
        return False
    return _OF_CHAT.search(_FOLDERS.sub('File "', text)) is not None or speaker_of(text) is not None


def is_chain_of_others(text: str) -> bool:
    """Return whether a text is a chain of causes, as Rust prints it, in which nothing is of chat requests."""
    return bool(links_of_rust(text)) and not is_about_chat(text)


def is_of_other_template(text: str) -> bool:
    """Return whether a text is a traceback of Jinja in a program that has nothing to do with chats, as a web page's."""
    if "jinja2" not in text or FRAME.search(text) is None or _RENDERS.search(text) is None:
        return False
    speaker = speaker_of(text)
    if speaker is not None and speaker.title != "Jinja":
        return False
    return _OF_CHAT.search(_FOLDERS.sub('File "', text)) is None and _OF_MESSAGES.search(text) is None


def other_program(text: str) -> str | None:
    """Return a sentence on an error that has nothing to do with chat requests; `None` if it is no such error."""
    found = list(EXCEPTION.finditer(text[-MAX_ALONE * 40 :]))
    if not found:
        return raised_without_words(text)
    unassigned = _UNASSIGNED.match(found[-1].string, found[-1].end()) if found[-1][1] == "NameError" else None
    if unassigned is not None and speaker_of(text) is None:
        return (
            f"This is an error of the program itself (`NameError`): it uses `{unassigned[1]}` before anything assigns "
            "it. In a notebook, run the cell that does so first. It says nothing of a request, a template or an answer."
        )
    if is_about_chat(text):
        return None
    frames = list(FRAME.finditer(text))
    where = f", raised in {place_of(frames[-1])}" if frames else ""
    return (
        f"This is an error of a program (`{found[-1][1].rpartition('.')[2]}`{where}); nothing in it speaks of a chat "
        "request, a chat template, a model or its answer."
    )


def _refusal(statement: Statement) -> Refusal:
    return Refusal(_status(statement.words), statement.words, None, statement.name or None)


def _status(words: str) -> int | None:
    found = re.search(
        r"\b(?:status(?: ?code)?|HTTP|error code|error)\W{0,3}([45]\d\d)\b"
        r"|\A\W{0,3}([45]\d\d)(?= [A-Z])",
        words,
        re.IGNORECASE,
    )
    return None if found is None or _COUNTED.match(words, found.end()) else int(found[1] or found[2])
