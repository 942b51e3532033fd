"""Check a model from the page: its template against vLLM's parsers; plain values in, payloads out.

On a public page the operator's model is checked, once, and nothing that a visitor types takes part.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from prompt_debugger.core.base.errors import DebuggerError, EngineError, RequestError
from prompt_debugger.core.base.types import Trace
from prompt_debugger.core.parse.engines import EngineLimits, VllmEngine
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.check import (
    Check,
    CheckedModel,
    Checker,
    NoTemplateError,
    Place,
    Wanted,
    cell_trace,
    check_without_parsers,
    ideal_of,
    load_model,
    load_served,
    open_engines,
    pasted_text,
)
from prompt_debugger.ui.present.model_check import cell_payload, check_payload, check_running_payload
from prompt_debugger.ui.present.tool_state import tool_error_payload
from prompt_debugger.ui.web.failures import shown_as
from prompt_debugger.ui.web.handlers import Payloads
from prompt_debugger.ui.web.redraw_rate import RedrawRate, ticks_until
from prompt_debugger.ui.web.render_setups import keep_edges
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import TargetFields, add_scheme, is_same_address, read_key_field
from prompt_debugger.ui.web.work import shown_cell

_HELPERS = 2  # half a gigabyte each, gone at the end of the check
_LIMITS = EngineLimits(request_s=600.0, parser_s=20.0)  # everything waits for the slowest parser
_PUBLIC_S = 180.0  # for the one check of a public page

_COUNTED = re.compile(r"(.{1,200}): answer (\d{1,6}) of (\d{1,6})")
_log = logging.getLogger(__name__)


class CheckFields(NamedTuple):
    """What the panel asks for.

    Attributes:
        model: Folder, hub id or template file; "" for what the page aims at.
        depth: `thorough` for more answers and chunkings.
        engine: Whose parsers: "" for vLLM's, else another engine that was fetched, or `all` that are here.
        template: `edited` for the template editor's text.
        edited: That text.
        key: For the server under Target, as the field Key takes it.
    """

    model: str = ""
    depth: str = ""
    template: str = ""
    edited: str = ""
    engine: str = ""
    key: str = ""


class CheckChange(NamedTuple):
    """A step of a check: the payload, and at its end what was found."""

    payload: str | None
    check: Check | None = None


class TakenCell(NamedTuple):
    """A cell as a run of the page: its trace, the text for the editor, the views."""

    trace: Trace
    text: str
    payloads: Payloads


@dataclass
class Forecast:
    """How long the answers that wait will take, by those that are done; in steps of five seconds, to be calm."""

    phase: str = ""
    first: tuple[int, float] = (0, 0.0)

    def of(self, words: str, now_s: float) -> tuple[str, float | None]:
        """Return the words with the time that is left, and the share that is done; `None` where nothing is counted."""
        counted = _COUNTED.fullmatch(words)
        if counted is None:
            return words, None
        phase, at, total = counted[1], int(counted[2]), int(counted[3])
        if phase != self.phase:
            self.phase, self.first = phase, (at, now_s)
        done = at - self.first[0]
        share = (at - 1) / total
        if done < 2:
            return words, share
        left_s = (now_s - self.first[1]) / done * (total - at + 1)
        return f"{words}, about {max(5, round(left_s / 5) * 5)} s left", share


class ModelChecks:
    """What the events of the check panel do; keeps nothing of a visitor's."""

    def __init__(
        self,
        settings: PageSettings,
        start_engine: Callable[[], VllmEngine] | None = None,
        redraw_rate: RedrawRate | None = None,
    ) -> None:
        self._settings = settings
        self._redraw_rate = redraw_rate or RedrawRate()
        self._start_engine = start_engine or (lambda: VllmEngine(limits=_LIMITS))
        self._public: CheckChange | None = None  # the same for every visitor

    @shown_as(lambda error: CheckChange(tool_error_payload(error)))
    async def check(self, fields: CheckFields, target: TargetFields) -> AsyncGenerator[CheckChange, None]:
        """Check a model; yield the progress, and at the end what was found."""
        if self._public is not None:
            yield self._public
            return
        yield CheckChange(check_running_payload(""))
        async with aclosing(self._steps(fields, target)) as changes:
            async for change in changes:
                if self._settings.public and change.check is not None:
                    self._public = change
                yield change

    @shown_as(tool_error_payload)
    async def open_cell(self, check: Check | None, parser: str, answer: str) -> str:
        """Return the payload of one cell."""
        found = _need(check)
        trace = await read_trace(cell_trace(found, parser, answer))
        return await in_thread(cell_payload, found, parser, ideal_of(found, answer), trace)

    async def take_cell(self, check: Check | None, parser: str, answer: str) -> TakenCell | None:
        """Return one cell as a run that the whole page shows; `None` if it cannot be."""
        try:
            trace = await read_trace(cell_trace(_need(check), parser, answer))
            origin = f"From the check: `{parser.removeprefix('vllm:')}` on the answer `{answer}`. No server was asked."
            payloads = await in_thread(sandbox_of().call, shown_cell, trace, origin)
            return TakenCell(trace, pasted_text(trace), payloads)
        except DebuggerError as error:
            _log.info("a cell could not be shown: %s", error)
            return None

    async def _steps(self, fields: CheckFields, target: TargetFields) -> AsyncGenerator[CheckChange, None]:
        reported = [""]
        task = asyncio.create_task(self._check(fields, target, reported))
        forecast, shown = Forecast(), ""
        started_s = time.monotonic()
        async with aclosing(ticks_until(task, self._redraw_rate)) as ticks:
            async for _ in ticks:
                if self._settings.public and time.monotonic() - started_s > _PUBLIC_S:
                    raise RequestError("The check took too long.", "Run `check` on your own machine.")
                words, fraction = forecast.of(reported[0], time.monotonic() - started_s)
                yield CheckChange(None if words == shown else check_running_payload(words, fraction))
                shown = words
        check, missing = task.result()
        yield CheckChange(await asyncio.to_thread(check_payload, check, missing), check)

    async def _check(self, fields: CheckFields, target: TargetFields, reported: list[str]) -> tuple[Check, str]:
        def report(words: str) -> None:
            reported[0] = words

        model = await self._model(fields, target, report)
        report("")
        is_thorough = fields.depth == "thorough" and not self._settings.public
        stack = ExitStack()
        try:
            engine = "" if self._settings.public else fields.engine
            engines, absent = await in_thread(stack.enter_context, self._helpers(engine))
            checker = Checker(engines, report, absent=absent)
            return await checker.check(model, Wanted(is_thorough=is_thorough)), ""
        except EngineError as error:
            report("only the template")
            check = await in_thread(check_without_parsers, model, is_thorough=is_thorough)
            return check, f"{error.message.rstrip('.')}. {error.hint}".strip()
        finally:
            await asyncio.shield(asyncio.to_thread(stack.close))

    @contextmanager
    def _helpers(self, engine: str) -> Iterator[tuple[Sequence[VllmEngine], Sequence[str]]]:
        """Give the helpers of a check, and why engines are not among them."""
        if engine:
            with open_engines(engine=engine) as opened:
                yield opened
            return
        with ExitStack() as stack:
            helpers = [self._start_engine() for _ in range(_HELPERS)]
            for helper in helpers:
                stack.callback(helper.close)
            yield helpers, ()

    async def _model(self, fields: CheckFields, target: TargetFields, report: Callable[[str], None]) -> CheckedModel:
        """Return what is to be checked: what was named, else what the page's target is rendered with."""
        base, is_public = self._settings.target, self._settings.public
        named = "" if is_public else fields.model.strip()
        endpoint = base.base_url if is_public else target.endpoint.strip()
        url = named if named.startswith(("http://", "https://")) else "" if named else endpoint or ""
        if url and not is_public:
            report(f"asking {url} which template it uses")
            typed = read_key_field(fields.key, self._settings.host).key if is_same_address(url, endpoint) else None
            key = typed or (base.api_key if is_same_address(url, base.base_url) else None)
            try:
                model = await load_served(Place(add_scheme(url), key, target.tokenizer.strip() or None))
            except NoTemplateError as error:
                raise RequestError(error.message, "Enter the model's folder or Hub id in *Model*.") from None
        else:
            model = await in_thread(self._model_of_files, named or ("" if is_public else target.tokenizer.strip()), url)
        if fields.template == "edited" and not is_public and fields.edited.strip():
            model = replace(model, template=keep_edges(fields.edited, model.template), template_file="edited.jinja")
        return replace(model, name=Path(model.name).name) if is_public else model

    def _model_of_files(self, named: str, url: str | None) -> CheckedModel:
        base, spec = self._settings.target, self._settings.target.lab
        own = str(base.tokenizer or "")
        if not named and not own and url:
            raise RequestError(f"No tokenizer is known for {url}.", "Its operator can add one.", field="tokenizer")
        source = named or own or str(spec.model_dir)
        is_lab = source == str(spec.model_dir)
        file = str(spec.chat_template) if is_lab and spec.chat_template is not None else None
        model = load_model(source, template_file=file)
        if base.chat_template is not None and source == own:
            return replace(model, template=base.chat_template, template_file="template.jinja")
        return model


def _need(check: Check | None) -> Check:
    if check is None:
        raise RequestError("There is no check yet.", "Press the button above the matrix.")
    return check
