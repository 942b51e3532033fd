"""Of several parsers the one that gives most back is recommended, of equals the one made for the family."""

from prompt_debugger.core.base.types import VllmOutcome
from prompt_debugger.core.formats import checkpoint_in
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.recommend import Ranking, family_of, needs_reasoning, recommend

RIGHT = Cell(True, True, None)
WRONG = Cell(False, None, "it loses it")
STREAMS_WRONG = Cell(True, False, "streamed differently: x", streamed_usual=False)
LARGER_WRONG = Cell(True, False, "streamed differently: y", streamed_usual=True)


def rows(**cells):
    names = ("one-call", "two-calls")
    return {f"vllm:{name}": dict(zip(names, row, strict=True)) for name, row in cells.items()}


def chosen(ranking, **cells):
    table = rows(**cells)
    return recommend((), table, ranking.best(table, 9), ranking)


def test_the_one_that_gives_most_back_wins():
    found = chosen(Ranking("hermes", "m"), hermes=(RIGHT, WRONG), xlam=(RIGHT, RIGHT))

    assert (found.tool_parser, found.verdict) == ("xlam", "works")
    assert found.reasons[-1] == "`hermes`, the parser for outputs read as `hermes`, fails for `two-calls`: it loses it."


def test_of_equals_the_one_made_for_the_family_wins_and_by_name_within_it():
    both = {"hermes": (RIGHT, RIGHT), "granite4": (RIGHT, RIGHT), "abc": (RIGHT, RIGHT)}

    assert chosen(Ranking("hermes", "m"), **both).tool_parser == "hermes"
    assert chosen(Ranking("hermes", "granite-4.0"), **both).tool_parser == "granite4"
    assert chosen(Ranking(None, "m"), abc=(RIGHT, RIGHT)).tool_parser == "abc"


def test_limits_are_reported_answer_by_answer():
    found = chosen(Ranking("hermes", "m"), hermes=(RIGHT, STREAMS_WRONG))

    assert found.verdict == "works-with-limits"
    assert found.reasons == (
        "`hermes` returns 2 of 2 answers correctly when whole, 1 streamed token by token, 1 in every chunking.",
        "It fails for `two-calls`: streamed differently: x.",
    )


def test_what_none_of_many_parsers_gives_back_may_be_the_template_own_fault():
    others = {f"other{number}": (WRONG, WRONG) for number in range(20)}

    alone = chosen(Ranking("hermes", "m"), hermes=(RIGHT, WRONG), **others)
    beside = chosen(Ranking("hermes", "m"), hermes=(RIGHT, WRONG), **{**others, "other3": (WRONG, RIGHT)})
    few = chosen(Ranking("hermes", "m"), hermes=(RIGHT, WRONG))

    assert alone.reasons[1].endswith("No tested parser returns it: the template may lose it.")
    assert beside.reasons[1] == few.reasons[1] == "It fails for `two-calls`: it loses it."


def test_what_only_larger_deltas_break_is_reported_in_one_sentence():
    found = chosen(Ranking("hermes", "m"), hermes=(LARGER_WRONG, LARGER_WRONG))

    assert found.verdict == "works-with-limits"
    assert len(found.reasons) == 2
    assert found.reasons[1].endswith("`one-call`, streamed differently: y. Likewise `two-calls`.")
    assert chosen(Ranking("x", "m"), abc=(LARGER_WRONG, RIGHT)).tool_parser == "abc"


def test_a_parser_that_reads_texts_alone_does_not_outdo_one_that_reads_calls():
    ranking = Ranking("hermes", "m")
    table = rows(hermes=(STREAMS_WRONG, WRONG), texts=(WRONG, RIGHT))

    assert ranking.best(table, 1) == ["vllm:hermes"]


def test_an_unrelated_parser_that_does_not_stream_the_simplest_call_is_not_recommended():
    assert chosen(Ranking("hermes", "m"), abc=(STREAMS_WRONG, RIGHT)).verdict == "nothing-works"
    assert chosen(Ranking("hermes", "m"), hermes=(STREAMS_WRONG, RIGHT)).tool_parser == "hermes"


def test_the_family_own_parser_is_not_recommended_if_it_returns_no_answer_as_it_should():
    found = chosen(Ranking("hermes", "m"), hermes=(STREAMS_WRONG, STREAMS_WRONG))

    assert (found.tool_parser, found.verdict) == (None, "nothing-works")
    assert found.reasons[0] == "No parser of this release returns the simplest call correctly when it is streamed."
    assert found.reasons[1] == f"`hermes`, the parser for outputs read as `hermes`: {STREAMS_WRONG.problem}."


def test_where_nothing_works_the_family_own_parser_is_reported():
    found = chosen(Ranking("hermes", "m"), hermes=(WRONG, RIGHT))

    assert (found.tool_parser, found.verdict) == (None, "nothing-works")
    assert found.reasons[-1] == "`hermes`, the parser for outputs read as `hermes`: it loses it."


def test_a_parser_that_returns_calls_only_after_reasoning_is_recommended_where_the_model_thinks_first(write):
    from tests.core.tools.check.templates import HERMES

    names = ("text", "one-call", "no-arguments", "reasoning-and-call")
    ideals = [write(HERMES, name) for name in names]

    def found(family, *row):
        parser = {"harmony": "openai"}.get(family, family)
        table = {f"vllm:{parser}": dict(zip(names, row, strict=True))}
        ranking = Ranking(family, "m")
        return recommend(ideals, table, ranking.best(table, 9), ranking)

    thinking = found("harmony", RIGHT, WRONG, WRONG, RIGHT)
    assert (thinking.tool_parser, thinking.verdict) == ("openai", "works-with-limits")
    assert thinking.reasons[1] == (
        "It returns calls after reasoning, which this model usually writes first, and not where an output begins with "
        "a call: `one-call` and 1 more; it loses it."
    )
    assert found("hermes", RIGHT, WRONG, WRONG, RIGHT).verdict == "nothing-works"
    assert found("harmony", RIGHT, WRONG, WRONG, WRONG).verdict == "nothing-works"
    assert "begins with" not in str(found("harmony", RIGHT, RIGHT, WRONG, RIGHT).reasons)


def test_a_notation_that_looks_like_another_familys_is_not_taken_for_lineage():
    told = chosen(Ranking("xlam", "HyperCLOVAX-SEED-Think-14B"), xlam=(WRONG, WRONG)).reasons

    assert "`xlam`, the parser for outputs read as `xlam`: it loses it." in told
    assert "made for" not in str(told)


def test_the_end_of_a_prompt_alone_shows_no_notation_of_calls(write):
    from dataclasses import replace

    from tests.core.tools.check.templates import HERMES

    call = write(HERMES, "one-call")
    bare = replace(call, raw='{"name": "f", "arguments": {\'city\': \'x\'}}<|end|>', prompt="<|assistant|>")

    assert family_of([bare]) != "glm45"
    assert family_of([call]) == "hermes"


def test_parsers_for_the_same_notation_are_named_where_nothing_works():
    told = chosen(Ranking("jamba", "m"), jamba=(WRONG, WRONG), hunyuan_a13b=(WRONG, WRONG)).reasons

    assert "`hunyuan_a13b`, for the same notation: it loses it." in told
    assert "same notation" not in str(
        chosen(Ranking("hermes", "m"), hermes=(WRONG, WRONG), hunyuan_a13b=(WRONG, WRONG)).reasons
    )


def test_where_no_parser_was_given_a_call_it_is_not_said_that_nothing_works(write):
    from tests.core.tools.check.templates import HERMES

    refusing = HERMES.replace("{{ call.function.name }}", "{{ raise_exception('no calls') }}")
    ideal, ranking, text = write(refusing), Ranking("hermes", "m"), {"vllm:hermes": {"text": RIGHT}}

    found = recommend([ideal], text, ranking.best(text, 9), ranking)

    assert ideal.refusal is not None
    assert (found.tool_parser, found.verdict) == (None, "unknown")
    assert found.reasons[0].startswith("The template fails for the simplest call: ")


def test_parsers_that_return_only_calls_without_arguments_show_that_these_are_printed_in_an_odd_way(write):
    from tests.core.tools.check.templates import HERMES

    ideals = [write(HERMES, name) for name in ("one-call", "no-arguments", "text")]

    def last_reason(**named):
        answers = ("one-call", "no-arguments", "text")
        table = {f"vllm:{name}": dict(zip(answers, row, strict=True)) for name, row in named.items()}
        ranking = Ranking("hermes", "m")
        return recommend(ideals, table, ranking.best(table, 9), ranking, has_vocabulary=False).reasons[-1]

    told = last_reason(abc=(WRONG, RIGHT, RIGHT), texts=(WRONG, WRONG, RIGHT))
    assert told.startswith("`abc` returns a call without arguments, but no parser returns a call with arguments")
    assert "<tool_call>" in told
    # Not where calls without arguments are lost as well, nor where a call with arguments is read but not streamed.
    assert "without arguments" not in last_reason(abc=(WRONG, WRONG, RIGHT))
    assert "without arguments" not in last_reason(abc=(STREAMS_WRONG, RIGHT, RIGHT))


def test_a_text_that_comes_back_as_reasoning_from_every_parser_is_printed_as_such(write):
    from tests.core.tools.check.templates import HERMES

    ideal = write(HERMES, "text-and-call")
    text = ideal.answer.content
    lost = Cell(False, None, "content lacks it", outcome=VllmOutcome(text, None, ()))
    others = {f"vllm:other{number}": {"one-call": WRONG, "text-and-call": WRONG} for number in range(20)}

    def reason_of(cell, cells):
        table = {"vllm:hermes": {"one-call": RIGHT, "text-and-call": cell}, **cells}
        ranking = Ranking("hermes", "m")
        return recommend([ideal], table, ranking.best(table, 1), ranking).reasons[1]

    assert reason_of(lost, others).endswith("returns it: the template prints this text as it prints reasoning.")
    assert reason_of(WRONG, others).endswith("returns it: the template may lose it.")
    assert "the template" not in reason_of(lost, {})


def test_the_family_is_seen_in_what_the_template_writes(write):
    from tests.core.tools.check.templates import HERMES

    assert family_of([write(HERMES)]) == "hermes"
    assert family_of([write(HERMES, "text")]) is None


def test_a_sibling_that_gives_more_back_is_recommended_with_the_failure_of_the_one_that_has_the_name():
    ranking = Ranking("glm45", "poolside-Laguna")
    table = rows(**{"glm45": (RIGHT, RIGHT), "poolside_v1": (RIGHT, WRONG), "poolside_v1+glm45": (RIGHT, WRONG)})

    found = recommend((), table, ranking.best(table, 9), ranking)

    assert ranking.own_tool(table) == "poolside_v1"
    assert found.tool_parser == "glm45"
    assert (
        found.reasons[-1]
        == "`poolside_v1+glm45`, the parser for outputs read as `glm45`, fails for `two-calls`: it loses it."
    )
    assert Ranking("glm45", "poolside-Laguna").own_tool(["vllm:hermes", "vllm:-+glm45"]) is None


def test_the_parser_of_the_model_that_the_files_show_comes_before_others_that_read_as_much():
    checkpoint, shown_by = checkpoint_in("qwen3_coder", "{{- '<|im_start|>tool_response' }}")
    pairs = {"qwen3_coder+qwen3": (RIGHT, RIGHT), "step3p5+step3p5": (RIGHT, LARGER_WRONG)}
    shown, unknown = Ranking("qwen3_coder", "m", "vllm", checkpoint, shown_by), Ranking("qwen3_coder", "m")

    found = chosen(shown, **pairs)

    assert (found.tool_parser, found.reasoning_parser) == ("step3p5", "step3p5")
    assert found.reasons[1] == (
        "The model's files contain `<|im_start|>tool_response`: vLLM has `step3p5` for models with that."
    )
    assert found.reasons[-1] == (
        "`qwen3_coder+qwen3` returns as many token by token and 2 in every chunking, but the model's files point to "
        "`step3p5`."
    )
    assert (shown.own_tool(rows(**pairs)), shown.own_reasoning()) == ("step3p5", ("step3p5",))
    assert chosen(unknown, **pairs).tool_parser == "qwen3_coder"


def test_a_parser_of_the_shown_model_that_returns_less_is_not_recommended():
    checkpoint, shown_by = checkpoint_in("glm45", "〈|EOS|〉")
    ranking = Ranking("glm45", "m", "vllm", checkpoint, shown_by)

    found = chosen(ranking, glm45=(RIGHT, RIGHT), poolside_v1=(RIGHT, STREAMS_WRONG))

    assert found.tool_parser == "glm45"
    assert not any("The model's files" in reason for reason in found.reasons)


def test_a_visitor_that_streams_larger_deltas_better_is_named_and_not_recommended():
    found = chosen(Ranking("hermes", "m"), hermes=(RIGHT, LARGER_WRONG), xlam=(RIGHT, RIGHT))
    alike = chosen(Ranking("hermes", "m"), hermes=(RIGHT, LARGER_WRONG), xlam=(LARGER_WRONG, RIGHT))

    assert found.tool_parser == alike.tool_parser == "hermes"
    assert "`xlam` returns as many token by token and 2 in every chunking" in found.reasons[-1]
    assert not any("xlam" in reason for reason in alike.reasons)


def test_a_prompt_that_opens_reasoning_or_tells_of_it_needs_a_reasoning_parser(write):
    from dataclasses import replace

    from tests.core.tools.check.templates import HERMES

    plain = write(HERMES)

    assert not needs_reasoning([plain])
    assert needs_reasoning([replace(plain, prompt=plain.prompt + "<think></think>")])
    assert needs_reasoning([replace(plain, prompt="Your thoughts:[THINK]here[/THINK]" + plain.prompt)])
    assert not needs_reasoning([replace(plain, prompt=plain.prompt + "I think</s> <|end|> thinking")])


def test_an_end_that_also_stands_within_the_turn_is_none(write):
    from dataclasses import replace

    from tests.core.tools.check.templates import HERMES

    plain = write(HERMES)

    assert not plain.has_inner_end
    assert replace(plain, raw="a<|sep|>f{}<|sep|>", end="<|sep|>").has_inner_end
    assert not replace(plain, raw="a<|sep|>f{}", end="<|sep|>").has_inner_end
    assert not replace(plain, raw="a", end="").has_inner_end


def test_where_the_shown_models_reasoning_parser_is_not_chosen_its_failure_is_reported():
    checkpoint, shown_by = checkpoint_in("deepseek_v32", "<｜DSML｜tool_calls>")
    ranking = Ranking("deepseek_v32", "m", "vllm", checkpoint, shown_by)
    pairs = {"deepseek_v4+deepseek_v3": (RIGHT, RIGHT), "deepseek_v4+deepseek_v4": (RIGHT, WRONG)}

    found = chosen(ranking, **pairs)
    own = chosen(ranking, **{**pairs, "deepseek_v4+deepseek_v4": (RIGHT, RIGHT)})

    assert (found.tool_parser, found.reasoning_parser) == ("deepseek_v4", "deepseek_v3")
    assert found.reasons[-1] == (
        "`deepseek_v4+deepseek_v4`, the parser for outputs read as `deepseek_v32`, fails for `two-calls`: it loses it."
    )
    assert own.reasoning_parser == "deepseek_v4"
    assert not any("fails for" in reason for reason in own.reasons)
