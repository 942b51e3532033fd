"""One render: the text of the reference library, and the origin of each character."""

from __future__ import annotations

from datetime import datetime

import pytest

from prompt_debugger.core.base.types import JSON, PromptSpan, SpanKind
from prompt_debugger.core.render.job import RenderJob, RenderOutcome, Variable, job_from_json, outcome_from_json
from prompt_debugger.core.render.traced_render import MAX_MESSAGE, run_job

NOW = datetime(2025, 1, 2, 3, 4, 5)
MESSAGES: JSON = [
    {"role": "user", "content": "Hi <b>'you'</b>\n日本"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1, "b": True}}}],
    },
]


def render(template: str, messages: JSON = MESSAGES, **variables: JSON) -> RenderOutcome:
    extra = tuple(Variable(name, value, ("chat_template_kwargs", name)) for name, value in variables.items())
    base = (Variable("messages", messages, ("messages",)), Variable("bos_token", "<s>"))
    return run_job(RenderJob(template, (*base, *extra)), now=NOW)


def origins(outcome: RenderOutcome) -> list[tuple[str, str, str | None, tuple[int, int] | None]]:
    """Return text, kind, field and field span of every span."""
    return [(outcome.text[slice(*one.char_span)], one.kind.value, one.field, _pair(one)) for one in outcome.spans]


def _pair(span: PromptSpan) -> tuple[int, int] | None:
    return None if span.field_span is None else (span.field_span.start, span.field_span.stop)


USER = "messages[0].content"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("A{{ messages[0].role }}", [("A", "template", None, None), ("user", "request", "messages[0].role", (0, 4))]),
        ("{{ messages[0].content[3:6] }}", [("<b>", "request", USER, (3, 6))]),
        ("{{ messages[0]['role'] | upper }}", [("USER", "escaped", "messages[0].role", (0, 4))]),
        ("{{ bos_token }}", [("<s>", "environment", None, None)]),
        ("{{ strftime_now('%Y') }}", [("2025", "environment", None, None)]),
        ("{{ messages | length }}", [("2", "computed", None, None)]),
        (
            "{{ messages[1].tool_calls[0].function.arguments.a }}",
            [("1", "scalar", "messages[1].tool_calls[0].function.arguments.a", None)],
        ),
        (
            "{{ messages[1].tool_calls[0].function.arguments.b }}",
            [("True", "scalar", "messages[1].tool_calls[0].function.arguments.b", None)],
        ),
        (
            "{{ messages[0].role | tojson }}",
            [
                ('"', "structure", "messages[0].role", None),
                ("user", "request", "messages[0].role", (0, 4)),
                ('"', "structure", "messages[0].role", None),
            ],
        ),
        (
            "{{ messages[0].content[12:] | tojson }}",
            [
                ('"', "structure", USER, None),
                ("/b>", "request", USER, (12, 15)),
                ("\\n", "escaped", USER, (15, 16)),
                ("日本", "request", USER, (16, 18)),
                ('"', "structure", USER, None),
            ],
        ),
        (
            "{{ messages[0].content[:6] | e }}",
            [
                ("Hi ", "request", USER, (0, 3)),
                ("&lt;", "escaped", USER, (3, 4)),
                ("b", "request", USER, (4, 5)),
                ("&gt;", "escaped", USER, (5, 6)),
            ],
        ),
        (
            "{% for p in messages[0].content.split('b') %}{{ p }}{% endfor %}",
            [
                ("Hi <", "request", USER, (0, 4)),
                (">'you'</", "request", USER, (5, 13)),
                (">\n日本", "request", USER, (14, 18)),
            ],
        ),
        (
            "{% macro show(m) %}[{{ m.role }}]{% endmacro %}{{ show(messages[0]) }}",
            [
                ("[", "template", None, None),
                ("user", "request", "messages[0].role", (0, 4)),
                ("]", "template", None, None),
            ],
        ),
        (
            "{% set n = namespace(t='') %}{% for m in messages %}{% set n.t = n.t ~ m.role ~ ';' %}{% endfor %}"
            "{{ n.t }}",
            [
                ("user", "request", "messages[0].role", (0, 4)),
                (";", "template", None, None),
                ("assistant", "request", "messages[1].role", (0, 9)),
                (";", "template", None, None),
            ],
        ),
        (
            "{% call(x) wrap() %}<{{ x }}>{% endcall %}".replace(
                "{% call", "{% macro wrap() %}{{ caller(messages[0].role) }}{% endmacro %}{% call"
            ),
            [
                ("<", "template", None, None),
                ("user", "request", "messages[0].role", (0, 4)),
                (">", "template", None, None),
            ],
        ),
        (
            "{% generation %}{{ messages[0].role }}{% endgeneration %}",
            [("user", "request", "messages[0].role", (0, 4))],
        ),
        (
            "{% filter upper %}ab{{ messages[0].role[0] }}{% endfilter %}",
            [("AB", "template", None, None), ("U", "escaped", "messages[0].role", (0, 1))],
        ),
        ("{{ thinking }}", [("off", "request", "chat_template_kwargs.thinking", (0, 3))]),
        (
            "{{ '%s!' % messages[0].role }}",
            [("user", "request", "messages[0].role", (0, 4)), ("!", "template", None, None)],
        ),
        (
            "{{ '{}!'.format(messages[0].role) }}",
            [("user", "request", "messages[0].role", (0, 4)), ("!", "template", None, None)],
        ),
        (
            "{{ [messages[0].role, 'x'] | join('-') }}",
            [
                ("user", "request", "messages[0].role", (0, 4)),
                ("-", "template", None, None),
                ("x", "template", None, None),
            ],
        ),
        (
            "{{ messages | map(attribute='role') | join }}",
            [("user", "request", "messages[0].role", (0, 4)), ("assistant", "request", "messages[1].role", (0, 9))],
        ),
        (
            "{{ messages[1].role | replace('assist', 'serv') }}",
            [("serv", "template", None, None), ("ant", "request", "messages[1].role", (6, 9))],
        ),
    ],
)
def test_origin_of_every_character(
    template: str, expected: list[tuple[str, str, str | None, tuple[int, int] | None]]
) -> None:
    outcome = render(template, thinking="off")

    assert outcome.is_identical, outcome.doubt
    assert origins(outcome) == expected


def test_template_position_of_literals_and_outputs() -> None:
    outcome = render("first\n  second {{ messages[0].role }}{% if true %}\n{{ 'x' ~ '\\n' }}{% endif %}")

    places = [(outcome.text[slice(*one.char_span)], one.template_line, one.template_column) for one in outcome.spans]
    assert places == [
        ("first\n", 1, 1),
        ("  second ", 2, 1),
        ("user", 2, 13),
        ("x", 3, 5),
        ("\n", 3, 11),
    ]


def test_keys_of_a_serialised_object_are_structure_of_their_entries() -> None:
    outcome = render("{{ messages[1].tool_calls[0].function | tojson }}")

    name = "messages[1].tool_calls[0].function.name"
    assert origins(outcome)[:4] == [
        ("{", "structure", "messages[1].tool_calls[0].function", None),
        ('"name": "', "structure", name, None),
        ("f", "request", name, (0, 1)),
        ('"', "structure", name, None),
    ]


@pytest.mark.parametrize(
    "options", ["", "(indent=2)", "(ensure_ascii=true)", "(sort_keys=true)", "(separators=(',', ':'))", "(true, 4)"]
)
def test_every_way_of_serialising_is_attributed(options: str) -> None:
    outcome = render("{{ messages | tojson" + options + " }}")

    assert outcome.is_identical
    assert all(span.field is not None for span in outcome.spans)
    assert not [span for span in outcome.spans if span.kind is SpanKind.UNKNOWN]


def test_a_printed_object_is_attributed_in_python_notation() -> None:
    outcome = render("{{ messages }}")

    assert "None" in [text for text, kind, *_ in origins(outcome) if kind == "scalar"]
    assert all(span.field is not None for span in outcome.spans)


def test_what_the_template_never_read_is_listed() -> None:
    messages: JSON = [
        {"role": "user", "content": {"deep": {"one": 0}}, "name": "ann"},
        {"role": "tool", "tool_call_id": "x", "content": {"deep": {"one": 1, "two": 2}, "other": []}},
    ]

    outcome = render(
        "{% for m in messages %}{{ m.role }}{{ m.content.deep.one }}{% endfor %}{% if known is defined %}{% endif %}",
        messages,
        known=1,
        ignored={"a": 1},
    )

    assert outcome.unread == (
        "messages[0].name",
        "messages[1].tool_call_id",
        "messages[1].content.deep.two",
        "messages[1].content.other",
        "chat_template_kwargs.ignored",
    )


def test_serialising_reads_everything_and_asking_for_a_key_reads_nothing() -> None:
    messages: JSON = [{"role": "user", "content": "a", "extra": {"b": 1}}]

    assert render("{{ messages | tojson }}", messages).unread == ()
    assert render("{{ 'extra' in messages[0] }}", messages).unread == ("messages",)
    assert render("{% for m in messages %}{{ m.content }}{% endfor %}", messages).unread == (
        "messages[0].role",
        "messages[0].extra",
    )


@pytest.mark.parametrize(
    ("template", "kind", "message", "line", "column"),
    [
        ("a\nb{{ raise_exception('no tools here') }}", "TemplateError", "no tools here", 2, 5),
        ("{% if x %}\n{{ y }", "TemplateSyntaxError", "unexpected '}'", 2, None),
        ("{% for a in b %}", "TemplateSyntaxError", None, 1, None),
        ("ok\n{{ nothing.at.all }}", "UndefinedError", "'nothing' is undefined", 2, 4),
        (
            "{{ messages[1].content + 'x' }}",
            "TypeError",
            "unsupported operand type(s) for +: 'NoneType' and 'str'",
            1,
            4,
        ),
        ("{{ 'x' | nosuch }}", "Missing filter", "`nosuch`", 1, 10),
        ("\n\n{{ messages.append(1) }}", "SecurityError", None, 3, 4),
    ],
)
def test_faults_name_their_place(template: str, kind: str, message: str | None, line: int, column: int | None) -> None:
    outcome = render(template)

    assert outcome.fault is not None
    assert outcome.fault.kind == kind
    assert message is None or outcome.fault.message == message
    assert outcome.fault.line == line
    assert column is None or outcome.fault.column == column


@pytest.mark.slow
def test_text_that_cannot_be_followed_is_shown_unattributed() -> None:
    outcome = render("{% for a in range(400) %}{% for c in messages[0].content * 200 %}{{ c }}{% endfor %}{% endfor %}")

    assert not outcome.is_identical
    assert [span.kind for span in outcome.spans] == [SpanKind.UNKNOWN]
    assert "too finely" in outcome.doubt


def test_a_render_that_is_not_repeatable_is_shown_unattributed() -> None:
    outcome = render("{{ range(10**5) | random }}{{ range(10**5) | random }}")

    assert not outcome.is_identical
    assert [span.kind for span in outcome.spans] == [SpanKind.UNKNOWN]


@pytest.mark.parametrize(
    ("template", "begins"),
    [
        ("{{ raise_exception('x' * 300000) }}", "xxx"),
        ("{{ messages | " + "f" * 300_000 + " }}", "No filter named 'fff"),
        ("{{ " + "a" * 300_000 + ".b }}", "'aaa"),
        ("{% " + "t" * 300_000 + " %}", "Encountered unknown tag 'ttt"),
    ],
)
def test_what_a_template_says_as_it_fails_is_shortened(template: str, begins: str) -> None:
    """It may raise a text that fills the memory, and each view of it would."""
    fault = render(template).fault

    assert fault is not None
    assert fault.message.startswith(begins)
    assert len(fault.message) < MAX_MESSAGE + 100
    assert fault.message.endswith(" more characters)")


def test_what_a_template_says_in_a_page_or_two_is_kept_whole() -> None:
    fault = render("{{ raise_exception('ab ' * 6000) }}").fault

    assert fault is not None
    assert fault.message == "ab " * 6_000


def test_jobs_and_outcomes_survive_the_wire() -> None:
    job = RenderJob("{{ messages }}", (Variable("messages", MESSAGES, ("messages",)),), causes=("content-openai",))
    outcome = run_job(job, now=NOW)

    assert job_from_json(job.to_json()) == job
    assert outcome_from_json(outcome.to_json()) == outcome
    fault = render("{{ raise_exception('x') }}")
    assert outcome_from_json(fault.to_json()) == fault
