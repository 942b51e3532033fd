"""What a template's source says without running it."""

from __future__ import annotations

import pytest

from prompt_debugger.core.render.inspect import facts_from_json, inspect_template

MACRO = "{% macro f(c) %}{% for p in c %}{% endfor %}{% endmacro %}"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% for m in messages %}{{ m.content }}{% endfor %}", "string"),
        ("{% for m in messages %}{% for p in m.content %}{{ p }}{% endfor %}{% endfor %}", "openai"),
        ("{% for m in messages %}{% for p in m['content'] | list %}{{ p }}{% endfor %}{% endfor %}", "openai"),
        ("{% for m in messages[1:] %}{% for p in m.content %}{{ p }}{% endfor %}{% endfor %}", "openai"),
        ("{% set rest = messages[1:] %}{% for m in rest %}{% for p in m.content %}{% endfor %}{% endfor %}", "openai"),
        (
            "{% for m in messages %}{% set content = m.content %}{% for p in content %}{% endfor %}{% endfor %}",
            "openai",
        ),
        (
            MACRO + "{% for m in messages %}{{ f(m.content) }}{% endfor %}",
            "openai",
        ),
        (
            MACRO + "{% for m in messages %}{{ f(m.role) }}{% endfor %}",
            "string",
        ),
        ("{% for m in messages %}{% for c in m.tool_calls %}{{ c }}{% endfor %}{% endfor %}", "string"),
        ("{% if %}", "string"),
    ],
)
def test_content_format(source: str, expected: str) -> None:
    assert inspect_template(source).content_format == expected


def test_names_and_the_developer_role() -> None:
    facts = inspect_template("{% if thinking %}{{ messages[0].role == 'developer' }}{% endif %}")

    assert facts.variables == {"thinking", "messages"}
    assert facts.knows_developer
    assert facts_from_json(facts.to_json()) == facts
