r"""Errors that a text contains and no server reported: of people, of templates' source, of a model's own code.

User: I get an error when I log in.                             a conversation about something else
tool: Error: no such seat                                       a tool of an agent, in its transcript
{{- raise_exception("roles must alternate") }}                  the source of a template
- Error 1001: Network connection issue                          a list of codes
{"role": "user", "content": "Error: no such file"}              what a person or an agent's environment wrote
{"observation": "bash: line 2: syntax error", "thought": …}     what an agent saw, and thought of it
test_get_404 (api.tests.Views) ... ok                           a test that ran
WARNING … Import error msg: No module named 'x'                 what a healthy program logs
"""

from __future__ import annotations

import re

from prompt_debugger.core.evidence.no_errors.docstrings import drop_docstrings
from prompt_debugger.core.evidence.no_errors.release_notes import drop_release_notes

_TURN = re.compile(
    r"(?:\A|(?<=\n)|(?<=\\n))[ \t'\"]{0,4}(?P<who>User|Customer|Client|Caller|Human|Agent|Assistant|Support|Operator"
    r"|Representative|Bot|AI|Advisor|user|assistant|agent|tool): (?:(?!\\n)[^\n])*"
)
_OF_USER = re.compile(r"\b[Tt]he user(?:'s|\u2019s)?\b")
_MIN_OF_USER = 3
_MIN_TURNS = 3
_MAX_TURNS = 2_000
_RAISES = re.compile(r"\braise_exception\(\s{0,20}(?:\"[^\"\n]{0,600}\"|'[^'\n]{0,600}')")
_OF_HELM = re.compile(r"\{\{-? ?[^{}\n]{0,200}\b(?:required|fail) [^{}\n]{0,600}\}\}")
_CODES = re.compile(
    r"(?:^[ \t]{0,8}(?:[-*+\u2022]|\d{1,2}[.)]) {1,3}[*`_]{0,3}(?:Error|Code|ERR)[ _-]?(?:[Cc]ode )?[A-Z]{0,3}\d{2,5}\b"
    r"[^\n]*(?:\n|\Z)){2,}",
    re.MULTILINE,
)
# The text of a message that no model wrote, in JSON or as Python prints it.
_ROLE = r"(?P<q>['\"])role(?P=q): ?(?P=q)(?:user|system|developer)(?P=q)"
_TEXT = r"(?P=q)content(?P=q): ?(?:\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+')"
_WRITTEN = re.compile(rf"{_ROLE},\s{{0,40}}{_TEXT}", re.DOTALL)
_STEP = re.compile(r'"(?:observation|thought|response|action)": ?"(?:[^"\\]|\\.)*+"', re.DOTALL)
_STEPS = ('"observation": "', '"thought": "')
_TEST = re.compile(
    r"(?m)^(?:test_\w{1,200} (?:\([\w.]{1,300}\)[^\n]*|(?:ok|[FEfwsX])\b[^\n]*)"
    r"|(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) [\w./-]{1,300}\.py::[^\n]*|(?:ERROR|FAIL): test_\w{1,200} \([^\n]*)"
)
# How transformers' agents and smolagents head the parts of their logs, and the error of code that the model wrote.
_AGENT = re.compile(
    r"(?m)^(?:={3,} (?:New task|Agent thoughts:)|(?:>>>|={3,}) Agent is executing the code below:"
    r"|\u256d\u2500+ New run|\u2500 Executing (?:this|parsed) code: \u2500)"
)
_RUN_OF_CODE = re.compile(
    r"(?m)^(?:Code execution failed|Failed while trying to execute the code below)[^\n]*\n"
    r"(?:(?!={3,}|>>> |\u256d|\u2501)[^\n]*(?:\n|\Z))*"
)
# Lines of programs that go on: nothing is wrong with the request, or with what answers it.
_HARMLESS = (
    (
        re.compile(
            r"(?m)^(?:[^\n]{0,80}\blevel=WARN source=[\w/]{1,40}\.go:\d{1,6} msg=\"invalid option provided\"[^\n]*\n?)+"
        ),
        "a warning of Ollama, which does not know an option of the request and leaves it out",
    ),
    (
        re.compile(r"(?m)^[^\n]{0,80}\bImport error msg: No module named '[\w.]{1,80}'[^\n]*"),
        "a log's line on a package",
    ),
    (
        re.compile(
            r"(?m)^[^\n]{0,200}_auth\.py:\d{1,5}: UserWarning:[^\n]*\n(?:[^\n]+\n){0,6}?  warnings\.warn\([^\n]*"
        ),
        "a warning of huggingface_hub about a token",
    ),
    (
        re.compile(r"(?m)^[^\n]{0,80}\bUnrecognized keys in `rope_\w{1,20}` for 'rope_type'='\w{1,30}'[^\n]*"),
        "a warning of transformers about the model's `config.json`",
    ),
    (
        re.compile(
            r"(?m)^(?:[^\n]{0,200}\.py:\d{1,6}: UserWarning: Pydantic serializer warnings:[ \t]*\n"
            r"(?:[ \t]+(?:PydanticSerialization|Expected )[^\n]*(?:\n|\Z)){1,40}(?:[ \t]+return [^\n]*(?:\n|\Z))?)+"
        ),
        "a warning of pydantic, which was given objects of another class than it expects",
    ),
)


def drop_unreported(text: str) -> str:
    r"""Return a text without the errors in it that no server reported.

    >>> drop_unreported("User: An error: no!\nAgent: Which?\nUser: Error 5.\n\nError: the server died")
    '\n\n\n\nError: the server died'
    """
    if ": " in text and len(_speakers(text)) > 1:
        text = _TURN.sub("", text)
    if "raise_exception(" in text:
        text = _RAISES.sub("raise_exception(", text)
    if "{{" in text:
        text = _OF_HELM.sub("", text)
    if "role" in text:
        text = _WRITTEN.sub("", text)
    if all(key in text for key in _STEPS):
        text = _STEP.sub("", text)
    for line, _ in _HARMLESS:
        text = line.sub("", text)
    if "test_" in text or "::" in text:
        text = _TEST.sub("", text)
    return drop_docstrings(drop_release_notes(_CODES.sub("", text)))


def drop_code_errors(text: str) -> str | None:
    """Return an agent's log without the errors of code that its model wrote; `None` of any other text."""
    changed = _RUN_OF_CODE.sub("", text) if is_agents_log(text) else text
    return changed if changed != text else None


def is_agents_log(text: str) -> bool:
    """Return whether a text is the log of an agent that runs code which its model writes."""
    return _AGENT.search(text) is not None


def is_judgement(words: str) -> bool:
    """Return whether words are a model's on its user: no program says *the user* again and again.

    >>> is_judgement("Error, the user's aim is X. The user has no Y; the user must."), is_judgement("The user is 1.")
    (True, False)
    """
    return sum(1 for _ in zip(_OF_USER.finditer(words), range(_MIN_OF_USER), strict=False)) == _MIN_OF_USER


def is_retrieved(text: str) -> bool:
    """Return whether a text is what Python printed of documents that a search found: their words report nothing."""
    return "Document(metadata=" in text and text.lstrip()[:1] in ("'", '"', "[")


def harmless(text: str) -> str | None:
    """Return a sentence on a text that is a warning of a program which goes on; `None` of any other."""
    found = next((words for line, words in _HARMLESS if line.fullmatch(text.strip()) is not None), None)
    return None if found is None else f"This is {found}: the program goes on, and no request was refused."


def _speakers(text: str) -> set[str]:
    """Return who speaks in a conversation that a text contains; none of a text with fewer turns."""
    who = [found["who"] for found, _ in zip(_TURN.finditer(text), range(_MAX_TURNS), strict=False)]
    return {*who} if len(who) >= _MIN_TURNS else set()
