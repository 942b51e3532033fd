"""The header: what is under test, what its statements rest on; and the line about the lab."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, Server, Trace
from prompt_debugger.core.complete import engine_of, title_of
from prompt_debugger.core.pipeline import Target
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import EVIDENCE_HINTS, EVIDENCE_WORDS

_UNKNOWN = ("", "no model name", "unknown")


def header_payload(facts: list[JSON]) -> str:
    """Return the payload of the header: label, value and hint of each fact."""
    return pack_payload({"facts": facts})


def lab_payload(state: str, sentence: str, fraction: float | None = None) -> str:
    """Return the payload of the line about the lab: `starting`, `failed`, `absent` or `ready`."""
    return pack_payload({"state": state, "sentence": sentence, "fraction": fraction})


def target_facts(target: Target) -> list[JSON]:
    """Return what is known of a target before it answered."""
    if target.base_url is not None:
        return [_fact("", _host(target.base_url), target.base_url)]
    lab = target.lab
    return [
        _fact("", "lab", "A real vLLM on this machine, serving a miniature model"),
        _fact("", lab.model, str(lab.model_dir)),
        _fact("parser", lab.tool_parser or "none", "Tool parser"),
        _fact("reasoning", lab.reasoning_parser or "none", "Reasoning parser"),
    ]


def server_facts(trace: Trace) -> list[JSON]:
    """Return what is known of the server a trace comes from; empty before it answered.

    A server without an address was not asked: it was recognized in pasted evidence, and only what is known is listed.
    """
    server = trace.server
    if server is None:
        return []
    model = server.model or (server.served_models[0] if len(server.served_models) == 1 else None)
    software = " ".join(part for part in (title_of(server.kind), server.version) if part)
    known = [
        ("", software, "Server software"),
        ("", model or "no model name", server.model_root or "Model name that requests use"),
        ("parser", server.tool_parser or "unknown", "Tool parser"),
        ("reasoning", _reasoning(server), "Reasoning parser"),
    ]
    if server.is_lab or server.base_url:
        known.insert(0, ("", "lab" if server.is_lab else _host(server.base_url), server.base_url))
    else:
        known = [fact for fact in known if fact[1] not in _UNKNOWN]
    facts: list[JSON] = [_fact(*fact) for fact in known]
    takes_template = engine_of(server.kind).takes_template
    if takes_template and isinstance(trace.request.body.get("chat_template"), str) and trace.refusal is None:
        facts.append(_fact("template", "the request's own", "An edited template was included: not the model's own"))
    if trace.evidence is not None:
        facts.append(_fact("evidence", EVIDENCE_WORDS[trace.evidence], EVIDENCE_HINTS[trace.evidence]))
    return facts


def _host(url: str) -> str:
    """Return what a server is called in a line: its host and port."""
    return url.partition("://")[2].partition("/")[0].rpartition("@")[2]


def _reasoning(server: Server) -> str:
    if server.reasoning_parser is not None:
        return server.reasoning_parser
    if server.is_lab or server.has_reasoning_parser is False:
        return "none"
    return "some parser" if server.has_reasoning_parser else "unknown"


def _fact(label: str, value: str, hint: str) -> JSON:
    return [label, value, hint]
