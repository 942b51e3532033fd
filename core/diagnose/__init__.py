"""5 · `Trace` → findings and verdict.

Rules are files in `rules/`, found by discovery. Each is asked on its own and
guarded: one that crashes becomes a finding about itself, and the others run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from prompt_debugger.core.base.comparable import REQUEST_GAP, UNLINKED, is_partial
from prompt_debugger.core.base.discover import discover, discover_installed
from prompt_debugger.core.base.errors import PluginError, shorten
from prompt_debugger.core.base.protocols import Rule
from prompt_debugger.core.base.types import Basis, Certainty, Finding, Request, Severity, Stage, Trace
from prompt_debugger.core.base.types.frozen import replace
from prompt_debugger.core.diagnose import rules
from prompt_debugger.core.diagnose.blame import borrow_fixes, excuse, mark_followers, worst_first
from prompt_debugger.core.diagnose.fields import remembering
from prompt_debugger.core.diagnose.fixes import Fix
from prompt_debugger.core.diagnose.rules.base import TraceRule
from prompt_debugger.core.diagnose.trace_queries import TracePart, is_asked_stream, is_whole, parts_of_trace
from prompt_debugger.core.diagnose.verdict import reach_verdict
from prompt_debugger.core.diagnose.words import lowered

CRASH_CODE = "PD900"
CRASH_NAME = "rule-crashed"
_CODE = re.compile(r"PD[1-5]\d\d")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_SEE = "docs/guides/extend.md describes how a rule is written."
_NONE: Mapping[str, tuple[Finding, ...]] = MappingProxyType({})


def index_rules(found: Mapping[str, object]) -> Mapping[str, TraceRule]:
    """Return rules by code, in order of codes.

    Args:
        found: What each file of `rules/` calls `RULE`, by the file's name without its end.

    Raises:
        PluginError: One is not a rule, its code or name is invalid, or two files share one.
    """
    by_code: dict[str, TraceRule] = {}
    file_by_text: dict[str, str] = {}
    for module, rule in found.items():
        file = f"core/diagnose/rules/{module}.py"
        if not isinstance(rule, TraceRule):
            raise PluginError(f"`RULE` of `{file}` is not a `TraceRule` but a {type(rule).__name__}.", _SEE)
        if not _CODE.fullmatch(rule.code):
            expected = "`PD`, the digit of its stage from 1 (request) to 5 (contract), and two digits."
            raise PluginError(f"Invalid rule code {rule.code!r} in `{file}`.", f"Expected {expected}")
        if not _NAME.fullmatch(rule.name):
            expected = "lowercase letters and digits with hyphens between words, such as `double-bos`."
            raise PluginError(f"Invalid rule name {rule.name!r} in `{file}`.", f"Expected {expected}")
        for kind, text in (("code", rule.code), ("name", rule.name)):
            if text in file_by_text:
                other = file_by_text[text]
                raise PluginError(
                    f"The {kind} `{text}` is used by both `{other}` and `{file}`.", "Change it in one of them."
                )
            file_by_text[text] = file
        if not all(isinstance(fix, Fix) for fix in rule.fixes):
            raise PluginError(f"The `fixes` of the rule in `{file}` contain something that is not a `Fix`.", _SEE)
        by_code[rule.code] = rule
    return dict(sorted(by_code.items()))


_OWN = discover(rules, "RULE")
RULES: Mapping[str, TraceRule] = index_rules(_OWN | discover_installed("prompt_debugger.rules", "RULE", _OWN))
"""Every rule by its code, in order of codes."""
_UNRENDERED = "PD221"
_COMPARE = frozenset({"PD411"})  # the stream with the whole answer, which is what they are for
_IF_OF_ONE_RUN = "This holds if request and answer belong together, which nothing in the text shows."


def diagnose_trace(
    trace: Trace, ruleset: Mapping[str, Rule] = RULES, *, of_request: Mapping[str, tuple[Finding, ...]] = _NONE
) -> tuple[Finding, ...]:
    """Ask every rule about a trace.

    Args:
        trace: What is known of a run; stages that have not run are `None`. A raw text that may lack control
            tokens is kept from the rules.
        ruleset: The rules to ask, by code.
        of_request: What `diagnose_request` found in the same request, where someone asked before.

    Returns:
        Findings, worst first; `follows` names an earlier fault that may explain one.
    """
    shown, parts = trace, parts_of_trace(trace)
    sights = parts
    if not is_whole(trace):  # what is missing in it would look like a fault of the model or of the server
        trace = replace(trace, raw=None, raw_again=None, parse=None)
        sights = parts_of_trace(trace)
    findings: list[Finding] = []
    has_gap = REQUEST_GAP in trace.notes
    with remembering():
        for rule in _asked(ruleset, sights, parts):
            if has_gap and getattr(rule, "asks_request_alone", False):
                continue
            known = of_request.get(rule.code)
            if known is None:
                _ask(rule, shown if getattr(rule, "reads_stripped", False) else trace, findings)
            else:
                findings += known
        if trace.chat_stream is not None and not is_asked_stream(trace):
            findings = [*_of_added_stream(findings, trace, ruleset)]
    if is_partial(trace):
        findings = [one for one in findings if _stands_in_part(ruleset.get(one.code), one)]
    if not findings:
        return ()
    findings = _of_assumed(findings, trace, ruleset)
    codes = {finding.code for finding in findings} & ruleset.keys()
    explains = {code: tuple(getattr(ruleset[code], "explains", ())) for code in codes}
    excuses = {code: tuple(getattr(ruleset[code], "excuses", ())) for code in codes}
    if any(excuses.values()):
        findings = [*excuse(findings, excuses)]
    borrowers = {code for code in codes if getattr(ruleset[code], "borrows_fix", False)}
    marked = mark_followers(findings, explains)
    if trace.refusal is not None and trace.chat is not None and trace.chat.finish_reason:
        # A request that no template rendered has no answer: the one pasted with it is another request's.
        marked = tuple(replace(one, follows=None) if one.follows == _UNRENDERED else one for one in marked)
    return worst_first(borrow_fixes(marked, borrowers))


def _of_added_stream(findings: list[Finding], trace: Trace, ruleset: Mapping[str, Rule]) -> Iterator[Finding]:
    """Yield findings, as notes those that are true only of the stream which this program asked for in addition.

    The request does not ask for it, so no fault of it is a fault of the run; whoever streams later wants to know.
    """
    without = replace(trace, chat_stream=None)
    seen: dict[str, bool] = {}
    for finding in findings:
        rule = ruleset.get(finding.code)
        if rule is None or finding.severity is Severity.NOTE or finding.code in _COMPARE:
            yield finding
            continue
        if finding.code not in seen:
            alone: list[Finding] = []
            _ask(rule, without, alone)
            seen[finding.code] = bool(alone)
        if seen[finding.code]:
            yield finding
        else:
            title = finding.title
            title = title if "stream" in title.lower() else f"Only when streamed: {lowered(title)}"
            yield replace(finding, severity=Severity.NOTE, title=title)


def _stands_in_part(rule: Rule | None, finding: Finding) -> bool:
    """Return whether a finding in a text that is incomplete is true of the whole: by its rule, or as a server's."""
    is_of_server = bool(finding.evidence) and {one.where for one in finding.evidence} == {"server"}
    return rule is None or is_of_server or bool(getattr(rule, "stands_in_part", False))


def _of_assumed(findings: list[Finding], trace: Trace, ruleset: Mapping[str, Rule]) -> list[Finding]:
    """Return findings as inferred if they rest on two parts that are only assumed to be of one run."""
    if trace.evidence is Basis.ASSUMED_RUN:
        findings = [_assumed(finding) for finding in findings]
    return _of_unlinked(findings, trace, ruleset) if UNLINKED in trace.notes else findings


def _assumed(finding: Finding) -> Finding:
    """Return a finding that compares parts which are only assumed to be of one run as inferred."""
    is_of_two = finding.stage is Stage.RENDER or len({one.where for one in finding.evidence} - {"server"}) > 1
    return replace(finding, certainty=Certainty.INFERRED) if is_of_two else finding


def _of_unlinked(findings: list[Finding], trace: Trace, ruleset: Mapping[str, Rule]) -> list[Finding]:
    """Return findings as inferred if they rest on a request and an answer that nothing links: neither shows them."""
    notes = tuple(note for note in trace.notes if note != UNLINKED)
    answered = replace(trace, request=Request({}, ""), sent={}, notes=notes)
    asked = Trace(trace.request, server=trace.server, refusal=trace.refusal, sent=trace.sent, notes=notes)
    shown = {(one.code, one.title) for alone in (answered, asked) for one in diagnose_trace(alone, ruleset)}
    return [one if (one.code, one.title) in shown else _if_of_one_run(one) for one in findings]


def _if_of_one_run(finding: Finding) -> Finding:
    detail = f"{finding.detail} {_IF_OF_ONE_RUN}".strip()
    return replace(finding, certainty=Certainty.INFERRED, detail=detail)


def diagnose_request(request: Request) -> Mapping[str, tuple[Finding, ...]]:
    """Ask the rules that look at a request alone; what they find holds for every output of it, by their codes."""
    trace = Trace(request=request)
    found: dict[str, tuple[Finding, ...]] = {}
    for rule in RULES.values():
        if rule.asks_request_alone:
            findings: list[Finding] = []
            _ask(rule, trace, findings)
            found[rule.code] = tuple(findings)
    return found


def _asked(ruleset: Mapping[str, Rule], sights: frozenset[TracePart], parts: frozenset[TracePart]) -> tuple[Rule, ...]:
    """Return the rules that a trace shows enough for; `parts` are those that the trace has with a stripped text."""
    if ruleset is RULES:
        return _asked_of_all(sights, parts)
    return tuple(
        rule
        for rule in ruleset.values()
        if getattr(rule, "needs", None) in {None, *(parts if getattr(rule, "reads_stripped", False) else sights)}
    )


@lru_cache(maxsize=256)
def _asked_of_all(sights: frozenset[TracePart], parts: frozenset[TracePart]) -> tuple[Rule, ...]:
    return _asked({**RULES}, sights, parts)


def _ask(rule: Rule, trace: Trace, findings: list[Finding]) -> None:
    """Add what a rule reports; a crash is reported as such, after what the rule had found."""
    try:
        findings.extend(rule.check(trace))  # keeps what came before a crash
    except Exception as error:  # noqa: BLE001  # the guard: one bad rule must not hide the others
        crash = Finding(
            code=CRASH_CODE,
            name=CRASH_NAME,
            severity=Severity.WARNING,
            stage=rule.stage,
            title=f"The rule {rule.code} {rule.name} crashed and could not check this run.",
            detail=f"{type(error).__name__}: {shorten(str(error), 200)}",
            fix="Report this with the trace: it is a fault of this program, not of the run.",
            certainty=Certainty.OBSERVED,
        )
        findings.append(crash)


__all__ = ["CRASH_CODE", "CRASH_NAME", "RULES", "diagnose_request", "diagnose_trace", "index_rules", "reach_verdict"]
