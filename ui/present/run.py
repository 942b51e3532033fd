"""A run on the page: the payloads of all views, each made again only when what it shows has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from prompt_debugger.core.base.errors import DebuggerError
from prompt_debugger.core.base.types import JSON, Request, Trace
from prompt_debugger.core.complete.backends.exchanges import ExchangeLog
from prompt_debugger.ui.present.completion import completion_payload
from prompt_debugger.ui.present.error import error_payload
from prompt_debugger.ui.present.findings import findings_payload
from prompt_debugger.ui.present.header import header_payload, server_facts
from prompt_debugger.ui.present.heat import prompt_heat, raw_heat
from prompt_debugger.ui.present.ledger import ledger_payload
from prompt_debugger.ui.present.parsers import matrix_payload
from prompt_debugger.ui.present.prompt import difference_payload, template_payload
from prompt_debugger.ui.present.reasons import EXPLAINED, OF_ANSWERS, empty_payload, text_payload
from prompt_debugger.ui.present.stages import stages_payload
from prompt_debugger.ui.present.tokens import tokens_payload
from prompt_debugger.ui.present.verdict import (
    bare_panels,
    idle_payload,
    running_payload,
    stopped_payload,
    verdict_payload,
)

VIEWS = (
    "header",
    "verdict",
    "stages",
    "prompt_tokens",
    "template",
    "difference",
    "completion",
    "raw_tokens",
    "ledger",
    "parser_matrix",
    "findings",
)


@dataclass(slots=True)
class RunView:
    """Turns what is known of a run into payloads, and remembers which are on the page already.

    Attributes:
        run: Number of the run; tells the page a new one from a change of the old.
        facts: Facts of the target to show until the server says more.
        trace: What is known so far.
        texts: Raw and chat text that has streamed so far.
        doing: What the run does now, in words.
        exchanges: What goes over the wire for it; empty where no one is to see it.
        explains: Whether views of a finished run that have nothing to show say why; a report has its own words.
    """

    run: int = 0
    facts: list[JSON] = field(default_factory=list)
    trace: Trace | None = None
    texts: tuple[str, str] = ("", "")
    doing: str = ""
    exchanges: ExchangeLog = field(default_factory=ExchangeLog)
    explains: bool = True
    _keys: dict[str, object] = field(default_factory=dict)
    _empty: set[str] = field(default_factory=set)

    def update(
        self,
        trace: Trace,
        sentence: str,
        *,
        fraction: float | None = None,
        raw_text: str = "",
        chat_text: str = "",
        elapsed_s: float = 0.0,
    ) -> dict[str, str | None]:
        """Return the payloads that changed; a tick without news changes the clock alone."""
        self.trace, self.texts, self.doing = trace, (raw_text, chat_text), sentence
        asked = self.exchanges.waiting()
        waiting_s = 0.0 if asked is None else self.exchanges.now_s() - asked.started_s
        clock = {"elapsed_s": elapsed_s, "waiting_s": waiting_s}
        running = running_payload(sentence, run=self.run, fraction=fraction, **clock)
        changed = self._stage_views(trace, raw_text, chat_text, running=True)
        self._take(changed, "verdict", (sentence, fraction, int(elapsed_s)), lambda: running)
        return changed

    def finish(self, trace: Trace) -> dict[str, str | None]:
        """Return the payloads that the end of the run changes."""
        self.trace = trace
        changed = self._stage_views(trace, "", "", running=False)
        changed["verdict"] = verdict_payload(trace, run=self.run)
        for view in EXPLAINED if self.explains else ():
            if view in self._empty:
                changed[view] = empty_payload(trace, view)
        return changed

    def fail(self, error: DebuggerError) -> dict[str, str | None]:
        """Return the payloads of an error: its message, and what was found before it, never another run's results."""
        changed, bare = self._cut_short()
        changed["verdict"] = error_payload(error, run=self.run, bare=bare)
        return changed

    def stop(self) -> dict[str, str | None]:
        """Return the payload of a run that was stopped: all that had come, made again; a verdict already out stays."""
        if self.trace is not None and self.trace.verdict is not None:
            return RunView(self.run, self.facts).finish(self.trace)
        # By its own view: a thread may still be at work with this one.
        changed, bare = RunView(self.run, self.facts, self.trace, self.texts)._cut_short()
        has_found = self.trace is not None and (any(self.texts) or _has_found(self.trace))
        return {**changed, "verdict": stopped_payload(run=self.run, has_found=has_found, bare=bare, doing=self.doing)}

    def _cut_short(self) -> tuple[dict[str, str | None], list[JSON]]:
        """Return the payloads of a run that ended before its end, and the panels that have nothing to show."""
        trace = self.trace or Trace(request=Request(body={}, text=""))
        if self.trace is None:
            changed = empty_payloads("", self.facts)
            self._empty.update(VIEWS)
        else:
            changed = self._stage_views(trace, *self.texts, running=False)
        for view in OF_ANSWERS:
            if view in self._empty:
                changed[view] = empty_payload(trace, view)
        bare = bare_panels(trace, has_text=any(self.texts))
        if "complete" in bare:
            changed["completion"] = completion_payload(trace, has_ended=True)
        return changed, bare

    def _stage_views(self, trace: Trace, raw_text: str, chat_text: str, *, running: bool) -> dict[str, str | None]:
        prompt = trace.prompt or trace.local_prompt
        template = trace.local_prompt if prompt is not None and prompt.template is None else prompt
        prompt_tokens = None if prompt is None else prompt.tokens
        raw_tokens = None if trace.raw is None else trace.raw.tokens
        facts = self._facts(trace)
        stages = _Same(prompt, trace.prompt_difference, trace.raw, trace.parse, trace.verdict, running)
        is_over = trace.verdict is not None or trace.chat is not None
        difference = _Same(trace.prompt, trace.local_prompt, trace.prompt_difference, is_over)
        came = _Same(trace.raw, trace.chat, trace.chat_stream, trace.refusal, trace.verdict, running)
        answers = (came, raw_text, chat_text)
        changed: dict[str, str | None] = {}
        self._take(changed, "header", repr(facts), lambda: header_payload(facts))
        self._take(changed, "stages", stages, lambda: stages_payload(trace, running=running))
        prompt_logprobs = None if trace.chat is None else trace.chat.prompt_logprobs
        raw_logprobs = None if trace.raw is None else trace.raw.logprobs
        self._take(
            changed,
            "prompt_tokens",
            _Same(prompt, prompt_logprobs),
            lambda: tokens_payload(prompt_tokens, prompt_heat(trace)) or text_payload(prompt),
        )
        self._take(changed, "template", _Same(template), lambda: template_payload(template))
        self._take(changed, "difference", difference, lambda: difference_payload(trace))
        self._take(
            changed,
            "completion",
            answers,
            lambda: completion_payload(trace, raw_text=raw_text, chat_text=chat_text, streaming=running),
        )
        self._take(
            changed,
            "raw_tokens",
            _Same(raw_tokens, raw_logprobs),
            lambda: tokens_payload(raw_tokens, raw_heat(trace)),
        )
        self._take(changed, "ledger", _Same(trace.parse, trace.chat), lambda: ledger_payload(trace))
        asked = None if trace.parse is None or not trace.parse.parsers else _Same(trace.parse)
        self._take(changed, "parser_matrix", asked, lambda: matrix_payload(trace))
        self._take(changed, "findings", _Same(trace.findings, trace.verdict), lambda: findings_payload(trace))
        return changed

    def _facts(self, trace: Trace) -> list[JSON]:
        known = server_facts(trace)
        is_recognized = trace.server is not None and not trace.server.base_url and not trace.server.is_lab
        return [*self.facts, *known] if is_recognized else known or self.facts

    def _take(self, changed: dict[str, str | None], name: str, key: object, build: Callable[[], str | None]) -> None:
        if self._keys.get(name, _NEVER) != key:
            self._keys[name] = key
            changed[name] = build()
            (self._empty.add if changed[name] is None else self._empty.discard)(name)


def _has_found(trace: Trace) -> bool:
    return any(part is not None for part in (trace.prompt, trace.local_prompt, trace.raw, trace.chat))


_NEVER = object()


class _Same:
    """A key that is equal only to one of the very same objects; values of a trace are frozen, so that is enough."""

    def __init__(self, *parts: object) -> None:
        self._parts = parts  # kept alive: the id of a freed object may be given to another one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and all(a is b for a, b in zip(self._parts, other._parts, strict=True))

    __hash__ = None  # type: ignore[assignment]  # a key of comparison, not of a mapping


def empty_payloads(story: str, facts: list[JSON]) -> dict[str, str | None]:
    """Return what the page shows before the first run."""
    empty: dict[str, str | None] = dict.fromkeys(VIEWS)
    empty["header"] = header_payload(facts)
    empty["verdict"] = idle_payload(story)
    nothing = Trace(request=Request(body={}, text=""))
    empty["stages"] = stages_payload(nothing)
    empty["completion"] = completion_payload(nothing)
    return empty
