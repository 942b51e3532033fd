"""`run --tool-answers`: answer the model's tool calls from a file and go on, with the account of every turn."""

from __future__ import annotations

import argparse

from prompt_debugger.core.base.text import printable
from prompt_debugger.core.base.types import Finding, JSONObject, Trace
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.conversation import Conversation, conversation_to_json, converse, read_stub
from prompt_debugger.core.tools.lab import LabPool
from prompt_debugger.ui.cli.output import log, read_input
from prompt_debugger.ui.cli.sharing import write_trace


def add_tool_loop_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--tool-answers",
        metavar="FILE",
        help='answer tool calls and continue: a JSON object with one answer per tool, "*" for any other',
    )
    parser.add_argument(
        "--turns", type=int, default=8, metavar="N", help="with --tool-answers: runs at most (default: 8)"
    )


async def run_turns(trace: Trace, target: Target, labs: LabPool, options: argparse.Namespace) -> Conversation | None:
    """Return the conversation that goes on from a run; `None` where nobody asked for one."""
    if not options.tool_answers:
        return None
    stub = read_stub(read_input(options.tool_answers))
    conversation = None
    async for conversation in converse(trace, target, labs, stub, most_turns=options.turns):
        log(f"turn {len(conversation.turns)}" + (f": {conversation.ended}" if conversation.ended else ""))
    return conversation


def add_conversation(document: JSONObject, conversation: Conversation) -> None:
    """Put the conversation into a run document."""
    document["conversation"] = conversation_to_json(conversation)


def findings_of(trace: Trace, conversation: Conversation | None) -> tuple[Finding, ...]:
    """Return the findings of all turns."""
    turns = () if conversation is None else conversation.turns[1:]
    return (*trace.findings, *(finding for turn in turns for finding in turn.trace.findings))


def write_turns(folder: str, conversation: Conversation) -> None:
    """Write the runs behind the first beside it, as `turn-2.json` and so on."""
    for number, turn in enumerate(conversation.turns[1:], 2):
        write_trace(folder, turn.trace, f"turn-{number}")


def conversation_to_terminal(conversation: Conversation) -> str:
    """Return the account of every turn."""
    lines = ["", f"conversation ({len(conversation.turns)} turns; it ended because {conversation.ended}):"]
    for number, turn in enumerate(conversation.turns, 1):
        lines += [f"      {answer.name} answered {answer.content!r}" for answer in turn.answers]
        lines += [f"      {turn.seam.sentence}"] if turn.seam is not None else []
        verdict = "" if turn.trace.verdict is None else turn.trace.verdict.sentence
        lines.append(f"  {number:>2}  {turn.written} calls written, {turn.returned} returned. {verdict}")
    lines.append(f"  {conversation.lost} computed tokens could not be reused")
    return "\n".join(printable(line, on_one_line=True) for line in lines) + "\n"
