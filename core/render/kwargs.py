"""Which template kwargs are in force, who set each of them, and what each of them reaches.

The precedence is that of `request_variables`. vLLM hands the same values to the
reasoning parser, where they are the only way to learn that thinking is off.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from prompt_debugger.core.base.types import JSON, JSONObject, KwargSource, TemplateKwarg, WeakerValue
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.render.job import RenderOutcome, Variable
from prompt_debugger.core.render.request_variables import NOT_VARIABLES, REQUEST_KWARGS, Variables, is_unset

_TOP_LEVEL = ("add_generation_prompt", "continue_final_message", "documents", "reasoning_effort")
_NOT_KWARGS = frozenset({"messages", "tools"})


def explain_kwargs(
    variables: Variables, body: JSONObject, *, special_tokens: Mapping[str, str], server_defaults: Mapping[str, JSON]
) -> tuple[TemplateKwarg, ...]:
    """Return every kwarg that was set anywhere, by name."""
    layers: dict[KwargSource, dict[str, JSON]] = {
        KwargSource.TOKENIZER: dict(special_tokens),
        KwargSource.SERVER_DEFAULT: dict(server_defaults),
        KwargSource.REQUEST: _request_kwargs(body),
        KwargSource.TOP_LEVEL: dict(_top_level(body)),
    }
    made: dict[str, TemplateKwarg] = {}
    for one in variables.variables:
        if one.name not in _NOT_KWARGS and not (one.name == "documents" and one.value is None):
            made[one.name] = _effective(one, layers)
    made["continue_final_message"] = _continuing(variables, body)
    for source in reversed(layers):
        for name, value in layers[source].items():
            if name not in made and name not in _NOT_KWARGS:
                # A server without defaults of its own hands even what counts as unset to the parser.
                is_passed_on = name in NOT_VARIABLES or (source is KwargSource.REQUEST and not server_defaults)
                made[name] = _ineffective(name, value, source, reaches_parser=is_passed_on)
    return tuple(made[name] for name in sorted(made))


def add_reads(kwargs: tuple[TemplateKwarg, ...], outcome: RenderOutcome) -> tuple[TemplateKwarg, ...]:
    """Return the kwargs with what a render showed of them."""
    if outcome.reads is None or outcome.mentions is None:
        return kwargs
    reads, mentions = outcome.reads, outcome.mentions
    return tuple(
        replace(one, read=one.reaches_template and one.name in reads, mentioned=one.name in mentions) for one in kwargs
    )


def _request_kwargs(body: JSONObject) -> dict[str, JSON]:
    kwargs = body.get(REQUEST_KWARGS)
    return dict(kwargs) if isinstance(kwargs, dict) else {}


def _top_level(body: JSONObject) -> Iterator[tuple[str, JSON]]:
    for name in _TOP_LEVEL:
        if body.get(name) is not None:
            yield name, body[name]
    effort = body.get("reasoning_effort")
    if effort is not None and "enable_thinking" not in _request_kwargs(body):
        yield "enable_thinking", effort != "none"


def _effective(one: Variable, layers: dict[KwargSource, dict[str, JSON]]) -> TemplateKwarg:
    source = _source(one, layers[KwargSource.TOKENIZER])
    weaker = [
        WeakerValue(layer, layers[layer][one.name])
        for layer in reversed(layers)
        if layer is not source and one.name in layers[layer] and not is_unset(layers[layer][one.name])
    ]
    return TemplateKwarg(
        name=one.name,
        value=one.value,
        source=source,
        field=_field(one.name, source, one.root),
        reaches_parser=source is not KwargSource.TOKENIZER,
        overrides=tuple(weaker),
    )


def _source(one: Variable, special_tokens: Mapping[str, JSON]) -> KwargSource:
    if not one.root:
        return KwargSource.TOKENIZER if one.name in special_tokens else KwargSource.DEFAULT
    by_root = {"template_kwargs": KwargSource.SERVER_DEFAULT, REQUEST_KWARGS: KwargSource.REQUEST}
    return by_root.get(one.root[0], KwargSource.TOP_LEVEL)


def _field(name: str, source: KwargSource, root: tuple[str, ...] = ()) -> str | None:
    if source is KwargSource.REQUEST:
        return f"{REQUEST_KWARGS}.{name}"
    if source is not KwargSource.TOP_LEVEL:
        return None
    return root[0] if root else name


def _continuing(variables: Variables, body: JSONObject) -> TemplateKwarg:
    is_set = isinstance(body.get("continue_final_message"), bool)
    return TemplateKwarg(
        name="continue_final_message",
        value=variables.continue_final_message,
        source=KwargSource.TOP_LEVEL if is_set else KwargSource.DEFAULT,
        field="continue_final_message" if is_set else None,
        reaches_template=False,
        reaches_parser=True,
    )


def _ineffective(name: str, value: JSON, source: KwargSource, *, reaches_parser: bool) -> TemplateKwarg:
    """Return a kwarg that is set but never becomes a variable: a setting of the library, or `auto` for unset."""
    return TemplateKwarg(
        name=name,
        value=value,
        source=source,
        field=_field(name, source),
        reaches_template=False,
        reaches_parser=reaches_parser,
    )
