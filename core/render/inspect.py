"""What a template's source says without running it: how it takes content, which names it uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import jinja2
from jinja2 import meta, nodes

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.reference import compile_plain


@dataclass(frozen=True, slots=True)
class TemplateFacts:
    """What the source says.

    Attributes:
        content_format: `openai` if the template goes through a content's parts, else `string`.
        variables: Names that it expects from outside.
        knows_developer: Whether it mentions the developer role.
    """

    content_format: str
    variables: frozenset[str]
    knows_developer: bool

    def to_json(self) -> JSONObject:
        """Return the facts as JSON."""
        return {
            "content_format": self.content_format,
            "variables": [*sorted(self.variables)],
            "knows_developer": self.knows_developer,
        }


def facts_from_json(data: JSONObject) -> TemplateFacts:
    """Return the facts that `TemplateFacts.to_json` wrote."""
    variables = data["variables"]
    assert isinstance(variables, list)
    return TemplateFacts(str(data["content_format"]), frozenset(map(str, variables)), bool(data["knows_developer"]))


def inspect_template(source: str) -> TemplateFacts:
    """Read a template; one that does not compile takes strings and expects nothing."""
    knows_developer = '"developer"' in source or "'developer'" in source
    try:
        tree = compile_plain(source).environment.parse(source)
    except jinja2.TemplateError:
        return TemplateFacts("string", frozenset(), knows_developer)
    content_format = "openai" if _goes_through_content(tree) else "string"
    return TemplateFacts(content_format, frozenset(meta.find_undeclared_variables(tree)), knows_developer)


def _goes_through_content(tree: nodes.Template) -> bool:
    """Return whether some loop runs over a message's content, by the rules of vLLM.

    Source: vLLM 0.32, `renderers/hf.py`, detection of the content format.
    A loop counts if it runs over `m.content` of a loop variable over the messages, over a
    macro's parameter that receives such a content, or, outside macros, over the name `content`.
    """
    messages = _message_names(tree)
    parameters = {
        id(loop): names for macro in tree.find_all(nodes.Macro) for loop, names in _bound(tree, macro, messages)
    }
    for loop in tree.find_all(nodes.For):
        if any(_reads(loop.iter, name, "content") for name in messages):
            return isinstance(loop.target, nodes.Name)
        if not isinstance(loop.iter, nodes.Name):
            continue
        allowed = parameters.get(id(loop), {"content"})
        if loop.iter.name in allowed:
            return isinstance(loop.target, nodes.Name)
    return False


def _message_names(tree: nodes.Template) -> list[str]:
    """Return the names of loop variables that run over the messages."""
    sources = ["messages"]
    for name in sources:
        for assignment in tree.find_all(nodes.Assign):
            target = assignment.target
            if isinstance(target, nodes.Name) and target.name not in sources and _reads(assignment.node, name):
                sources.append(target.name)
    return [
        loop.target.name
        for loop in tree.find_all(nodes.For)
        if isinstance(loop.target, nodes.Name) and any(_reads(loop.iter, name) for name in sources)
    ]


def _bound(tree: nodes.Template, macro: nodes.Macro, messages: list[str]) -> Iterator[tuple[nodes.For, set[str]]]:
    """Yield the loops of a macro with the parameters of it that receive a message's content."""
    names = [argument.name for argument in macro.args]
    bound: set[str] = set()
    for call in tree.find_all(nodes.Call):
        if not (isinstance(call.node, nodes.Name) and call.node.name == macro.name):
            continue
        given = [
            *zip(names, call.args, strict=False),
            *((word.key, word.value) for word in call.kwargs if word.key in names),
        ]
        bound |= {name for name, value in given if any(_reads(value, message, "content") for message in messages)}
    for loop in macro.find_all(nodes.For):
        yield loop, bound


def _reads(node: nodes.Node | None, name: str, key: str | None = None) -> bool:
    """Return whether an expression is variable `name`, or its entry `key`, perhaps filtered or sliced."""
    while True:
        if isinstance(node, (nodes.Filter, nodes.Test)) or (
            isinstance(node, nodes.Getitem) and isinstance(node.arg, nodes.Slice)
        ):
            node = node.node
        else:
            break
    if key is not None:
        if isinstance(node, nodes.Getattr):
            found = node.attr == key
        elif isinstance(node, nodes.Getitem):
            found = isinstance(node.arg, nodes.Const) and node.arg.value == key
        else:
            return False
        node = node.node
        return found and isinstance(node, nodes.Name) and node.name == name
    return isinstance(node, nodes.Name) and node.ctx == "load" and node.name == name
