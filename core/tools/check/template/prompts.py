"""What a template makes of whole conversations: turn after turn, with a clock, with markers in someone's text.

What the rules of a run can tell from a prompt alone is asked of them (`core.diagnose`), under their own codes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Request, Severity, SpanKind, Trace
from prompt_debugger.core.diagnose import RULES, diagnose_trace
from prompt_debugger.core.render import generation_prompt, render_local
from prompt_debugger.core.render.local import Renderer
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL, TOOLS, USER_WORDS
from prompt_debugger.core.tools.check.ideal import Ideal
from prompt_debugger.core.tools.check.model import CheckedModel
from prompt_debugger.core.tools.check.template.finding import found, shown
from prompt_debugger.core.tools.check.template.places import add_line, line_in_render, line_mark

_ASKED_RULES = frozenset(
    {
        "double-bos", "missing-bos", "missing-generation-prompt", "duplicated-generation-prompt", "marker-split",
        "null-printed", "history-arguments-double-encoded", "tools-absent",
    }
)  # fmt: skip
_RESULT, _NEXT = "zqIt is sunny.", "zqAnd tomorrow?"
_FORGED = "zqbefore{}zqafter"


def prompt_findings(
    model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None = None
) -> Iterator[Finding]:
    """Report what is wrong with prompts."""
    yield from _find_by_rules(model, ideals, renderer)
    yield from _turn_after_turn(model, ideals, renderer)
    yield from _volatile(model, renderer)


def forgery(model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None = None) -> Mapping[str, bool]:
    """Return, by name, whether a marker in someone's text stays text; nothing where there is no marker to try."""
    end = next((ideal.end for ideal in ideals if ideal.end), "")
    if not end:
        return {}
    words = _FORGED.format(end)
    render = model.renderer(renderer)
    cases: dict[str, JSONObject] = {"user-text-cannot-forge": {"messages": [{"role": "user", "content": words}]}}
    if (asked := _call_turn(ideals)) is not None:
        result: JSONObject = {**_result_of(asked), "content": words}
        cases["tool-result-cannot-forge"] = {"messages": [*_user(), asked, result], "tools": list(TOOLS)}
    supports: dict[str, bool] = {}
    for name, body in cases.items():
        try:
            supports[name] = words not in render(body)
        except RenderError:
            continue
    return supports


def _find_by_rules(model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None) -> Iterator[Finding]:
    for body in _conversations(ideals):
        try:
            prompt = render_local(
                body,
                template=model.template,
                tokenizer=model.tokenizer,
                special_tokens=model.special_tokens,
                renderer=renderer,
            )
            opened = generation_prompt(model.template, body, special_tokens=model.special_tokens, renderer=renderer)
        except RenderError:
            continue
        trace = Trace(
            request=Request(body=body, text=""),
            local_prompt=prompt,
            prompt=prompt,
            vocabulary=None if model.tokenizer is None else model.tokenizer.vocabulary,
            generation_prompt=opened,
        )
        asked = {code: rule for code, rule in RULES.items() if rule.name in _ASKED_RULES}
        yield from (add_line(one, prompt) for one in diagnose_trace(trace, asked))
        return


def _conversations(ideals: Sequence[Ideal]) -> Iterator[JSONObject]:
    """Yield conversations, the one that shows most first: a template may refuse some of them."""
    system: JSONObject = {"role": "system", "content": "zqBe brief."}
    asked = _call_turn(ideals)
    if asked is not None:
        for content in (None, asked["content"]):  # clients send null with a call
            turns: list[JSON] = [*_user(), {**asked, "content": content}, _result_of(asked)]
            yield {"messages": [system, *turns], "tools": list(TOOLS)}
            yield {"messages": turns, "tools": list(TOOLS)}
    yield {"messages": [system, *_user()]}
    yield {"messages": _user()}


def _user() -> list[JSON]:
    return [{"role": "user", "content": USER_WORDS}]


def _call_turn(ideals: Sequence[Ideal]) -> JSONObject | None:
    """Return the simplest call as a turn of the history; `None` if the template does not take it."""
    ideal = next((one for one in ideals if one.answer.name == SIMPLEST_CALL and one.is_whole), None)
    return None if ideal is None else ideal.form.message(ideal.answer)


def _result_of(asked: JSONObject) -> JSONObject:
    calls = asked["tool_calls"]
    assert isinstance(calls, list)
    call = calls[0]
    assert isinstance(call, dict)
    function = call["function"]
    assert isinstance(function, dict)
    return {"role": "tool", "tool_call_id": call["id"], "name": function["name"], "content": _RESULT}


def _turn_after_turn(model: CheckedModel, ideals: Sequence[Ideal], renderer: Renderer | None) -> Iterator[Finding]:
    """Report the next prompt that does not begin with prompt and output of the turn before, the worst of them."""
    render = model.renderer(renderer)
    breaks: list[Finding] = []
    for ideal in ideals:
        answer = ideal.answer
        if not ideal.is_whole or ideal.has_own_closer or len(answer.calls) > 1:
            continue
        turn = ideal.form.message(answer)
        more: JSONObject = _result_of(turn) if answer.calls else {"role": "user", "content": _NEXT}
        body: JSONObject = {"messages": [*_user(), turn, more], "tools": list(TOOLS)}
        if ideal.form.kwargs:
            body["chat_template_kwargs"] = dict(ideal.form.kwargs)
        try:
            after = render(body)
        except RenderError:
            continue
        before = ideal.prompt + ideal.raw
        at = first_divergence(before, after)
        if not after.startswith(before) and at is not None:
            breaks.append(_break(ideal, before, after, at, line_in_render(model, body, at, renderer)))
    yield from sorted(breaks, key=lambda one: one.severity is Severity.NOTE)[:1]


def _break(ideal: Ideal, before: str, after: str, at: int, line: int | None) -> Finding:
    is_reasoning = ideal.answer.reasoning is not None
    why = "a tool result" if ideal.answer.calls else "the user's next words"
    return found(
        "history-leaves-prompt",
        Severity.NOTE if is_reasoning and not ideal.answer.calls else Severity.WARNING,
        f"After `{ideal.answer.name}` and {why}, the prompt does not continue where the model ended.",
        f"From character {at} it has {shown(after[at : at + 60])}{line_mark(line)} where the model had "
        f"{shown(before[at : at + 60])}: the prefix cache misses from here on.",
        quote=after[max(0, at - 60) : at + 60],
        fix="Print the turn as it was generated, the generation prompt and reasoning included.",
    )


def _volatile(model: CheckedModel, renderer: Renderer | None) -> Iterator[Finding]:
    """Report text that the clock wrote."""
    named = set(model.special_tokens.values())
    try:
        prompt = render_local(
            {"messages": _user()}, template=model.template, special_tokens=model.special_tokens, renderer=renderer
        )
    except RenderError:
        return
    for span in prompt.spans:
        text = prompt.text[span.char_span.start : span.char_span.stop]
        if span.kind is SpanKind.ENVIRONMENT and text.strip() and text not in named:
            yield found(
                "volatile-prompt",
                Severity.NOTE,
                f"The prompt contains {shown(text)}, which comes from the clock{line_mark(span.template_line)}.",
                "The same request gives a different prompt on another day: the prefix cache restarts, and "
                "a result may change.",
                quote=prompt.text[max(0, span.char_span.start - 40) : span.char_span.stop + 40],
                fix="Pass the date in the request if the model needs it.",
            )
            return
