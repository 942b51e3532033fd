"""Render an answer, and take from it what a model would have written: the ideal raw output.

    prompt      the conversation up to the generation prompt, as a server sends it
    history     the same conversation with the answer in it
    raw         what the history has beyond the prompt, up to the end of the turn

Where the history does not begin with the prompt (reasoning stripped, an empty block put in), the output begins where
the two part, never inside a marker, and after text that differs only in whitespace; where the prompt left reasoning
open and the history does not close it, the output gets the closing tag, for that is what the model has to write there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product, takewhile
from typing import Literal, TypeAlias

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.formats import TABLES, ReasoningPair
from prompt_debugger.core.tools.check.answers import TOOLS, USER_WORDS, Answer

PROMPT_TAIL_CHARS = 400
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
_IDS: tuple[Literal["counted", "short"], ...] = ("counted", "short")
_WORD = re.compile(r"zq\w+")
_HALF_MARKER = re.compile(r"(?:<[^<>\s]{0,40}|\[[A-Za-z_/]{0,40})\Z")
_LOOKS_LIKE_A_MARKER = re.compile(r"[<\[｜|]\S+[>\]｜|]")
_NO_KWARGS: JSONObject = {}
_BEST = (0, 0)

Render: TypeAlias = Callable[[JSONObject], str]


@dataclass(frozen=True, slots=True)
class Form:
    """One way to write an answer down.

    Attributes:
        reasoning_field: Field of the message that contains reasoning.
        ids: Pattern of call ids: `counted` as `functions.NAME:0`, or `short` as nine letters and digits.
        text_arguments: Whether arguments are JSON text, not an object.
        null_content: Whether absent content is null, not "".
    """

    reasoning_field: str = REASONING_FIELDS[0]
    ids: Literal["counted", "short"] = "counted"
    text_arguments: bool = False
    null_content: bool = False
    kwargs: Mapping[str, JSON] = field(default_factory=dict)

    def message(self, answer: Answer) -> JSONObject:
        """Return the answer as an assistant message."""
        content: JSON = answer.content
        message: JSONObject = {"role": "assistant", "content": content if self.null_content else content or ""}
        if answer.reasoning is not None:
            message[self.reasoning_field] = answer.reasoning
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": f"functions.{call.name}:{index}" if self.ids == "counted" else f"zqCall{index:03}",
                    "type": "function",
                    "function": {"name": call.name, "arguments": self._arguments(call.arguments)},
                }
                for index, call in enumerate(answer.calls)
            ]
        return message

    def _arguments(self, arguments: JSONObject) -> JSON:
        return json.dumps(arguments, ensure_ascii=False) if self.text_arguments else arguments


def forms_of(answer: Answer, liked: Form | None, *, is_hopeless: bool = False) -> Iterator[Form]:
    """Yield forms for an answer, the one that worked before first; few if no form worked for an earlier call."""
    bases = [liked or Form()]
    if liked is None and answer.calls and not is_hopeless:
        bases = [
            Form(ids=ids, text_arguments=as_text, null_content=is_null)
            for ids, as_text, is_null in product(_IDS, (False, True), (False, True))
        ]
    yield from bases
    if answer.reasoning is None or (answer.calls and is_hopeless):
        return
    for base in bases:
        yield from (replace(base, reasoning_field=name) for name in REASONING_FIELDS[1:])
        for switch in TABLES.switches:
            yield from (
                replace(base, reasoning_field=name, kwargs={switch.name: switch.on}) for name in REASONING_FIELDS
            )


def words_of(arguments: Mapping[str, JSON]) -> list[str]:
    """Return our test words that occur in some arguments."""
    return _WORD.findall(json.dumps(dict(arguments)))


@dataclass(frozen=True, slots=True)
class Ideal:
    """An answer as the model would have written it.

    Attributes:
        answer: The answer that went in, less what the template does not print.
        raw: What the model would have written, the end of the turn included; "" where the template refuses.
        prompt: The whole prompt in front of it.
        lost: What the template does not print: any of `calls`, `content` and `reasoning`.
        refusal: Why there is no output, in the template's words.
        is_prefix: Whether the history begins with the prompt.
        has_own_closer: Whether the closing tag of reasoning is ours, because the history lacks it.
        form: How the answer was written down in the request.
        end: Text at the end of `raw` that ends the turn; "" if there is none.
    """

    answer: Answer
    raw: str
    prompt: str
    lost: tuple[str, ...] = ()
    refusal: RenderError | None = None
    is_prefix: bool = True
    has_own_closer: bool = False
    form: Form = field(default_factory=Form)
    end: str = ""

    @property
    def prompt_tail(self) -> str:
        """The end of the prompt, which tells whether reasoning is open."""
        return self.prompt[-PROMPT_TAIL_CHARS:]

    @property
    def has_inner_end(self) -> bool:
        """Whether the end of the turn also occurs within it, as between a text and a call: no token stops there."""
        return bool(self.end) and self.raw.endswith(self.end) and self.raw.count(self.end) > 1

    @property
    def is_whole(self) -> bool:
        """Whether there is an output, and all of the answer is in it."""
        return self.refusal is None and not self.lost


class Writer:
    """Writes answers down as one template does; learns from each which form the template accepts.

    Args:
        render: Renders a request body; raises `RenderError` where the template refuses.
        ends: Texts that end the model's turn, besides those known from families.
        tools: Tools that every request offers.
    """

    def __init__(
        self, render: Render, ends: frozenset[str] = frozenset(), tools: tuple[JSONObject, ...] = TOOLS
    ) -> None:
        self._render = render
        self._tools = tools
        self._ends = ends | frozenset(TABLES.end_texts)
        self._prompts: dict[str, str] = {}
        self._liked: Form | None = None
        self._refuses_calls = False

    def write(self, answer: Answer) -> Ideal:
        """Return what a model would have written to give an answer."""
        best: Ideal | None = None
        for form in forms_of(answer, self._liked, is_hopeless=self._refuses_calls):
            if form.kwargs and self._changes_nothing(form.kwargs):
                continue
            made = self._try(answer, form)
            if best is None or _rank(made) < _rank(best):
                best = made
            if _rank(made) == _BEST:
                break
        assert best is not None
        if answer.calls and self._liked is None:
            self._refuses_calls = best.refusal is not None
            self._liked = best.form if best.is_whole else None
        if answer.content is not None and self._learns_end(best.raw.rpartition(answer.content)[2].strip()):
            best = self._try(answer, best.form)
        return best

    def _changes_nothing(self, kwargs: Mapping[str, JSON]) -> bool:
        try:
            return self._prompt(request_of(self._tools, kwargs)) == self._prompt(request_of(self._tools))
        except RenderError:
            return True

    def _try(self, answer: Answer, form: Form) -> Ideal:
        try:
            return self._read(answer, form)
        except RenderError as error:
            return Ideal(answer, "", "", refusal=error, form=form)

    def _learns_end(self, closing: str) -> bool:
        """Take what is after a text as the end of a turn, if it is one marker that was not known."""
        if closing in self._ends or not _LOOKS_LIKE_A_MARKER.fullmatch(closing):
            return False
        self._ends |= {closing}
        return True

    def _read(self, answer: Answer, form: Form) -> Ideal:
        request = request_of(self._tools, form.kwargs)
        asked = request["messages"]
        assert isinstance(asked, list)
        prompt = self._prompt(request)
        history = self._render({**request, "messages": [*asked, form.message(answer)], "add_generation_prompt": False})
        start = _first_difference(prompt, history)
        written = _cut_end(_drop_repeat(prompt[start:], history[start:]), answer, self._ends)
        raw, has_own_closer = _cut_prompt(prompt, written, answer)
        lost = tuple(_lost(answer, raw))
        kept = replace(
            answer,
            content=None if "content" in lost else answer.content,
            reasoning=None if "reasoning" in lost else answer.reasoning,
        )
        end = max((end for end in self._ends if raw.endswith(end)), key=len, default="")
        return Ideal(kept, raw, prompt, lost, None, history.startswith(prompt), has_own_closer, form, end)

    def _prompt(self, request: JSONObject) -> str:
        key = repr(request.get("chat_template_kwargs"))
        if key not in self._prompts:
            self._prompts[key] = self._render({**request, "add_generation_prompt": True})
        return self._prompts[key]


def request_of(tools: tuple[JSONObject, ...] = TOOLS, kwargs: Mapping[str, JSON] = _NO_KWARGS) -> JSONObject:
    """Return the request that every answer answers."""
    request: JSONObject = {"messages": [{"role": "user", "content": USER_WORDS}], "tools": list(tools)}
    return {**request, "chat_template_kwargs": dict(kwargs)} if kwargs else request


def _rank(ideal: Ideal) -> tuple[int, int]:
    """Return how much is wrong with an output; a prompt that shuts reasoning off does not suit an answer with it."""
    if ideal.refusal is not None:
        return 9, 0
    is_off = ideal.answer.reasoning is not None and not ideal.is_prefix
    return len(ideal.lost), int(is_off)


def _first_difference(prompt: str, history: str) -> int:
    """Return where the history leaves the prompt, in front of a marker that both begin alike."""
    start = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(prompt, history, strict=False)))
    if start < len(prompt) and (half := _HALF_MARKER.search(history[:start])) is not None:
        start = half.start()
    return start


def _drop_repeat(closed: str, written: str) -> str:
    """Return what was written without what the prompt has already: all of it in other whitespace, or a closed block.

    >>> _drop_repeat("  </think> ", "</think>Hm.")
    'Hm.'
    """
    in_any_space = "".join(rf"\s*{re.escape(char)}" for char in closed if not char.isspace())
    if closed.strip() and (repeat := re.match(in_any_space, written)) is not None:
        return written[repeat.end() :]
    for length in range(min(len(closed), len(written)), 2, -1):
        if closed.endswith(written[:length]):
            return written[length:]
    return written


def _cut_prompt(prompt: str, written: str, answer: Answer) -> tuple[str, bool]:
    """Return what the model writes after the prompt, and whether the end of reasoning in it is ours."""
    opened = _open_pair(prompt)
    if opened is None:
        return written, False
    line = "\n" if prompt.endswith("\n") else ""
    if opened.closer in written:
        if opened.opener not in written.partition(opened.closer)[0]:
            return written, False
        return written.partition(opened.opener)[2].removeprefix(line), False
    thought = "" if answer.reasoning is None else f"{answer.reasoning}{line}"
    return f"{thought}{opened.closer}{line}{line}{written.lstrip()}", True


def _open_pair(prompt: str) -> ReasoningPair | None:
    """Return the tags of the reasoning that the prompt leaves open at its very end."""
    end = prompt.rstrip()
    return next((pair for pair in TABLES.prompt_pairs if end.endswith(pair.opener.rstrip())), None)


def _cut_end(written: str, answer: Answer, ends: frozenset[str]) -> str:
    """Return an output up to the end of the turn after which nothing of the answer follows."""
    pattern = "|".join(re.escape(end) for end in sorted(ends, key=len, reverse=True))
    ours = ("zq", *(call.name for call in answer.calls))
    for end in re.finditer(pattern, written):
        if not any(word in written[end.end() :] for word in ours):
            return written[: end.end()]
    return written


def _lost(answer: Answer, raw: str) -> Iterator[str]:
    names = [call.name for call in answer.calls]
    if any(raw.count(name) < names.count(name) for name in names) or any(
        word not in raw for call in answer.calls for word in words_of(call.arguments)
    ):
        yield "calls"
    if answer.content is not None and answer.content not in raw:
        yield "content"
    if answer.reasoning is not None and answer.reasoning not in raw:
        yield "reasoning"
