"""What each part of a prompt costs in tokens."""

from dataclasses import replace

from prompt_debugger.core.pipeline import load_recording
from prompt_debugger.ui.present.token_costs import MAX_PARTS, token_costs


def recorded():
    return load_recording("dropped-call").trace


def test_every_token_belongs_to_one_part_and_the_parts_are_named():
    trace = recorded()
    costs = token_costs(trace)
    parts = {part["label"]: part for part in costs["parts"]}

    assert costs["total"] == len(trace.prompt.tokens) == sum(part["tokens"] for part in costs["parts"])
    assert costs["rest"] == 0
    assert parts["get_weather tools[0]"]["kind"] == "tools"
    assert parts["tool messages[3]"]["field"] == "messages[3]"
    assert parts["template"]["field"] is None
    assert costs["sentence"] == "166 tokens: messages 46 (28 %), tools 81 (49 %), template 39 (23 %)"


def test_a_part_begins_where_its_first_token_stands():
    trace = recorded()
    for part in token_costs(trace)["parts"]:
        if part["field"]:
            assert str(trace.prompt.tokens[part["first"]].field).startswith(part["field"])


def test_without_tokens_or_origins_nothing_is_reported():
    trace = recorded()

    assert token_costs(replace(trace, prompt=None, local_prompt=None)) is None
    assert token_costs(replace(trace, prompt=replace(trace.prompt, tokens=None), local_prompt=None)) is None
    blind = tuple(replace(token, field=None, template_line=None) for token in [*trace.prompt.tokens])
    assert token_costs(replace(trace, prompt=replace(trace.prompt, tokens=blind), local_prompt=None)) is None


def test_the_smallest_of_many_parts_are_summed():
    trace = recorded()
    tokens = tuple(
        replace(token, field=f"messages[{number}].content", template_line=1)
        for number, token in enumerate([*trace.prompt.tokens])
    )

    costs = token_costs(replace(trace, prompt=replace(trace.prompt, tokens=tokens)))

    assert len(costs["parts"]) == MAX_PARTS
    assert costs["rest"] == costs["total"] - MAX_PARTS
