"""Agents' sessions: where the prefix cache breaks from turn to turn, why, and what it costs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.files import write_named
from prompt_debugger.core.base.json_values import as_object, objects_in
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.pipeline import case_setup
from prompt_debugger.core.tools.sessions import follow_sessions, gather_exchanges, sessions_to_json
from prompt_debugger.ui.cli.output import FOUND, OK, masked_line, print_result, read_input
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.present.words import count_of
from prompt_debugger.ui.report.sessions import sessions_to_svg

_VIEWS = {"vllm": "; rendered as vLLM does", "llama.cpp": "; rendered as llama.cpp's server does"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="captures, HARs, files of `watch`, agents' session files, or folders"
    )
    parser.add_argument("--tokenizer", metavar="DIR_OR_HUB_ID", help="the model's tokenizer and chat template")
    parser.add_argument("--chat-template", metavar="FILE", help="Jinja file that overrides the tokenizer's template")
    parser.add_argument("--price", type=float, metavar="X", help="price of a million prompt tokens, for the cost")
    parser.add_argument("--svg", metavar="FILE.svg", help="write a picture: a bar per turn, kept and recomputed")
    parser.add_argument("--json", action="store_true", help="print one JSON document and nothing else on stdout")
    parser.set_defaults(run=_run, doing="Reading the sessions")


def _run(options: argparse.Namespace) -> int:
    gathered = gather_exchanges(Path(path) for path in options.paths)
    for problem in gathered.unread:
        log(masked_line(f"Left out: {problem}"))
    if not gathered.exchanges:
        raise RequestError(
            "There is no chat request in it.", "Give captures, HARs, or session files of an agent.", field="PATH"
        )
    case: JSONObject = {"request": gathered.exchanges[0].body}
    if options.tokenizer:
        case["tokenizer"] = options.tokenizer
    if options.chat_template:
        case["chat_template"] = read_input(options.chat_template)
    setup = case_setup(case)[1] if len(case) > 1 else None
    document = sessions_to_json(follow_sessions(gathered.exchanges, setup), options.price)
    if options.svg:
        write_named(Path(options.svg), (sessions_to_svg(document),), encoding="utf-8", field="--svg")
    print_result(options, document, _words(objects_in(document["sessions"])))
    return FOUND if any(session["recomputed_tokens"] for session in objects_in(document["sessions"])) else OK


def _words(sessions: Sequence[JSONObject]) -> str:
    lines = []
    for session in sessions:
        turns, unit = objects_in(session["turns"]), session["unit"]
        cost = session["cost"]
        price = "" if cost is None else f", cost {cost:.4f}{' (estimated)' if session['is_cost_estimated'] else ''}"
        lines.append(
            f"Session {session['id']} ({session['model'] or 'no model named'}): {count_of(len(turns), 'request')}, "
            f"{session['recomputed_tokens']} {unit}s recomputed{price}{_VIEWS.get(str(session['view']), '')}"
        )
        lines += [line for number, turn in enumerate(turns, 1) for line in _turn(number, turn, str(unit))]
    return "\n".join(lines) + "\n"


def _turn(number: int, turn: JSONObject, unit: str) -> list[str]:
    if turn["problem"]:
        return [f"  {number}: not rendered: {turn['problem']}"]
    reported = _server(turn["cached_tokens"], turn["server_prompt_tokens"])
    kept = (
        f"{turn['prompt_tokens']} {unit}s, {turn['kept_tokens']} kept, {turn['recomputed_tokens']} recomputed{reported}"
    )
    broken = as_object(turn["break"])
    if not broken:
        return [f"  {number}: {kept}"]
    line = "" if broken["template_line"] is None else f", template line {broken['template_line']}"
    place = f"{unit} {broken['token']}, {broken['field'] or 'no field'}{line}"
    certainty = " (inferred)" if broken["certainty"] == "inferred" else ""
    lines = [f"  {number}: {kept}", f"     breaks at {place}: {broken['cause']}{certainty}"]
    lines.append(f"       before: {broken['before']!r}")
    lines.append(f"       now:    {broken['after']!r}")
    return [*lines, f"       {broken['cure']}"] if broken["cure"] else lines


def _server(cached: JSON, prompt: JSON) -> str:
    return "" if cached is None else f"; the server reused {cached} of {prompt if prompt is not None else '?'} tokens"
