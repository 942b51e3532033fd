"""The debug log of an Agno agent, and spans as consoles print them; each with texts that only resemble it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.evidence import read_evidence
from prompt_debugger.core.evidence.readers.agno_log import READER as AGNO
from prompt_debugger.core.evidence.readers.base import Paste
from prompt_debugger.core.evidence.readers.spans import READER as SPANS
from tests.attacks.growth import grows_linearly

LOG = """\
DEBUG ******************** Agent ID: 1 ********************
DEBUG ------------------- Ollama Response Start -------------------
DEBUG ==================== system ====================
DEBUG You have tools.
DEBUG ===================== user =====================
DEBUG What is the weather in Paris?
DEBUG =================== assistant ==================
DEBUG <tool_call>
      {"name": "weather", "arguments": {"city": "Paris"}}
      </tool_call>
DEBUG *******************  METRICS  ********************
DEBUG * Tokens:                      input=9, output=9
"""


def test_the_messages_of_a_log_are_a_request_and_its_answer():
    evidence = read_evidence(LOG)

    assert [one["role"] for one in evidence.request.body["messages"]] == ["system", "user"]
    assert evidence.chat.message["content"].startswith("<tool_call>\n{")
    assert "METRICS" not in evidence.chat.message["content"]


@pytest.mark.parametrize(
    "text",
    [
        LOG.replace("assistant", "user"),  # no answer
        LOG.replace("DEBUG <tool_call>", "DEBUG Tool Calls:\n      - Name: 'weather'"),  # it was parsed
        LOG.replace("DEBUG ", "INFO "),
        "DEBUG === assistant === is what the log writes",
    ],
)
def test_what_has_no_answer_in_its_own_words_is_no_such_log(text):
    assert AGNO.finds(Paste(text)) == 0.0


SPAN = """\
Span {
  attributes: {
    'gen_ai.request.model': 'm',
    'gen_ai.input.messages': '[{"role":"user","parts":[{"type":"text","content":"Hi"}]}]',
    'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"Hello"}]}]'
  },
  parentSpanContext: undefined,
  events: [],
  startTime: [ 1, 2 ]
}
"""
OTHER = '{\n    "name": "run",\n    "attributes": {},\n    "events": []\n}\n'
JSON_SPAN = (
    '{\n    "name": "chat m",\n    "attributes": {"gen_ai.request.model": "m", "gen_ai.output.messages": '
    '"[{\\"role\\":\\"assistant\\",\\"parts\\":[{\\"type\\":\\"text\\",\\"content\\":\\"Hello\\"}]}]"}\n}\n'
)


@pytest.mark.parametrize("text", [SPAN, f"{OTHER}{JSON_SPAN}{OTHER}", f"{SPAN}{SPAN}"])
def test_spans_are_read_as_consoles_print_them(text):
    assert read_evidence(text).chat.message["content"] == "Hello"


@pytest.mark.parametrize("text", [SPAN.replace("gen_ai.", "http."), SPAN[:120], f"I saw this:\n{SPAN}"])
def test_other_objects_and_cut_ones_are_no_span(text):
    assert SPANS.finds(Paste(text)) == 0.0


def test_a_cut_span_is_not_read_as_an_answer():
    with pytest.raises(RequestError):
        read_evidence(SPAN[:120])


@pytest.mark.parametrize("part", ["DEBUG ===== user =====\n", "DEBUG ", "DEBUG =====", "{'gen_ai.", "Span {}\n", "{ "])
def test_time_grows_linearly(part):
    text = "'gen_ai. DEBUG "
    assert grows_linearly(
        lambda size: [READER.finds(Paste(part * size + text)) for READER in (AGNO, SPANS)],
        first=50,
        tries=2,
        doublings=5,
    )
