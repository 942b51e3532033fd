"""Probes about messages: roles, content as parts, who may follow whom, BOS."""

from __future__ import annotations

from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.render.probes.probe import (
    Attempt,
    Change,
    Probe,
    ProbeResult,
    Probing,
    Support,
    ignored,
    refused,
    seen,
)

SYSTEM, USER, ANSWER, NEXT = "zqSystem words", "zqUser words", "zqAnswer words", "zqNext words"
PLAIN: list[JSON] = [{"role": "user", "content": USER}]


def plain(probing: Probing) -> Attempt:
    """Return the request with one user message: what the others are compared with."""
    return probing.render(PLAIN)


def _ask_system(probing: Probing) -> ProbeResult:
    return _role_answer(probing, "system")


def _ask_developer(probing: Probing) -> ProbeResult:
    answer = _role_answer(probing, "developer")
    if answer.support is not Support.SUPPORTED:
        return answer
    attempt = probing.render(_headed("developer"))
    for role in ("system", "user"):
        if probing.render(_headed(role)).text == attempt.text:
            detail = f"Printed exactly as a message of role `{role}` would be."
            return answer._replace(support=Support.CHANGED, detail=detail)
    return answer


def _headed(role: str) -> list[JSON]:
    return [{"role": role, "content": SYSTEM}, *PLAIN]


def _role_answer(probing: Probing, role: str) -> ProbeResult:
    attempt = probing.render(_headed(role))
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    start = attempt.text.find(SYSTEM)
    if start < 0:
        return ignored(attempt, "messages[0].content", f"The content of a `{role}` message")
    at_user = attempt.text.find(USER)
    between = attempt.text[start + len(SYSTEM) : at_user] if at_user > start else ""
    if at_user > start and not between.strip():
        return seen(Support.CHANGED, "Put before the user's words, in the same turn.", attempt, start, at_user)
    if at_user < 0:
        return seen(Support.CHANGED, "It arrives, but the user's words are lost.", attempt, start)
    return seen(Support.SUPPORTED, "It gets a separate turn.", attempt, start, max(start, at_user))


def _ask_late_system(probing: Probing) -> ProbeResult:
    before: list[JSON] = [*PLAIN, {"role": "assistant", "content": ANSWER}]
    attempt = probing.render([*before, {"role": "system", "content": SYSTEM}, {"role": "user", "content": NEXT}])
    if attempt.error is not None:
        return refused(attempt, probing.render([*before, {"role": "user", "content": NEXT}]))
    start = attempt.text.find(SYSTEM)
    if start < 0:
        return ignored(attempt, "messages[2].content", "A system message in the middle")
    if start < attempt.text.find(ANSWER):
        return seen(Support.CHANGED, "Moved to the front of the conversation.", attempt, start)
    at_next = attempt.text.find(NEXT)
    if at_next > start and not attempt.text[start + len(SYSTEM) : at_next].strip():
        return seen(Support.CHANGED, "Put before the user's words, in the same turn.", attempt, start, at_next)
    return seen(Support.SUPPORTED, "It stays where it was sent.", attempt, start)


def _ask_parts(probing: Probing) -> ProbeResult:
    parts: list[JSON] = [{"type": "text", "text": USER}, {"type": "text", "text": NEXT}]
    attempt = probing.render([{"role": "user", "content": parts}])
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    start, stop = attempt.text.find(USER), attempt.text.find(NEXT)
    if start < 0 or stop < 0:
        lost = [name for name, at in (("the first", start), ("the second", stop)) if at < 0]
        if len(lost) == 2:
            return ignored(attempt, "messages[0].content", "Content given as parts")
        answer = seen(Support.CHANGED, f"One of two text parts was dropped: {lost[0]}.", attempt, max(start, stop))
        return answer._replace(change=Change.PART_LOST)
    repr_at = attempt.text.find("'text'")
    if repr_at >= 0 or '"text"' in attempt.text:
        at = repr_at if repr_at >= 0 else attempt.text.find('"text"')
        how = "as Python writes a list" if repr_at >= 0 else "as JSON"
        return seen(Support.CHANGED, f"The parts are printed {how}, instead of their text.", attempt, at, stop)
    between = attempt.text[start + len(USER) : stop]
    how = f"joined by {between!r}" if len(between) <= 12 else "with text of the template between them"
    return seen(Support.SUPPORTED, f"Text parts are printed, {how}.", attempt, start, stop + len(NEXT))


def _ask_same_role(probing: Probing) -> ProbeResult:
    attempt = probing.render([*PLAIN, {"role": "user", "content": NEXT}])
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    first, second = attempt.text.find(USER), attempt.text.find(NEXT)
    if first < 0 or second < 0:
        return seen(
            Support.CHANGED, "Only one of two user messages in a row is printed.", attempt, max(first, second, 0)
        )
    if not attempt.text[first + len(USER) : second].strip():
        return seen(Support.CHANGED, "Two user messages in a row become one turn.", attempt, first, second)
    return seen(Support.SUPPORTED, "Two user messages in a row are two turns.", attempt, first, second)


def _ask_name(probing: Probing) -> ProbeResult:
    message: JSONObject = {"role": "user", "name": "zqAnn", "content": USER}
    attempt = probing.render([message])
    if attempt.error is not None:
        return refused(attempt, plain(probing))
    start = attempt.text.find("zqAnn")
    if start < 0:
        return ignored(attempt, "messages[0].name", "The name of a participant")
    return seen(Support.SUPPORTED, "The name is printed.", attempt, start)


def _ask_bos(probing: Probing) -> ProbeResult:
    attempt = plain(probing)
    if attempt.error is not None:
        return ProbeResult(Support.UNKNOWN, "The plain request gives no prompt.")
    bos = probing.special_tokens.get("bos_token", "")
    if bos and attempt.text.startswith(bos):
        detail = f"The template prints {bos!r} itself: a server that lets the tokenizer add BOS as well has it twice."
        return seen(Support.SUPPORTED, detail, attempt, 0, len(bos))
    return seen(Support.IGNORED, "The template prints no BOS: the tokenizer has to add it.", attempt, 0)


MESSAGE_PROBES = (
    Probe("system-role", "System message", _ask_system),
    Probe("late-system", "System message in the middle", _ask_late_system),
    Probe("developer-role", "Developer message", _ask_developer),
    Probe("content-parts", "Content as a list of text parts", _ask_parts),
    Probe("same-role-twice", "Two user messages in a row", _ask_same_role),
    Probe("participant-name", "Name of a participant", _ask_name),
    Probe("prints-bos", "BOS printed by the template", _ask_bos),
)
