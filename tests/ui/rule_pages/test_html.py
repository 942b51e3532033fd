"""The pages about the rules as the program serves them."""

import re

import pytest
from starlette.testclient import TestClient

from prompt_debugger.ui.rule_pages import html, rule_pages, rules_html
from prompt_debugger.ui.web.script_route import RuleRoute


@pytest.fixture
def client():
    async def beyond(scope, receive, send):
        await send({"type": "http.response.start", "status": 418, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    return TestClient(RuleRoute(beyond))


@pytest.mark.parametrize("code", rule_pages())
def test_every_rule_has_a_page(code):
    page = rules_html(code)

    assert f"<h1>{code} {rule_pages()[code].name}</h1>" in page
    assert "<h2>Why it matters</h2>" in page


def test_the_list_leads_to_pages_that_there_are():
    named = set(re.findall(r'href="(PD\d{3})"', rules_html(None)))

    assert named == set(rule_pages())


def test_markup_in_text_is_shown_as_text(monkeypatch):
    hostile = "# x\n\n<script>alert(1)</script> <img src=x onerror=y> [a](javascript:alert(1))"
    monkeypatch.setattr(html, "rule_page", lambda rule: hostile)

    page = rules_html.__wrapped__("PD401")

    assert "<script>" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "&lt;script&gt;" in page


def test_the_page_answers_for_its_rules_alone(client):
    assert client.get("/rules/PD401").status_code == 200
    assert "text/html" in client.get("/rules/").headers["content-type"]
    assert client.get("/rules/PD999").status_code == 404
    assert client.get("/rules/PD401/x").status_code == 418
    assert client.get("/").status_code == 418
