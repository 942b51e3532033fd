"""What the statements of a snippet assign to names, and add to lists and dicts, without running them.

body = {"messages": []}      body["model"] = "m"      messages += [{…}]      messages.append({…})
"""

from __future__ import annotations

import ast

from prompt_debugger.core.request.python_values import Unreadable, Values

_CHANGES = ("insert", "pop", "remove", "clear", "sort", "reverse", "setdefault", "popitem")


def learn_assignment(statement: ast.stmt, values: Values) -> None:
    """Follow one statement; a name whose value cannot be known is kept as that."""
    match statement:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                _assign(target, value, values)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            _assign(target, value, values)
        case ast.AugAssign(target=ast.Name(id=name) as target, op=operator, value=value):
            before = ast.copy_location(ast.Name(name), target)
            _assign(target, ast.copy_location(ast.BinOp(before, operator, value), value), values)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner, attr=method)) as call):
            _mutate(owner, method, call, values)
        case _:
            pass


def _assign(target: ast.expr, node: ast.expr, values: Values) -> None:
    root = _root_name(target)
    if root is None:
        return
    try:
        value = values.value_of(node)
        if isinstance(target, ast.Subscript):
            owner, key = values.value_of(target.value), values.value_of(target.slice)
            if isinstance(owner, dict) and isinstance(key, str):
                owner[key] = value
                values.remember(owner, key, node)
        else:
            values.known[root] = value
    except Unreadable as unreadable:
        values.known[root] = unreadable


def _mutate(owner: ast.expr, method: str, call: ast.Call, values: Values) -> None:
    """Follow `.append(…)`, `.extend(…)` and `.update(…)` on a known list or dict."""
    root = _root_name(owner)
    if root is None or method not in ("append", "extend", "update", *_CHANGES):
        return
    try:
        container = values.value_of(owner)
    except Unreadable:
        return
    try:
        match method, container, call.args:
            case "append", list(), [argument]:
                container.append(values.value_of(argument))
                values.remember(container, len(container) - 1, argument)
            case "extend", list(), [argument] if isinstance(others := values.value_of(argument), list):
                values.extend(container, others, argument)
            case "update", dict(), arguments:
                for argument in arguments:
                    values.merge(container, argument)
                for key, value in (named := values.keywords(call)).items():
                    container[key] = value
                    values.remember(container, key, values.place_of(named, (key,)) or call)
            case _, list() | dict(), _:
                values.known[root] = Unreadable(
                    call, f"The effect of `.{method}(…)` cannot be known without running the snippet."
                )
            case _:
                pass
    except Unreadable as unreadable:
        values.known[root] = unreadable


def _root_name(node: ast.expr) -> str | None:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
