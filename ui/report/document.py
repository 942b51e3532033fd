"""The file itself: static markup, one style, one script, one block of data. No byte of the run is markup."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from functools import cache
from pathlib import Path

from prompt_debugger.core.base.assets import assets_dir
from prompt_debugger.core.base.types import Stage, Trace
from prompt_debugger.core.report import file_stem, html_block, why_unfinished
from prompt_debugger.ui.present import RunView
from prompt_debugger.ui.present.words import shortened
from prompt_debugger.ui.report.mask import mask_trace
from prompt_debugger.ui.report.place import known_place
from prompt_debugger.ui.report.sections import again_payload, markdown_of, sent_payload
from prompt_debugger.ui.scripts import one_script

SCRIPT_ENTRY = "report/report.js"
STYLES = ("views.css",)
CONTROLS = "controls.css"  # last of all styles

_HERE = Path(__file__).parent
_HIDDEN = re.compile(
    r"[^\S\t\n ]|[\x00-\x08\x0e-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
    r"|[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\uffa0\ufff9-\ufffc\U000e0000-\U000e0fff]"
)


def trace_to_html(trace: Trace, place: str = "", *, bundle: str = "") -> str:
    """Return the report of a run: one HTML file that opens offline, in any browser of the last years.

    Nothing is asked of the network, secrets are covered, and all text of the
    run is data that the scripts draw as text.

    Args:
        trace: Stages that have not run are said to be missing.
        place: Where it opens, such as `prompt.t87`; "" for its beginning. An address that ends in `#at=…` wins.
        bundle: The masked run, for anyone who opens the file on a page; "" to leave it out.
    """
    shown = mask_trace(trace)
    payloads: dict[str, str | None] = {**RunView(explains=False).finish(shown)}
    del payloads["parser_matrix"]  # a report has it as a table of the ledger
    if shown.raw is None and shown.chat is None and shown.chat_stream is None:
        payloads["completion"] = None  # its empty panes say what is to come, and here nothing is
    payloads["request"] = sent_payload(shown)
    payloads["again"] = again_payload(shown)
    data: dict[str, object] = {
        "payloads": payloads,
        "ended": _ended(shown),
        "name": file_stem(shown),
        "title": shortened(" ".join(shown.title.split()), 200),
    }
    script = _script()
    if place:
        data["at"] = known_place(place)
    return _PAGE.format(
        policy=html.escape(_policy(script)),
        title=html.escape(_visible(_title(shown))),
        style=_style(),
        plain=html.escape(_visible(markdown_of(shown))),
        data=json.dumps(data, separators=(",", ":")).replace("<", "\\u003c"),
        bundle=html_block(bundle) if bundle else "",
        script=script,
    )


def trace_to_notebook(trace: Trace) -> str:
    """Return the report in its own frame, whose scripts reach nothing of the notebook around it."""
    title = html.escape(_visible(_title(mask_trace(trace))))
    frame = 'sandbox="allow-scripts" style="width: 100%; height: 40rem; border: 1px solid #8888; resize: vertical"'
    return f'<iframe title="{title}" {frame} srcdoc="{html.escape(trace_to_html(trace))}"></iframe>'


def _ended(trace: Trace) -> str:
    if trace.refusal is not None:
        if any(finding.stage in (Stage.PARSE, Stage.CONTRACT) for finding in trace.findings):
            return "The server answered with an error: it could not read what the model wrote."
        return "The server refused the request: the model wrote nothing."
    return "The run ended before there was an answer."


def _title(trace: Trace) -> str:
    if trace.title:
        return f"{shortened(' '.join(trace.title.split()), 120)} · Prompt Debugger"
    sentence = why_unfinished(trace) if trace.verdict is None else trace.verdict.sentence
    return f"{shortened(' '.join(sentence.split()), 120)} · Prompt Debugger"


def _visible(text: str) -> str:
    """Return `text` with characters that hide, reorder, or cannot be encoded written as `U+…`."""
    return _HIDDEN.sub(lambda match: f"⟨U+{ord(match.group()):04X}⟩", text)


def _policy(script: str) -> str:
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _script() -> str:
    return _checked(SCRIPT_ENTRY, one_script(SCRIPT_ENTRY))


def _style() -> str:
    names = [assets_dir() / "css" / name for name in (*STYLES, CONTROLS)]
    return "\n".join(_read(path) for path in (*names, _HERE / "report.css"))


@cache  # and so at hand where no file can be opened any more
def _read(path: Path) -> str:
    return _checked(path.name, path.read_text(encoding="utf-8"))


def _checked(name: str, text: str) -> str:
    assert not re.search(r"</(script|style)|<!--", text, re.IGNORECASE), f"{name} would end its own element"
    return text


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}</style>
</head>
<body>
<main>
<div id="pd-top"><div id="pd-header" class="pd"></div><div id="pd-tools" class="pd"></div></div>
<div id="pd-verdict" class="pd"></div>
<nav id="pd-stages" class="pd" aria-label="Stages of the run"></nav>
<div id="pd-story">
<section id="pd-part-request" class="pd"><h2>What was sent</h2><div id="pd-request" class="pd"></div></section>
<section id="pd-part-parse" class="pd"><h2>What the model wrote, and what came back of it</h2>
<div id="pd-ledger" class="pd"></div></section>
</div>
<section id="pd-part-findings" class="pd"><h2>Findings</h2><div id="pd-findings" class="pd"></div></section>
<section id="pd-part-render" class="pd"><h2>The prompt the model read</h2><div id="pd-difference" class="pd"></div>
<div id="pd-prompt-row"><div id="pd-prompt-tokens" class="pd"></div><div id="pd-template" class="pd"></div></div>
</section>
<section id="pd-part-complete" class="pd"><h2>The answers, unchanged</h2><div id="pd-completion" class="pd"></div>
<div id="pd-raw-tokens" class="pd"></div></section>
<section id="pd-part-again" class="pd"><h2>To see it again</h2><div id="pd-again" class="pd"></div></section>
<noscript><p>Scripts are off: this is the run as plain text.</p><pre>{plain}</pre></noscript>
</main>
<div id="pd-inspector" role="status" aria-label="Inspector"></div>
<script type="application/json" id="pd-data">{data}</script>
{bundle}
<script>{script}</script>
</body>
</html>
"""
