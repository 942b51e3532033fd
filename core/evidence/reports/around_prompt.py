"""What the words and the program around a prompt say of it: that nothing was generated, that there were tools.

text = tok.apply_chat_template(messages, tools=[get_weather], tokenize=False)      the program renders alone,
print(text)                                                                        and passes tools
<bos><start_of_turn>user …                                                         the prompt
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.diagnose.calls.written_calls import TOOLS_SAID
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form
from prompt_debugger.core.evidence.readers.tutorial import READ_AS_OUTPUT
from prompt_debugger.core.evidence.reports.words_around import MAX_SENTENCE, SENTENCES

_MAX_CHARS = 60_000  # in which words are looked for
_RENDERS = re.compile(r"\bapply_chat_template\(")
_GENERATES = re.compile(
    r"(?i)generat(?!ion_prompt)|\.create\(|\.chat\(|\bpipeline\(|\.invoke\(|\bllm\b|output|response|answer|repl(?:y|ies)"
)
_IN_CODE = re.compile(r"\btools ?= ?(?!None\b|\[ ?\]|null\b)[\[\w]")
_IN_WORDS = re.compile(
    r"\b(?:I|we|is|are|was|were|request)\b[^.\n]{0,40}\b(?:pass(?:ed|es|ing)?|provid(?:e|es|ed|ing)|send|sends|sent|"
    r"sending|gave|giv(?:e|es|en|ing)|declar(?:e|es|ed|ing))\b[^.\n]{0,30}\btools?\b"
    r"|\btools? (?:is|are|was|were) (?:passed|provided|sent|given|declared)\b",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:should|could|would|must|can|cannot|if|when|unless|try|without|no|not|instead|never|or)\b|n['\u2019]t\b|\?\s*\Z",
    re.IGNORECASE,
)
_ONLY_RENDERED = "The program above the prompt renders it and generates nothing: what follows the prompt is no output."


def add_around_prompt(evidence: Evidence, text: str) -> Evidence:
    """Return evidence of a prompt with what its text says of how it was rendered.

    Args:
        evidence: What was read of the text.
        text: The whole text.
    """
    if evidence.prompt is None or evidence.form is Form.RUN or evidence.chat is not None:
        return evidence
    before, _, after = text[:_MAX_CHARS].partition(evidence.prompt[:200])
    around = f"{before}\n{after}"
    if evidence.raw is not None and _RENDERS.search(before) is not None and _GENERATES.search(before) is None:
        notes = tuple(note for note in evidence.notes if note != READ_AS_OUTPUT)
        evidence = replace(evidence, words="a prompt", raw=None, raw_reason="", notes=(*notes, _ONLY_RENDERED))
    return replace(evidence, notes=(*evidence.notes, TOOLS_SAID)) if _speaks_of_tools(around) else evidence


def _speaks_of_tools(around: str) -> bool:
    sentences = [one for one in SENTENCES.split(around) if len(one) <= MAX_SENTENCE]
    return any(
        _IN_CODE.search(one) is not None or (_IN_WORDS.search(one) is not None and _UNSURE.search(one) is None)
        for one in sentences
    )
