"""Every feature of Jinja that a template may use keeps the origin of its text."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

import pytest

from prompt_debugger.core.base.types import JSON, SpanKind
from prompt_debugger.core.render import traced_render
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, Variable
from prompt_debugger.core.render.traced_render import run_job
from tests.core.render.features import FEATURES, MESSAGES, TOOLS
from tests.core.render.flips import probe

NOW = datetime(2025, 1, 2, 3, 4, 5)


def job_for(template: str) -> RenderJob:
    return RenderJob(
        template,
        (
            Variable("messages", MESSAGES, ("messages",)),
            Variable("tools", TOOLS, ("tools",)),
            Variable("bos_token", "<s>"),
            Variable("flag", True, ("chat_template_kwargs", "flag")),
            Variable("number", 3, ("chat_template_kwargs", "number")),
        ),
    )


def grades(outcome: RenderOutcome) -> Counter[str]:
    """Return how many characters are known to the range, to the path, or not so well."""
    found: Counter[str] = Counter()
    for span in outcome.spans:
        exact = span.kind is SpanKind.TEMPLATE or span.field_span is not None
        known = exact or span.field is not None or span.kind is SpanKind.ENVIRONMENT
        found["range" if exact else "path" if known else span.kind.value] += span.char_span.stop - span.char_span.start
    return found


@pytest.mark.parametrize("feature", FEATURES)
def test_no_origin_is_lost(feature: str) -> None:
    outcome = run_job(job_for(FEATURES[feature]), now=NOW)

    assert outcome.fault is None
    assert outcome.is_identical, outcome.doubt
    assert "unknown" not in grades(outcome)
    computed = [outcome.text[slice(*span.char_span)] for span in outcome.spans if span.kind is SpanKind.COMPUTED]
    # Counters, lengths, comparisons and padding, of which these templates are full.
    assert grades(outcome)["computed"] < 0.25 * len(outcome.text), computed


@pytest.mark.parametrize("feature", FEATURES)
def test_flipping_a_letter_changes_what_is_attributed_to_it(feature: str) -> None:
    job = job_for(FEATURES[feature])
    outcome = run_job(job, now=NOW)

    probes = list(probe(job, outcome, 150, 7, NOW))

    for one in probes:
        if one.changed is not None:
            assert one.claimed <= one.changed, one
    assert sum(one.changed is not None for one in probes) > 20


@pytest.mark.parametrize("feature", FEATURES)
def test_a_broken_value_raises_what_the_plain_render_raises(feature: str) -> None:
    """Every message loses its content: whatever fails, fails alike."""
    job = job_for(FEATURES[feature])
    messages: JSON = [{"role": "user"}, {"role": "user", "content": None}]
    broken = RenderJob(job.template, (Variable("messages", messages, ("messages",)), *job.variables[1:]))

    outcome = run_job(broken, now=NOW)

    assert outcome.is_identical
    if outcome.fault is not None:
        with pytest.raises(Exception) as raised:  # compared in full below
            traced_render._compiled(broken.template).render(traced_render._wrapped_variables(broken))
        assert (type(raised.value).__name__, str(raised.value)) == (outcome.fault.kind, outcome.fault.message)


@pytest.mark.parametrize(
    ("template", "field"),
    [
        ("{% for k, v in a.items() %}{% if k == 'sure' %}{{ v }}{% endif %}{% endfor %}", "a.sure"),
        ("{% for k, v in a | dictsort %}{% if k == 'exact' %}{{ v | tojson }}{% endif %}{% endfor %}", "a.exact"),
        ("{{ a.note | string }}", "a.note"),
        ("{{ '' ~ a['exact'] }}", "a.exact"),
        ("{{ a.exact | tojson if a.exact is boolean else 'x' }}", "a.exact"),
        ("{{ flag }}", "chat_template_kwargs.flag"),
    ],
)
def test_booleans_and_nulls_know_their_place(template: str, field: str) -> None:
    arguments = "messages[2].tool_calls[0].function.arguments"
    outcome = run_job(job_for("{% set a = " + arguments + " %}" + template))

    assert [(span.kind, span.field) for span in outcome.spans] == [
        (SpanKind.SCALAR, field.replace("a.", f"{arguments}.", 1) if field.startswith("a.") else field)
    ]


@pytest.mark.parametrize(
    "template",
    [
        "{% for k, v in a.items() %}{% set v = k == 'sure' %}{% if v %}{{ v }}{% endif %}{% endfor %}",
        "{% for k, v in [('exact', true)] %}{{ v }}{% endfor %}",
        "{{ a.exact == true }}",
        "{{ (not a.note) | tojson }}",
        "{% set flag = true %}{{ flag }}",
        "{% macro f(x) %}{{ x }}{% endmacro %}{% for k, v in a.items() if k == 'days' %}{{ f(true) }}{% endfor %}",
    ],
)
def test_a_boolean_of_the_template_is_not_said_to_be_the_request_s(template: str) -> None:
    outcome = run_job(job_for("{% set a = messages[2].tool_calls[0].function.arguments %}" + template))

    assert outcome.text.lower() == "true"
    assert [span.kind for span in outcome.spans] == [SpanKind.COMPUTED]


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages[0].content * 'lit' }}",
        "{{ messages * messages[0].content }}",
        "{{ none * messages[0].content }}",
        "{{ messages[0].content * nothing }}",
        "{{ messages[0].content * 1.5 }}",
        "{{ tools | items | list }}",
        "{{ '%d' | format(messages[0].role) }}",
        "{{ messages[0].content | truncate(1) }}",
    ],
)
def test_errors_are_worded_as_in_the_plain_render(template: str) -> None:
    job = job_for(template)
    outcome = run_job(job)

    assert outcome.fault is not None
    with pytest.raises(Exception) as raised:
        traced_render._compiled(template).render(traced_render._wrapped_variables(job))
    assert (type(raised.value).__name__, str(raised.value)) == (outcome.fault.kind, outcome.fault.message)


@pytest.mark.parametrize(
    "template",
    [
        "{% for c in messages[0].content | forceescape %}{{ c }}{% endfor %}",
        "{{ messages[1].content | e | tojson(indent=1) }}",
        "{{ messages | pprint }}",
        "{{ (messages | pprint)[:9] }}",
        "{{ (messages[0].content | safe)[2:5] | upper }}",
    ],
)
def test_safe_and_pretty_texts_keep_their_origin(template: str) -> None:
    outcome = run_job(job_for(template))

    assert outcome.is_identical
    assert "unknown" not in grades(outcome)
