"""What would cure a finding, as data: the request with one thing changed, or other flags for the server.

A cure is offered only where a program can carry it out. A finding that follows from another
has that one's cure.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Trace
from prompt_debugger.core.complete import engine_of
from prompt_debugger.core.diagnose.rules.unknown_schema_type import MEANT
from prompt_debugger.core.diagnose.thinking import thinking_switch
from prompt_debugger.core.diagnose.trace_queries import prompt_of
from prompt_debugger.core.formats import TABLES
from prompt_debugger.core.tools.experiments.difference import TokenDifference
from prompt_debugger.core.tools.experiments.json import difference_to_json
from prompt_debugger.core.tools.experiments.switches.calls import normalise_ids
from prompt_debugger.core.tools.fixes.client_cures import CLIENT_CURES
from prompt_debugger.core.tools.fixes.documents import CureDocument
from prompt_debugger.core.tools.fixes.patch import patch_between
from prompt_debugger.core.tools.fixes.request_cures import BODIES, holder_of
from prompt_debugger.core.tools.fixes.template_cures import cured_template, template_diff
from prompt_debugger.core.tools.plugin.write import PARSER_NAME

_MOST_TOKENS = 1024
UNREAD = frozenset({"generic", "harmony"})  # formats that the plugin does not read in vLLM
_LIMITS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True, slots=True)
class Cure:
    """What to change, and whether that was tried.

    Attributes:
        name: What it does, in few words.
        kind: What it changes.
        patch: Operations on the request.
        command: Server flags to start with.
        tool_parser: The tool parser that those flags name, where that is all they do.
        reasoning_parser: The reasoning parser, likewise.
        plugin: Family of the parser plugin with which the server is started; "" for none.
        template: The chat template with the fault mended, for a cure of that kind.
        diff: What is changed in the template, as a unified diff.
        client: Source of a function that mends the message, for a cure on the client's side.
        alternatives: Further cures of the same finding.
        tried: Whether the changed run was made.
        worked: Whether the finding was gone in it, and no other error had come; `None` if not tried.
        prompt_difference: What the change did to the prompt; `None` if not tried, or nothing.
    """

    name: str
    kind: Literal["request", "template", "flags", "client"]
    patch: tuple[JSONObject, ...] = ()
    command: str = ""
    tool_parser: str | None = None
    reasoning_parser: str | None = None
    plugin: str = ""
    template: str = ""
    diff: str = ""
    client: str = ""
    alternatives: tuple[Cure, ...] = ()
    tried: bool = False
    worked: bool | None = None
    prompt_difference: TokenDifference | None = None

    @property
    def each(self) -> tuple[Cure, ...]:
        """The cure itself, and the further ones."""
        return (replace(self, alternatives=()), *self.alternatives)

    def to_json(self) -> JSONObject:
        """Return it as the run document has it."""
        return self.to_document().model_dump(mode="json")

    def to_document(self) -> CureDocument:
        """Return it as a document."""
        return CureDocument(
            name=self.name,
            kind=self.kind,
            patch=[dict(operation) for operation in self.patch],
            command=self.command,
            diff=self.diff,
            client=self.client,
            tried=self.tried,
            worked=self.worked,
            alternatives=[one.to_document() for one in self.alternatives],
            prompt_difference=None if self.prompt_difference is None else difference_to_json(self.prompt_difference),
        )


def cures_of(trace: Trace) -> dict[str, Cure]:
    """Return the cure of every finding that has one, by the finding's code."""
    by_code = {finding.code: finding for finding in trace.findings}
    own = {code: cure for code, finding in by_code.items() if (cure := _cure_of(trace, finding)) is not None}
    return {code: cure for code in by_code if (cure := _inherited(code, by_code, own)) is not None}


def _inherited(code: str, by_code: Mapping[str, Finding], own: Mapping[str, Cure]) -> Cure | None:
    """Return the cure of the finding from which others follow, before one's own."""
    seen: list[str] = []
    now: str | None = code
    while now is not None and now in by_code and now not in seen:
        seen.append(now)
        now = by_code[now].follows
    return next((own[one] for one in reversed(seen) if one in own), None)


def _cure_of(trace: Trace, finding: Finding) -> Cure | None:
    make = _MAKERS.get(finding.code)
    found = [None if make is None else make(trace, finding), *_further(trace, finding)]
    cures = [cure for cure in found if cure is not None]
    return replace(cures[0], alternatives=tuple(cures[1:])) if cures else None


def _further(trace: Trace, finding: Finding) -> Iterator[Cure | None]:
    """Yield what the request, the template and the client can do."""
    if finding.code in BODIES:
        name, make = BODIES[finding.code]
        yield _request_cure(trace, name, make(trace, finding))
    prompt = prompt_of(trace)
    changed = cured_template(trace, finding)
    if changed is not None and prompt is not None and prompt.template is not None:
        diff = template_diff(prompt.template, changed)
        flag = engine_of("" if trace.server is None else trace.server.kind).template_flag
        yield Cure("the template mended", "template", template=changed, diff=diff, command=f"{flag} mended.jinja")
    if finding.code in CLIENT_CURES:
        client = CLIENT_CURES[finding.code]
        yield Cure(client.name, "client", client=client.source)


def _request_cure(trace: Trace, name: str, body: JSONObject) -> Cure | None:
    patch = tuple(patch_between(trace.request.body, body))
    return Cure(name, "request", patch) if patch else None


def _history_ids(trace: Trace, _: Finding) -> Cure | None:
    return _request_cure(trace, "history ids as Kimi K2 writes them", normalise_ids(trace.request.body))


def _dropped(trace: Trace, _: Finding) -> Cure | None:
    """A call that nothing in the request explains: this program's own reader, put into the server."""
    family = None if trace.parse is None else trace.parse.parsed.format
    if trace.server is None or trace.server.kind != "vllm" or family is None or family in UNREAD:
        return None
    return Cure("a parser plugin in the server", "flags", plugin=family, command=plugin_command(family))


def plugin_command(family: str) -> str:
    """Return how to write a parser plugin and start a server with it."""
    flags = f"--enable-auto-tool-choice --tool-parser-plugin parser.py --tool-call-parser {PARSER_NAME}"
    return f"prompt-debugger plugin --family {family} --output parser.py; then start vLLM with {flags}"


def _other_parser(trace: Trace, _: Finding) -> Cure | None:
    family = "" if trace.parse is None else trace.parse.parsed.format
    parsers = TABLES.tool_parsers.get(family, ())
    if trace.server is None or trace.server.kind != "vllm" or not parsers or trace.server.tool_parser in parsers:
        return None
    return Cure(
        f"the tool parser {parsers[0]}",
        "flags",
        command=f"--enable-auto-tool-choice --tool-call-parser {parsers[0]}",
        tool_parser=parsers[0],
    )


def _generation_prompt(trace: Trace, _: Finding) -> Cure | None:
    kept = {key: value for key, value in trace.request.body.items() if key != "add_generation_prompt"}
    return _request_cure(trace, "add_generation_prompt left out", kept)


def _empty_content(trace: Trace, finding: Finding) -> Cure | None:
    fields = [entry.field for entry in finding.evidence if entry.where == "request" and entry.field]
    body = copy.deepcopy(trace.request.body)
    for field in fields:
        holder, key = holder_of(body, field)
        if isinstance(holder, dict) and holder.get(key) == "":
            holder[key] = None
        elif isinstance(holder, dict) and isinstance(holder.get(key), list):
            holder[key] = _joined(holder[key])
    return _request_cure(trace, "content as the template prints it", body)


def _joined(parts: JSON) -> JSON:
    """Return the text of content parts, or the parts where one of them is no text."""
    texts = [part.get("text") if isinstance(part, dict) else None for part in parts] if isinstance(parts, list) else []
    return "".join(str(text) for text in texts) if texts and all(isinstance(text, str) for text in texts) else parts


def _more_tokens(trace: Trace, _: Finding) -> Cure | None:
    body = trace.request.body
    name = next((name for name in _LIMITS if isinstance(body.get(name), int)), None)
    if name is None:
        return None
    before = body[name]
    assert isinstance(before, int)
    limit = _MOST_TOKENS if trace.server is None or not trace.server.max_model_len else trace.server.max_model_len // 4
    more = min(max(8 * before, 128), max(limit, 2 * before))
    return _request_cure(trace, f"{name}: {more}", {**body, name: more})


def _no_thinking(trace: Trace, _: Finding) -> Cure | None:
    switch = thinking_switch(trace)
    kwargs = trace.request.body.get("chat_template_kwargs")
    body = trace.request.body
    changed = {**(kwargs if isinstance(kwargs, dict) else {}), switch.name: switch.off}
    return _request_cure(trace, f"thinking switched off by {switch.name}", {**body, "chat_template_kwargs": changed})


def _named_field(trace: Trace, finding: Finding) -> Cure | None:
    fields = {entry.field for entry in finding.evidence if entry.where == "request"}
    kept = {key: value for key, value in trace.request.body.items() if key not in fields}
    return _request_cure(trace, f"{', '.join(sorted(filter(None, fields)))} left out", kept)


def _schema_types(trace: Trace, finding: Finding) -> Cure | None:
    body = copy.deepcopy(trace.request.body)
    for entry in finding.evidence:
        holder, key = holder_of(body, entry.field or "")
        name = holder.get(key) if isinstance(holder, dict) else None
        if isinstance(holder, dict) and isinstance(name, str):
            holder[key] = MEANT.get(name.lower(), name.lower())
    return _request_cure(trace, "types that JSON Schema knows", body)


def _reasoning_parser(trace: Trace, _: Finding) -> Cure | None:
    family = "" if trace.parse is None else trace.parse.parsed.format
    parsers = TABLES.reasoning_parsers.get(family, ())
    if trace.server is None or trace.server.kind != "vllm" or not parsers or trace.server.reasoning_parser in parsers:
        return None
    name, command = f"the reasoning parser {parsers[0]}", f"--reasoning-parser {parsers[0]}"
    return Cure(name, "flags", command=command, reasoning_parser=parsers[0])


_MAKERS: Mapping[str, Callable[[Trace, Finding], Cure | None]] = {
    "PD100": _named_field,
    "PD101": _schema_types,
    "PD103": _named_field,
    "PD104": _history_ids,
    "PD203": _generation_prompt,
    "PD205": _empty_content,
    "PD301": _more_tokens,
    "PD302": _more_tokens,
    "PD401": _dropped,
    "PD405": _other_parser,
    "PD406": _other_parser,
    "PD408": _no_thinking,
    "PD409": _reasoning_parser,
    "PD426": _other_parser,
}
