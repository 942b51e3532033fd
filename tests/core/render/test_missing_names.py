"""A filter or test that Jinja lacks is named at its place, with what was probably meant."""

import pytest

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.render import render_local

BODY = {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize(
    ("template", "words", "place"),
    [
        (
            "a\n{% for m in messages %}{{ m | tojso }}{% endfor %}",
            "the filter `tojso`; did you mean `tojson`?",
            (2, 31),
        ),
        ("a\n{% if true %}\n{{ messages|strftime }}\n{% endif %}", "the filter `strftime`", (3, 13)),
        ("{# |tojso #}{{ 'x|tojso' }}\n{{ messages\n  | tojso }}", "the filter `tojso`", (3, 5)),
        ("{% filter shout %}a{% endfilter %}", "the filter `shout`", (1, 11)),
        ("\n{% if messages is not defned %}a{% endif %}", "the test `defned`; did you mean `defined`?", (2, 23)),
    ],
)
def test_the_name_and_its_place_are_reported_and_nothing_else_is_blamed(template, words, place):
    with pytest.raises(RenderError) as caught:
        render_local(BODY, template=template)

    assert words in caught.value.message
    assert (caught.value.template_line, caught.value.template_column) == place
    assert "values that it uses" not in caught.value.hint


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages | tojson }}{{ messages[0].content | default('x') | trim }}",
        "{% if messages is defined and messages is iterable %}a{% endif %}",
        "{% if false %}{{ messages | no_such }}{% endif %}a",
    ],
)
def test_what_jinja_has_or_never_reaches_is_not_an_error(template):
    assert render_local(BODY, template=template).text


def test_the_same_words_of_the_template_itself_are_its_own():
    template = "{{ raise_exception(\"No filter named 'tojso' found.\") }}"

    with pytest.raises(RenderError, match="The template refuses this request: No filter named 'tojso' found"):
        render_local(BODY, template=template)
