"""Lists of tokens in a text: a vocabulary's special tokens, and ids that a tokenizer gave.

151657 <tool_call> false                 a listing: no model wrote these markers
'<|im_end|>',
{'input_ids': [151646, 151646, 151644]}  ids that begin with BOS twice
"""

from __future__ import annotations

import re
from dataclasses import replace

from prompt_debugger.core.base.text import has_any
from prompt_debugger.core.base.types import Server
from prompt_debugger.core.evidence.evidence import Evidence
from prompt_debugger.core.evidence.forms import Form

# A marker alone on its line, next to its id, between quotes, or before a flag.
_TOKEN = r"(?:<[^<>\s'\"]{1,60}>|\[[A-Z_]{2,40}\])"
_LISTED = re.compile(
    rf"(?m)^[ \t]*+(?:\d{{1,7}}[ \t]*+(?:[:,|=][ \t]*+)?)?(?:\[[ \t]*+)?"
    rf"(?:(?P<q>['\"])(?P<quoted>{_TOKEN})(?P=q)[ \t]*+[,:\]]?"
    rf"|(?P<bare>{_TOKEN}))[ \t]*+(?P<flag>true|false|True|False|\d{{1,7}})?[\],}}]{{0,2}}[ \t]*+$"
)
_ANY_TOKEN = re.compile(rf"(?m)^.*{_TOKEN}.*$")
_MIN_LISTED = 8
_MAX_CHARS = 60_000
_BOS_BY_ID = {
    "128000": "<|begin_of_text|>",  # Llama 3
    "151646": "<｜begin▁of▁sentence｜>",  # DeepSeek-R1's distilled Qwen models; Qwen's own prompts never begin so
    "200000": "<|begin_of_text|>",  # Llama 4
}
_TWICE = re.compile(r"\[\s{0,40}(?P<id>128000|151646|200000),\s{0,40}(?P=id),\s{0,40}\d{1,7}\s{0,40}[,\]]")


def is_token_list(text: str) -> bool:
    """Return whether a text lists the tokens of a vocabulary, one a line: none of them was written by a model."""
    if len(text) > _MAX_CHARS:
        return False
    found = [one for one in _LISTED.finditer(text) if one["quoted"] or one["flag"] is not None]
    names = {one["quoted"] or one["bare"] for one in found}
    return len(names) >= _MIN_LISTED and len(found) * 10 >= 9 * sum(1 for _ in _ANY_TOKEN.finditer(text))


def add_ids(evidence: Evidence | None, text: str) -> Evidence | None:
    """Return evidence with printed ids that begin with BOS twice, as a warning of what was printed; as it is without.

    Args:
        evidence: What was read of the text; `None` if nothing was.
        text: The whole text.
    """
    found = _TWICE.search(text) if has_any(text, _BOS_BY_ID) else None
    if found is None or (evidence is not None and evidence.run is not None):
        return evidence
    line = f"ids: [{found['id']}, {found['id']}, … ({_BOS_BY_ID[found['id']]})"
    known = Evidence(Form.LOG, "printed token ids") if evidence is None else evidence
    server = known.server or Server("")
    if server.log_warnings:
        return evidence
    return replace(known, server=replace(server, log_warnings=(line,)))
