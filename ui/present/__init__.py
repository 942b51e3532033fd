"""Core values → what the page, the report and their views draw. No gradio, no markup: data and labels only.

Every view of ours takes one string, made by `pack_payload`, and draws it as
text; nothing here or there builds HTML from data, so nothing needs escaping.
"""

from prompt_debugger.ui.present.completion import completion_payload
from prompt_debugger.ui.present.error import error_payload, unserved_payload
from prompt_debugger.ui.present.findings import findings_payload
from prompt_debugger.ui.present.header import header_payload, lab_payload, target_facts
from prompt_debugger.ui.present.ledger import ledger_payload
from prompt_debugger.ui.present.notices import notices_payload, too_long_payload
from prompt_debugger.ui.present.payload import pack_payload, unpack_payload
from prompt_debugger.ui.present.prompt import difference_payload, template_payload
from prompt_debugger.ui.present.run import VIEWS, RunView, empty_payloads
from prompt_debugger.ui.present.stages import stages_payload
from prompt_debugger.ui.present.tokens import tokens_payload
from prompt_debugger.ui.present.verdict import running_payload, verdict_payload

__all__ = [
    "VIEWS",
    "RunView",
    "completion_payload",
    "difference_payload",
    "empty_payloads",
    "error_payload",
    "findings_payload",
    "header_payload",
    "lab_payload",
    "ledger_payload",
    "notices_payload",
    "pack_payload",
    "running_payload",
    "stages_payload",
    "target_facts",
    "template_payload",
    "tokens_payload",
    "too_long_payload",
    "unpack_payload",
    "unserved_payload",
    "verdict_payload",
]
