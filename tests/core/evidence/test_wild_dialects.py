"""Reports as their authors had them, in the forms of this program's readers: what is read, and what is found first."""

from __future__ import annotations

from pathlib import Path

import pytest

from prompt_debugger.core.evidence import Form, read_evidence, show_evidence

pytestmark = pytest.mark.corpus

CASES = [
    ("wild/13/response.json", Form.ANSWER, "PD459"),
    ("wild/29/stream.txt", Form.STREAM, "PD412"),
    ("wild/29/request_and_response.json", Form.EXCHANGE, None),
    ("wild/31/message.json", Form.ANSWER, "PD451"),
    ("wild/37/stream.txt", Form.STREAM, "PD320"),
    ("wild/41/response.json", Form.ANSWER, "PD459"),
    ("wild/43/response.json", Form.ANSWER, "PD321"),
    ("wild/45/stream.txt", Form.STREAM, "PD480"),
    ("wild/45/pair.json", Form.EXCHANGE, "PD480"),
    ("wild2/06/response.json", Form.ANSWER, "PD312"),
    ("wild2/12/fragment.txt", Form.FRAGMENT, "PD506"),
    ("wild2/24/response.json", Form.ANSWER, "PD457"),
    ("wild2/39/stream.txt", Form.STREAM, "PD481"),
    ("wild2/57/fragment.txt", Form.FRAGMENT, "PD459"),
]


@pytest.mark.parametrize(("name", "form", "code"), CASES, ids=[name for name, _, _ in CASES])
async def test_a_report_is_read_and_its_fault_found(corpus_dir: Path, name: str, form: Form, code: str | None) -> None:
    file = corpus_dir.parent / name
    if not file.is_file():
        pytest.skip(f"no {name} beside the templates")

    evidence = read_evidence(file.read_text(encoding="utf-8"))
    trace = await show_evidence(evidence)

    codes = [finding.code for finding in trace.findings]
    assert evidence.form is form
    assert codes == [] if code is None else code in codes
