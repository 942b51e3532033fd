"""A check of a model → the matrix of answers and parsers, what to start a server with, and one cell of it."""

from __future__ import annotations

from collections.abc import Mapping

from prompt_debugger.core.base.types import JSON, Finding, JSONObject, Trace
from prompt_debugger.core.complete import title_of
from prompt_debugger.core.parse.engines import read_parser_name
from prompt_debugger.core.tools.check import Cell, Check, Ideal, plugin_commands, serve_commands
from prompt_debugger.core.tools.check.engine_choice import choice_sentence
from prompt_debugger.ui.present.findings import finding_head
from prompt_debugger.ui.present.ledger import account_of
from prompt_debugger.ui.present.payload import pack_payload
from prompt_debugger.ui.present.words import joined, shortened

_LONGEST = 400
_STARTING = "starting two helpers with vLLM's parsers; this takes one to four minutes in total"
_MAX_DELTAS = 60


def check_running_payload(words: str, fraction: float | None = None) -> str:
    """Return the payload of a check that is running; `words` describe the progress, `fraction` of what it is at."""
    return pack_payload(
        {
            "state": "running",
            "sentence": "Checking the template against vLLM's parsers.",
            "progress": {"text": words or _STARTING, "fraction": fraction},
        }
    )


def check_payload(check: Check, missing: str = "") -> str:
    """Return the payload of a finished check; `missing` says why no parser was asked, "" if they were."""
    rows = sorted((_row(name, check) for name in check.cells), key=_rank)
    return pack_payload(
        {
            "state": "done",
            "sentence": _sentence(check, missing),
            "source": _source(check, missing),
            "verdict": "unknown" if missing else check.recommendation.verdict,
            "missing": missing,
            "commands": _commands(check),
            "plugin": _plugin(check),
            "reasons": [*check.recommendation.reasons],
            "answers": [_answer(ideal) for ideal in check.ideals],
            "features": _features(check),
            "rows": [*rows],
            "supports": [[name, held] for name, held in check.template.supports.items()],
            "findings": [_finding(finding) for finding in check.findings],
            "engines": _engines(check),
            "asked": _asked(check),
        }
    )


def cell_payload(check: Check, parser: str, ideal: Ideal, trace: Trace) -> str:
    """Return the payload of one cell."""
    cell = check.cells[parser][ideal.answer.name]
    parse = trace.parse
    return pack_payload(
        {
            "parser": parser,
            "short": _shown(parser),
            "answer": ideal.answer.name,
            "about": ideal.answer.about,
            "cell": _cell(cell),
            "sent": _sent(ideal),
            "prompt_tail": ideal.prompt_tail,
            "deltas": [*cell.split[:_MAX_DELTAS]] if cell.streamed is False else [],
            "more_deltas": max(0, len(cell.split) - _MAX_DELTAS) if cell.streamed is False else 0,
            "account": None if parse is None else account_of("what was returned", parse, parse.ledger, trace.chat),
            "by_hand": _write_command(parser, cell),
        }
    )


def _sentence(check: Check, missing: str) -> str:
    if missing:
        return "No parser was tested, so nothing is known about them; what the template itself shows is below."
    if choice := choice_sentence(check.asked, check.engine):
        return choice
    chosen = check.recommendation
    if chosen.name is None:
        engine = f"{title_of(check.engine)} {check.release}"
        return f"No parser of {engine} returns the simplest call of this template correctly."
    row = check.cells[chosen.name]
    passed, name = sum(cell.is_passed for cell in row.values()), _short(chosen.name)
    if chosen.verdict == "works":
        return f"`{name}` returns all {passed} answers of this template correctly, whole and in every chunking."
    return f"`{name}` returns {passed} of {len(row)} answers of this template correctly; the others are marked below."


def _source(check: Check, missing: str) -> str:
    vocabulary = "the model's own vocabulary" if check.has_vocabulary else "an approximate vocabulary"
    return joined(
        f"`{check.model.name}`",
        missing or f"{title_of(check.engine)} {check.release}, {len(check.cells)} parsers and pairs of them",
        f"format {check.family}" if check.family else None,
        None if missing else vocabulary,
    )


def _asked(check: Check) -> list[JSON]:
    """Return what each engine's parsers made of the answers, where several were asked: the best first."""
    if not check.others:
        return []
    return [
        {
            "engine": f"{title_of(kind)} {one.release}",
            "parser": (one.recommendation.name or "").partition(":")[2],
            "returned": f"{one.returned[0]} of {len(one.row)}" if one.row else "none",
            "streamed": f"{one.returned[1]} in every chunking" if one.row else "",
            "verdict": one.recommendation.verdict,
        }
        for kind, one in check.asked.items()
    ]


def _commands(check: Check) -> list[JSON]:
    """Return the command for each engine, and why each flag is there."""
    return [
        {
            "engine": kind,
            "title": title_of(kind),
            "command": one.command,
            "is_tried": one.is_tried,
            "note": one.note,
            "flags": [[" ".join(flag.words), flag.reason] for flag in one.flags],
        }
        for kind, one in serve_commands(check).items()
    ]


def _plugin(check: Check) -> list[JSON]:
    """Return what serves our own reader as a plugin, step by step: [what, command]; none where it reads no more."""
    commands = plugin_commands(check)
    if commands is None:
        return []
    return [
        ["Write it", commands.write],
        ["Check it like any parser", commands.check],
        ["Serve with it", commands.serve],
    ]


def _answer(ideal: Ideal) -> JSONObject:
    refusal = None if ideal.refusal is None else f"the template fails: {ideal.refusal.message}"
    lost = f"the template does not print its {' and '.join(ideal.lost)}" if ideal.lost else None
    return {"name": ideal.answer.name, "about": ideal.answer.about, "unasked": refusal or lost}


def _features(check: Check) -> list[JSON]:
    """Return what the recommended parsers do with each answer: [answer, about, state, problem]."""
    row = check.cells.get(check.recommendation.name or "", {})
    made: list[JSON] = []
    for ideal in check.ideals:
        name, reported = ideal.answer.name, _answer(ideal)
        if name in row:
            cell = _cell(row[name])
            made.append([name, ideal.answer.about, cell["state"], cell["problem"] or cell["remark"] or ""])
        elif reported["unasked"] is not None:
            made.append([name, ideal.answer.about, "unasked", reported["unasked"]])
    return made


def _row(name: str, check: Check) -> JSONObject:
    pair, row = read_parser_name(name), check.cells[name]
    kind = "pair" if pair.tool and pair.reasoning else "tool" if pair.tool else "reasoning"
    return {
        "name": name,
        "short": _shown(name),
        "kind": kind,
        "chosen": name == check.recommendation.name,
        "passed": sum(cell.is_passed for cell in row.values()),
        "whole": sum(cell.whole for cell in row.values()),
        "asked": len(row),
        "cells": {answer: _cell(cell) for answer, cell in row.items()},
    }


def _rank(row: JSONObject) -> tuple[bool, int, int, str]:
    passed, whole = int(str(row["passed"])), int(str(row["whole"]))
    return row["chosen"] is not True, -passed, -whole, str(row["name"])


def _cell(cell: Cell) -> JSONObject:
    streamed = "untried"
    if cell.streamed is not None:
        streamed = "same" if cell.streamed else "larger" if cell.streamed_usual else "differs"
    return {
        "state": "pass" if cell.is_passed else "limit" if cell.is_usable else "fail",
        "whole": cell.whole and not cell.leaves_reasoning,
        "streamed": streamed,
        "problem": None if cell.problem is None else shortened(cell.problem, _LONGEST),
        "remark": None if cell.remark is None else shortened(cell.remark, _LONGEST),
    }


def _sent(ideal: Ideal) -> JSONObject:
    answer = ideal.answer
    calls: list[JSON] = [{"name": call.name, "arguments": call.arguments} for call in answer.calls]
    return {"content": answer.content, "reasoning": answer.reasoning, "calls": calls}


def _finding(finding: Finding) -> JSONObject:
    return {
        **finding_head(finding),
        "detail": finding.detail,
        "fix": finding.fix,
    }


def _engines(check: Check) -> JSONObject:
    """Return whether transformers and vLLM render alike: those that do not, each with its causes."""
    asked = check.engines.conversations
    differ = [one for one in asked if one.agrees is False]
    alike = sum(one.agrees is True for one in asked)
    reported = f"{alike} of {len(asked)} conversations give the same prompt in transformers and in vLLM."
    return {
        "sentence": reported if asked else check.engines.skipped or "",
        "note": check.engines.note or "",
        "differ": [[one.name, one.about, " ".join(one.causes) or "The cause is unknown."] for one in differ],
    }


def _write_command(parser: str, cell: Cell) -> str:
    """Return what to do with the cell on the page."""
    if cell.streamed is False:
        return (
            f"Parse then shows the raw output; Streaming test with `{_short(parser)}` shows where the stream diverges."
        )
    return "Parse then shows the raw output, coloured by where each character went; every other tool there works on it."


def _shown(name: str) -> str:
    """Return a name as people say it: a reasoning parser alone by its own name."""
    pair = read_parser_name(name)
    return f"{pair.reasoning} (reasoning)" if pair.tool is None else _short(name)


def _short(name: str) -> str:
    return name.removeprefix("vllm:")


def names_of(choice: Mapping[str, JSON]) -> tuple[str, str, str]:
    """Return what was pressed in the matrix: what for, the parsers, the answer."""
    return str(choice.get("act", "")), str(choice.get("parser", "")), str(choice.get("answer", ""))
