"""Record what a check found in a lock file, and compare a later check with it: by behaviour, not by text."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator

from prompt_debugger.core.base.errors import RequestError, shorten
from prompt_debugger.core.base.text import first_divergence
from prompt_debugger.core.report.wire import DamageError, load_document
from prompt_debugger.core.report.wire.lock import LockDocument
from prompt_debugger.core.tools.check.answers import SIMPLEST_CALL
from prompt_debugger.core.tools.check.changes import Change, prompt_changes, tool_changes
from prompt_debugger.core.tools.check.judge import Cell
from prompt_debugger.core.tools.check.recommend import VERDICTS
from prompt_debugger.core.tools.check.run import Check

_SIGNS = "+~-"
_WORDS = {"+": "comes back", "~": "does not come back in every chunking", "-": "does not come back"}


def lock_of(check: Check) -> LockDocument:
    """Return what a later check is compared with."""
    ideals = {ideal.answer.name: ideal for ideal in check.ideals if ideal.is_whole}
    prompt = ideals[SIMPLEST_CALL].prompt if SIMPLEST_CALL in ideals else next((i.prompt for i in ideals.values()), "")
    tokenizer, behaviour = check.model.tokenizer, check.template.behaviour
    return LockDocument(
        model=check.model.name,
        release=check.release,
        template_sha256=hashlib.sha256(check.model.template.encode()).hexdigest(),
        tokenizer_sha256=_tokenizer_hash(check),
        special_tokens=dict(sorted(check.model.settings.special_tokens.items())),
        verdict=check.recommendation.verdict,
        recommended=check.recommendation.name or "",
        prompt=prompt,
        prompt_tokens=-1 if tokenizer is None else len(tokenizer.encode(prompt)),
        raws={name: ideal.raw for name, ideal in ideals.items()},
        parsers={
            name: {answer: sign_of(cell) for answer, cell in cells.items()}
            for name, cells in sorted(check.cells.items())
            if SIMPLEST_CALL in cells and cells[SIMPLEST_CALL].whole
        },
        supports=dict(sorted(check.template.supports.items())),
        prompts=dict(behaviour.prompts),
        lengths={}
        if tokenizer is None
        else {name: len(tokenizer.encode(text)) for name, text in behaviour.prompts.items()},
        tools=dict(behaviour.tools),
        findings={f"{one.code} {one.title}": str(one.severity) for one in check.template.findings},
    )


def sign_of(cell: Cell) -> str:
    """Return a cell as one sign."""
    if not cell.whole:
        return "-"
    return "+" if cell.is_passed else "~" if cell.streamed is False else "-"


def read_lock(text: str) -> LockDocument:
    """Return the lock in a file.

    Raises:
        RequestError: The file is not a lock.
    """
    try:
        return load_document(json.loads(text), LockDocument)
    except (ValueError, RecursionError, DamageError) as error:
        raise RequestError(
            f"This is not a lock file of a check: {error}", "Write one with `check MODEL --lock FILE`."
        ) from None


def compare_locks(before: LockDocument, now: LockDocument) -> tuple[Change, ...]:
    """Return what changed, what got worse first."""
    changes = [*_verdict(before, now), *_cells(before, now), *_template(before, now), *_prompt(before, now)]
    changes += [*tool_changes(before, now), *prompt_changes(before, now), *_files(before, now)]
    return tuple(sorted(changes, key=lambda change: not change.is_worse))


def _verdict(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    if before.verdict != now.verdict:
        is_worse = VERDICTS.index(now.verdict) > VERDICTS.index(before.verdict)
        yield Change(f"The verdict was {before.verdict} and is {now.verdict}.", is_worse)
    if before.recommended != now.recommended:
        yield Change(f"The recommendation was {_shown(before.recommended)} and is {_shown(now.recommended)}.", False)  # noqa: FBT003
    if before.release != now.release:
        yield Change(f"The parsers were those of vLLM {before.release} and are those of {now.release}.", False)  # noqa: FBT003


def _cells(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    """Say what became of the answers through the parsers that were recommended then."""
    row, rows = before.parsers.get(before.recommended, {}), now.parsers
    if not row:
        return
    if before.recommended not in rows:
        yield Change(f"{_shown(before.recommended)} no longer reads the simplest call.", True)  # noqa: FBT003
        return
    for answer, sign in row.items():
        got = rows[before.recommended].get(answer)
        if got is None:
            yield Change(f"`{answer}` is no longer completely printed by the template.", True)  # noqa: FBT003
        elif got != sign:
            is_worse = _SIGNS.index(got) > _SIGNS.index(sign)
            yield Change(
                f"`{answer}` through {_shown(before.recommended)}: it {_WORDS[sign]} → {_WORDS[got]}.", is_worse
            )


def _template(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    for name, was in before.supports.items():
        if name in now.supports and now.supports[name] is not was:
            yield Change(f"The template {'no longer supports' if was else 'now supports'} `{name}`.", was)
    for title, severity in now.findings.items():
        if title not in before.findings:
            yield Change(f"New: {title}", severity != "note")
    for title in before.findings:
        if title not in now.findings:
            yield Change(f"Gone: {title}", False)  # noqa: FBT003


def _prompt(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    at = first_divergence(before.prompt, now.prompt)
    if at is not None:
        line = before.prompt.count("\n", 0, at) + 1
        yield Change(
            f"The prompt differs from line {line} on, character {at}: {shorten(before.prompt[at : at + 40])} → "
            f"{shorten(now.prompt[at : at + 40])}{_grown(before, now)}.",
            False,  # noqa: FBT003
        )
    for answer, raw in before.raws.items():
        if answer in now.raws and now.raws[answer] != raw:
            at = first_divergence(raw, now.raws[answer]) or 0
            yield Change(
                f"The ideal output of `{answer}` differs from character {at} on: {shorten(raw[at : at + 40])} → "
                f"{shorten(now.raws[answer][at : at + 40])}.",
                False,  # noqa: FBT003
            )
            return


def _grown(before: LockDocument, now: LockDocument) -> str:
    if min(before.prompt_tokens, now.prompt_tokens) < 0:
        return f" ({len(now.prompt) - len(before.prompt):+d} characters)"
    return f" ({now.prompt_tokens - before.prompt_tokens:+d} tokens)"


def _files(before: LockDocument, now: LockDocument) -> Iterator[Change]:
    if before.template_sha256 != now.template_sha256:
        yield Change("The template has changed.", False)  # noqa: FBT003
    if before.tokenizer_sha256 != now.tokenizer_sha256:
        yield Change("The tokenizer file has changed.", False)  # noqa: FBT003
    for name in sorted({*before.special_tokens, *now.special_tokens}):
        was, new = before.special_tokens.get(name), now.special_tokens.get(name)
        if was != new:
            yield Change(f"`{name}` was {shorten(was)} and is {shorten(new)}.", False)  # noqa: FBT003


def _tokenizer_hash(check: Check) -> str:
    folder = check.model.folder
    files = [] if folder is None else [folder / name for name in ("tokenizer.json", "tiktoken.model")]
    found = next((file for file in files if file.is_file()), None)
    return "" if found is None else hashlib.sha256(found.read_bytes()).hexdigest()


def _shown(name: str) -> str:
    return f"`{name.removeprefix('vllm:')}`" if name else "nothing"
