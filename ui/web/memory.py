"""What gradio keeps of each open page: what it must not keep, what is dropped, and which event is next.

It stores the last value of every component of every session, as it came in, to be able to write a link to them; our
link route is closed, and a pasted curl command may contain a key. The trace of the last run stays in its session's
`gr.State`, where keys are masked. This file alone knows how gradio keeps things; tests/ui/web/test_memory.py pins it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import gradio as gr
from gradio.blocks import BlocksConfig
from gradio.queueing import Event, Queue
from gradio.state_holder import SessionState

from prompt_debugger.core.sandbox import ON_TRIAL as SANDBOX_ON_TRIAL
from prompt_debugger.core.sandbox import VISITOR as SANDBOX_VISITOR
from prompt_debugger.core.sandbox.turns import TURN, Turn
from prompt_debugger.ui.web.admission.counts import Use
from prompt_debugger.ui.web.admission.events import ANSWERED, CHARGE, COST, ON_TRIAL, SIZE, VISITOR
from prompt_debugger.ui.web.admission.held import Owner
from prompt_debugger.ui.web.admission.kinds import kind_of
from prompt_debugger.ui.web.admission.pacing import PAGE_COST, Metered
from prompt_debugger.ui.web.one_listener import take_over


def keep_no_values() -> None:
    """Make sessions forget the values of components as soon as an event has had them.

    They do not build a description of the page either, which serves the same link: it took a third of the time of a
    new visitor's first event, and some of every step of a run.
    """
    SessionState._update_value_in_config = _forget  # type: ignore[assignment, method-assign]  # there is no setting for it
    BlocksConfig.__copy__ = _undescribed  # type: ignore[method-assign]  # sessions alone copy it


def _forget(_session: SessionState, _component_id: int, _value: object) -> None:
    return None


_copy_config: Callable[[BlocksConfig], BlocksConfig] = BlocksConfig.__copy__


def _undescribed(config: BlocksConfig) -> BlocksConfig:
    """Return a session's copy of the page's components, which describes none of them."""
    copied = _copy_config(config)
    copied.config_for_block = lambda *_: {}  # type: ignore[method-assign]
    return copied


class PageMemory:
    """What gradio keeps of the pages of one served page."""

    def __init__(self, blocks: gr.Blocks) -> None:
        self._blocks = blocks
        self._tasks: set[asyncio.Task[None]] = set()

    def holds(self, page: str) -> bool:
        """Return whether a run, a bundle or an event under way is kept of a page."""
        states = self._sessions().get(page)
        kept = () if states is None else states.state_data.values()
        return any(value not in (None, "", (), False) for value in kept) or self.is_busy(page)

    def is_busy(self, page: str) -> bool:
        """Return whether an event of the page is running or waiting."""
        return any(event.session_hash == page for event in self._events())

    def forget(self, page: str) -> None:
        """Drop all that is kept of a page, and end what it has waiting and going on."""
        queue = self._blocks._queue
        self._sessions().pop(page, None)
        self._blocks.state_holder.time_last_used.pop(page, None)
        queue.pending_messages_per_session.pop(page, None)
        queue.pending_event_ids_session.pop(page, None)
        self._end(page)

    def listen_alone(self, page: str) -> Callable[[], bool]:
        """Let the connection of this task alone get a page's answers; returns whether a newer one has taken over."""
        return take_over(self._blocks._queue.pending_messages_per_session, page)

    def end_old(self, page: str, age_s: float) -> None:
        """End what a page has waiting and going on if that began so long ago."""
        since_s = time.monotonic() - age_s
        if any(event.enqueue_time < since_s for event in self._events() if event.session_hash == page):
            self._end(page)

    def _end(self, page: str) -> None:
        task = asyncio.ensure_future(self._blocks._queue.clean_events(session_hash=page))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def in_use(self) -> list[Use]:
        """Return the events that are running or waiting."""
        return [
            Use(
                kind_of(str(event.fn.api_name), is_queued=True),
                event.session_hash,
                str(event.request.scope.get(VISITOR, "")),
                int(event.request.scope.get(SIZE, 0)),
            )
            for event in self._events()
        ]

    def waiting(self) -> list[Owner]:
        """Return those of whom an event waits."""
        lines = self._blocks._queue.event_queue_per_concurrency_id.values()
        return [
            Owner(str(event.request.scope.get(VISITOR, "")), event.session_hash or "")
            for line in lines
            for event in line.queue
        ]

    def choices_of(self, page: str, component: int) -> frozenset[str] | None:
        """Return what a page may choose in a component whose choices the server has changed for it."""
        session = self._sessions().get(page)
        part = None if session is None else session.blocks_config.blocks.get(component)
        return frozenset(str(value) for _, value in getattr(part, "choices", None) or ())

    def _events(self) -> list[Event]:
        return list(self._blocks._queue.event_ids_to_events.values())

    def _sessions(self) -> dict[str, SessionState]:
        sessions: dict[str, SessionState] = self._blocks.state_holder.session_data
        return sessions


def line_up_fairly(blocks: gr.Blocks) -> None:
    """Let visitors take turns in every line of a page, and in all that works on their texts, whatever one puts in."""
    queue = blocks._queue

    def going_on() -> Iterable[Event]:
        return [event for job in queue.active_jobs if job for event in job]

    for function in blocks.fns.values():
        if function.queue:
            queue.create_event_queue_for_fn(function)
    for line in queue.event_queue_per_concurrency_id.values():
        line.queue = FairLine(going_on)
    Work(queue).watch()


class Work:
    """What runs for visitors: done in their name, and ended when they leave.

    Gradio notes that a visitor left and stops nothing: a function that it runs in a thread continues.

    Args:
        queue: Gradio's queue.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._under_way: dict[asyncio.Task[Any], tuple[list[Event], Turn]] = {}

    def watch(self) -> None:
        """Wrap two methods of the queue: gradio has no hook for it."""
        process_events, clean_events = self._queue.process_events, self._queue.clean_events

        async def process_as_visitor(events: list[Event], *more: Any) -> None:  # noqa: ANN401  # passed on
            visitor = f"{events[0].request.scope.get(VISITOR, '')}/{events[0].session_hash}"
            SANDBOX_VISITOR.set(visitor)  # this task is its own, and threads that it starts know its context
            SANDBOX_ON_TRIAL.set(events[0].request.scope.get(ON_TRIAL))
            PAGE_COST.set(events[0].request.scope.get(COST, float))
            turn, task = Turn(), asyncio.current_task()
            TURN.set(turn)
            assert task is not None
            self._under_way[task] = events, turn
            try:
                charge = events[0].request.scope.get(CHARGE, lambda _: None)
                await Metered(process_events(events, *more), charge)
                self._note_answered(events[0])
            finally:
                self._under_way.pop(task, None)
                turn.end()  # after Stop, a thread may still ask

        async def clean_and_end(**names: str | None) -> None:
            try:
                await clean_events(**names)
            finally:
                self._end_left()

        self._queue.process_events = process_as_visitor  # type: ignore[assignment, method-assign]
        self._queue.clean_events = clean_and_end  # type: ignore[method-assign]

    def _note_answered(self, event: Event) -> None:
        """Say that a page has nothing more to wait for, if that is so and it waited until now."""
        others = (one for one in self._queue.event_ids_to_events.values() if one is not event)
        if event.alive and not any(one.session_hash == event.session_hash for one in others):
            event.request.scope.get(ANSWERED, lambda: None)()

    def _end_left(self) -> None:
        """End, as Stop does, what runs for no one any more."""
        for task, (events, turn) in list(self._under_way.items()):
            if not any(event.alive for event in events):
                del self._under_way[task]
                turn.end()
                task.cancel()


class FairLine(list[Any]):
    """Events that wait, in an order in which pages and visitors take turns.

    First comes everyone's first event, then everyone's second; what is already running counts as had.
    """

    def __init__(self, going_on: Callable[[], Iterable[Event]]) -> None:
        super().__init__()
        self._going_on = going_on

    def append(self, event: Event) -> None:
        """Put an event where its page's and its visitor's turn is."""
        super().append(event)
        had = Counter(name for one in self._going_on() for name in _owners(one))
        places = []
        for one in sorted(self, key=lambda one: one.enqueue_time):
            page, visitor = _owners(one)
            places.append((had[page], had[visitor], one.enqueue_time, one))
            had.update((page, visitor))
        self[:] = [one for *_, one in sorted(places, key=lambda place: place[:3])]


def _owners(event: Event) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("page", event.session_hash), ("visitor", str(event.request.scope.get(VISITOR, "")))
