"""What a report announces as the answer to its request and is known by no form of its own: the content, as shown.

    {"messages": […], "response_format": …}      the request, which promises a document
    Response:                                    the line above the fence, or its first line
    ```
    Sure, here it is: {"city": …}                the content
    ```

Only a request that asks for a document or a choice is looked at: there, any text is a content to be judged.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from prompt_debugger.core.evidence.evidence import Evidence, Part, content_alone
from prompt_debugger.core.evidence.no_errors.programs import has_code, is_source
from prompt_debugger.core.evidence.reports.blocks import Block, BlockKind
from prompt_debugger.core.evidence.reports.leads import is_of_other
from prompt_debugger.core.evidence.reports.report_text import is_template

_FORMS = ("response_format", "structured_outputs", "guided_json", "guided_choice", "guided_regex", "guided_grammar")
_ANNOUNCED = re.compile(
    r"(?:\b(?:response|answer|reply|completion|output|content|result)s?\b(?: (?:is|was|text|content|body|of the model"
    r"|from the (?:model|server)))?|\b(?:it|model|server|vllm|sglang|ollama|llama\.cpp|lm studio|api|i|we|and|always)"
    r" (?:returns?|returned|answers?|answered|responds?|responded|gets?|got|gives?|gave|outputs?|replied|receives?"
    r"|received)\b[^\n:]{0,30})(?: \([^()\n]{1,40}\))?[*_`]{0,2} ?[:\uff1a]?[*_`]{0,2}\s{0,3}\Z"
    r"|(?:\u8fd4\u56de|\u8f93\u51fa|\u7ed3\u679c)[^\n\u3002]{0,8}[:\uff1a]?\s{0,3}\Z",
    re.IGNORECASE,
)
_NOT_IT = re.compile(
    r"\b(?:schema|format|class|template|parser|example|log|logs|error|usage|token|stream|raw|request|prompt)s?\b"
    r"|\bmodel\b\W{0,3}\Z",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"(?m)^[ \t]*(?:[#/]{0,2} ?)?(?:\.{3,6}|\u2026)[,\]}]{0,2}[ \t]*$|[\[(<](?:snip|truncated|\.\.\.)"
)
_LOG = re.compile(r"(?m)^(?:Traceback|\S{0,40} ?(?:INFO|ERROR|WARNING|DEBUG)\b|\$ |> |>>> |data:|event:)")
_MAX_CHARS = 20_000


def announced_content(
    blocks: Sequence[Block], read: Sequence[Evidence], unread: Sequence[Block]
) -> tuple[Block, Evidence] | None:
    """Return the block that a report announces as the answer to its request, as a content; `None` unless there is one.

    Args:
        blocks: The text, block by block.
        read: What was read of it.
        unread: The blocks that were not read.
    """
    holds = {part for one in read for part in one.holds}
    bodies = [one.request.body for one in read if one.request is not None]
    if not holds <= {Part.REQUEST, Part.FLAGS} or not any(body.get(name) for body in bodies for name in _FORMS):
        return None
    found = [(block, *_labelled(block)) for block in unread if block.kind in (BlockKind.FENCED, BlockKind.JSON)]
    shown = [(block, lead, text) for block, lead, text in found if _is_content(lead, text)]
    if len(shown) != 1 or len(blocks) < 2:
        return None
    block, lead, text = shown[0]
    said = lead.strip(" *_`:\uff1a#")[-60:]
    note = f"The text below *{said}* was taken for the content of the answer to the request."
    return block, replace(content_alone(text.strip("\n")), notes=(note,))


def _labelled(block: Block) -> tuple[str, str]:
    """Return the line that announces a block and its text: the line above, or its own first line."""
    first, _, rest = block.text.strip("\n").partition("\n")
    is_label = rest.strip() and len(first) <= 60 and first.rstrip().endswith((":", "\uff1a"))
    return (first, rest) if is_label and _ANNOUNCED.search(first) is not None else (block.lead, block.text)


def _is_content(lead: str, text: str) -> bool:
    if not text.strip() or len(text) > _MAX_CHARS or _ANNOUNCED.search(lead.strip()) is None:
        return False
    if is_of_other(lead) or _NOT_IT.search(lead) is not None:
        return False
    is_other = is_template(text) or is_source(text) or has_code(text)
    return not is_other and _LOG.search(text) is None and _LEFT_OUT.search(text) is None
