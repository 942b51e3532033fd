"""`--report DIR`: write the shareable files, secrets removed; `--bundle FILE`: read one of them back."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.files import read_named, write_named
from prompt_debugger.core.base.text import clipped, printable
from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Prompt, Request, Trace
from prompt_debugger.core.evidence import Form, read_evidence, show_evidence
from prompt_debugger.core.evidence.recognise import recognise
from prompt_debugger.core.report import (
    Bundle,
    find_bundle,
    prompt_to_json,
    read_bundle,
    redact_json,
    redact_text,
    unpack_bundle,
)
from prompt_debugger.core.tools.experiments import RunComparison, explanation_of, sentence_of
from prompt_debugger.ui.cli.output import decoded
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.report import describe_bundle, mask_trace, share_trace

_SHOWN = 12  # changed fields that are listed
_LONGEST = 160  # characters of a value
_MAX_CHARS = 500_000_000  # of a bundle inside another file


class Run(NamedTuple):
    """A run that another is compared with."""

    trace: Trace
    name: str


def write_trace(folder: str, trace: Trace, name: str = "trace") -> None:
    """Write a run as `NAME.json` that `run --bundle` opens again, as `NAME.md` for an issue, and as `NAME.html`."""
    shared = share_trace(trace)
    files = {f"{name}.json": shared.bundle, f"{name}.md": shared.markdown, f"{name}.html": shared.html}
    _write(folder, files)


def write_prompt(
    folder: str, request: Request, prompt: Prompt, findings: tuple[Finding, ...], document: JSONObject
) -> None:
    """Write a prompt as text, its `render` document, and a bundle; a secret is covered in its tokens, too."""
    trace = Trace(request=request, prompt=prompt, findings=findings)
    shared = mask_trace(trace)
    assert shared.prompt is not None
    masked = {**document, **prompt_to_json(shared.prompt, findings=shared.findings)}
    write_files(folder, {"prompt.txt": shared.prompt.text, "render.json": masked})
    _write(folder, {"trace.json": share_trace(trace).bundle})


def write_files(folder: str, contents: Mapping[str, JSON]) -> None:
    """Write each value under its file name: text as it is, anything else as JSON.

    Raises:
        RequestError: The folder cannot be written.
    """
    texts = {
        name: redact_text(value) if isinstance(value, str) else json.dumps(redact_json(value), indent=2)
        for name, value in contents.items()
    }
    _write(folder, texts)


def read_bundle_file(name: str) -> Bundle:
    """Return the run in a bundle file, `-` for standard input; says on stderr where it comes from.

    Raises:
        RequestError: It cannot be read, or is not a bundle; says where and what to do.
    """
    bundle = read_bundle(_text_of(name))
    log(f"Opened {name}: {describe_bundle(bundle)}")
    return bundle


def read_run_to_compare(name: str) -> Run:
    """Return the run that another is compared with: that of a bundle, or as much of one as a captured exchange holds.

    Raises:
        RequestError: It is neither.
    """
    text = _text_of(name)
    if recognise(text) is not Form.EXCHANGE:
        bundle = read_bundle(text)
        log(f"Opened {name}: {describe_bundle(bundle)}")
        return Run(bundle.trace, "the bundle")
    log(f"Opened {name}: an exchange with its answer, but without the raw output")
    return Run(asyncio.run(show_evidence(read_evidence(text, Form.EXCHANGE))), "the captured answer")


def _text_of(name: str) -> str:
    """Return the text of a bundle, also of one that a report, a picture or a Markdown text holds."""
    data = read_named(name)
    packed = find_bundle(data)
    return decoded(data, name) if packed is None else unpack_bundle(packed, _MAX_CHARS)


def comparison_to_terminal(comparison: RunComparison, name: str = "the bundle") -> str:
    """Return what differs between two runs as text for a terminal; `name` is what the first is called."""
    lines = ["", f"compared  {sentence_of(comparison, name, 'this run')}"]
    if explanation := explanation_of(comparison, name, "this run"):
        lines.append(f"  {explanation[0].upper()}{explanation[1:]}")
    lines += [f"  {fact.label}: {fact.left} → {fact.right}" for fact in comparison.facts if fact.differs]
    for title, changes in (("request", comparison.request), ("message", comparison.message or ())):
        lines += [
            f"  {title} {change.path}: {_value(change.left)} → {_value(change.right)}" for change in changes[:_SHOWN]
        ]
    for title, text in (("prompt", comparison.prompt), ("raw output", comparison.raw)):
        if text.difference is not None:
            first = text.difference.hunks[0]
            lines.append(
                f"  {title} {text.difference.unit} {text.difference.first}: {first.before!r} → {first.after!r}"
            )
    for title, findings in ((name, comparison.only_left), ("this run", comparison.only_right)):
        lines += [f"  only in {title}: {finding.code} {finding.name}: {finding.title}" for finding in findings]
    return "\n".join(printable(line, on_one_line=True) for line in lines) + "\n"


def _value(value: JSON) -> str:
    return clipped(json.dumps(value, ensure_ascii=False), _LONGEST)


def _write(folder: str, texts: Mapping[str, str]) -> None:
    directory = Path(folder)
    for name, text in texts.items():
        write_named(directory / name, (text,), subject="the report", errors="surrogatepass")
    log(f"Wrote {', '.join(texts)} to {folder}")
