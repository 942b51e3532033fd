"""A diff of a chat template for its maintainers, with a test that fails without it and passes with it.

The diff is the fix that a finding of the run offers. Where the finding offers a change of the request too, both must
give the same prompt, and that is the test: the request as it was sent has to render like the changed one. It is run
with transformers' own renderer, on the template without the diff and with it.
"""

from __future__ import annotations

import asyncio
import copy
import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from prompt_debugger.core.base.errors import RenderError, RequestError
from prompt_debugger.core.base.interpreter import python_that_has
from prompt_debugger.core.base.json_values import as_list, as_object, decode_json
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import JSON, Trace
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.pipeline.render_only import render_request
from prompt_debugger.core.pipeline.target import Target
from prompt_debugger.core.tools.fixes.offered import OfferedFix, fixes_of
from prompt_debugger.core.tools.fixes.patch import apply_patch
from prompt_debugger.core.tools.fixes.trial import Runner, Trial, try_test
from prompt_debugger.core.tools.fixes.upstream_diff import UpstreamDiff

_NAME = "chat_template.jinja"
_PACKAGE = "transformers"
_MOST_FILES = 20_000
_TEST = '''\
"""The chat template must make the same prompt of a request as of one with {change}."""

import json
from pathlib import Path

from transformers.utils.chat_template_utils import render_jinja_template

NAME = {file}
TEMPLATE = next(folder / NAME for folder in Path(__file__).resolve().parents if (folder / NAME).is_file())
SENT = json.loads{sent}
CHANGED = json.loads{changed}
OTHERS = json.loads{others}  # of the template, such as tools


def render(messages):
    template = TEMPLATE.read_text(encoding="utf-8")
    tokens = {{"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}}
    texts, _ = render_jinja_template([messages], chat_template=template, **tokens, **OTHERS)
    return texts[0]


def {name}():
    sent, changed = render(SENT), render(CHANGED)
    at = next((i for i, (a, b) in enumerate(zip(sent, changed)) if a != b), min(len(sent), len(changed)))
    assert sent == changed, f"the prompt has {{sent[at:at + 60]!r}} instead of {{changed[at:at + 60]!r}}"
'''


async def template_diff(trace: Trace, source: Path | None = None, *, tries_test: bool = True) -> UpstreamDiff:
    """Return the fix of a run's template as a diff, with its test; the request is rendered with and without it.

    Args:
        trace: The run.
        source: Folder of a release's source or of an unpacked wheel: the diff is of the file there that has the
            template.
        tries_test: Whether the test may be run here; without it none is written.

    Raises:
        RequestError: There is no such folder, or no file in it has the run's template.
        SandboxError: Checking the request takes too much.
    """
    offered = fixes_of(trace)
    of_template = [(code, one) for code, fix in offered.items() for one in fix.each if one.diff and one.template]
    if not of_template:
        says = "No fix of the template is known for what was found in this run, so there is no diff of it."
        return UpstreamDiff(of="template", says=says)
    code, fix = next(iter(of_template))
    prompt = prompt_of(trace)
    before = "" if prompt is None else prompt.template or ""
    file, text = (_NAME, before) if source is None else await asyncio.to_thread(_file_with, source, before)
    changed = fix.template + text[len(before) :]  # a file may end in a line break that a server takes off
    is_proved = code not in await _found(trace, fix.template) and code in await _found(trace, before)
    proof = "gone when the request is rendered with it" if is_proved else "not seen by rendering alone"
    tried = "" if is_proved else " Try it on a server with `run REQUEST --experiments` before you send it."
    found = UpstreamDiff(
        of="template",
        diff=_diff(text, changed, file),
        file=file,
        says=f"This is the fix for {code}, which is {proof}.{tried}",
    )
    if not tries_test:
        return found
    return await asyncio.to_thread(_add_test, found, trace, code, offered[code], (text, changed))


def _add_test(found: UpstreamDiff, trace: Trace, code: str, fix: OfferedFix, texts: tuple[str, str]) -> UpstreamDiff:
    """Return a diff with the test that it turns green, or why there is none."""
    same = next((one for one in fix.each if one.kind == "request" and one.patch), None)
    if same is None:
        why = f"No test was written: no change of the request is known that shows the right prompt for {code}."
        return replace(found, says=f"{found.says} {why}")
    python = python_that_has(_PACKAGE)
    if python is None:
        return replace(found, says=f"{found.says} No test was written: transformers, which runs it, is not installed.")
    test = _test_of(trace, code, same, found.file)
    without, with_it = (_try(test, found.file, text, Runner(python, _PACKAGE)) for text in texts)
    if (without.fails, with_it.fails) == (True, False):
        ran = f"transformers {without.version}: the new test fails without this change and passes with it."
        return replace(found, test=test, says=f"{ran} {found.says}")
    unread = next((one for one in (without, with_it) if one.fails is None), None)
    if unread is not None:
        why = unread.explanation
    elif without.fails:
        why = f"it fails with the change too: {with_it.explanation}"
    else:
        why = "the request by itself renders as it should, so what fails is done by the server before it renders"
    return replace(found, says=f"{found.says} No test is given: {why.rstrip('.')}.")


def _test_of(trace: Trace, code: str, same: OfferedFix, file: str) -> str:
    body = trace.request.body
    changed = as_object(apply_patch(body, same.patch))
    others: dict[str, JSON] = {"tools": body.get("tools"), "add_generation_prompt": True}
    others |= as_object(body.get("chat_template_kwargs"))
    title = next(one.name for one in trace.findings if one.code == code)
    return _TEST.format(
        change=re.sub(r"[^\w ,.'`-]", "", same.name),
        file=ascii(file),
        sent=_json(_decoded(body.get("messages"))),
        changed=_json(_decoded(changed.get("messages"))),
        others=_json(others),
        name=f"test_{re.sub('[^a-z0-9]+', '_', title.lower())[:60]}",
    )


def _json(value: JSON) -> str:
    lines = json.dumps(value, ensure_ascii=False, indent=1).splitlines(keepends=True)
    return "(\n" + "".join(f"    {line!r}\n" for line in lines) + ")"


def _decoded(messages: JSON) -> JSON:
    """Return messages with the arguments of their calls as objects, as servers give them to a template."""
    made = copy.deepcopy(messages)
    for message in as_list(made):
        for call in as_list(as_object(message).get("tool_calls")):
            function = as_object(call).get("function")
            if isinstance(function, dict) and isinstance(arguments := function.get("arguments"), str):
                decoded = decode_json(arguments)
                function["arguments"] = decoded if isinstance(decoded, dict) else arguments
    return made


def _try(test: str, file: str, template: str, runner: Runner) -> Trial:
    with scratch("template") as folder:
        place = folder / file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(template, encoding="utf-8")
        name = folder / "test_chat_template.py"
        name.write_text(test, encoding="utf-8")
        return try_test(name, runner)


def _file_with(source: Path, template: str) -> tuple[str, str]:
    """Return which file of a folder has a template, by its path there, and its text.

    Raises:
        RequestError: None has.
    """
    if not source.is_dir():
        raise RequestError(f"There is no folder {str(source)!r}.", "Give an unpacked source release.", field="--source")
    for number, place in enumerate(sorted(source.rglob("*.jinja*"))):
        if number >= _MOST_FILES:
            break
        text = place.read_text(encoding="utf-8", errors="replace") if place.is_file() else ""
        if text.rstrip("\n") == template.rstrip("\n"):
            return place.relative_to(source).as_posix(), text if text.startswith(template) else template
    raise RequestError(
        "No file of that folder has the chat template of this run.",
        "Give the source of the release that it is from, or leave --source out.",
        field="--source",
    )


async def _found(trace: Trace, template: str) -> Mapping[str, str]:
    """Return what is found in a run's request, rendered with a template: titles by code."""
    target = Target(chat_template=template or None)  # the tokenizer is the lab's: texts are compared, no tokens
    try:
        return {one.code: one.title for one in (await render_request(trace.request, target)).findings}
    except RenderError:
        return {}


def _diff(before: str, after: str, name: str) -> str:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}", n=2)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
