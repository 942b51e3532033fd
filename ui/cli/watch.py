"""Read every exchange as it passes: a recording proxy that says which calls are lost, to whom and why."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from prompt_debugger.core.base.errors import RequestError
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.tools.capture import Capture
from prompt_debugger.core.tools.verify.plan import Stop
from prompt_debugger.core.tools.watch import (
    Alarm,
    Canary,
    CanaryResult,
    Counts,
    Watch,
    open_watched,
    serve_watch,
    write_canary_junit,
)
from prompt_debugger.core.tools.watch.kept import Bounds, WatchJournal
from prompt_debugger.core.tools.watch.serve import UNFILED, UNWRITTEN, Listener
from prompt_debugger.core.tools.watch.shared import is_shared, save, shown
from prompt_debugger.ui.cli.capture import Printer, add_proxy_arguments, warn_of_exposure
from prompt_debugger.ui.cli.front import stopped_by
from prompt_debugger.ui.cli.output import COULD_NOT_RUN, FOUND, OK, masked_line
from prompt_debugger.ui.cli.progress import log, working
from prompt_debugger.ui.cli.spread.cluster import joined
from prompt_debugger.ui.cli.spread.exchanges import READERS_PER_PROCESSOR, FarReader
from prompt_debugger.ui.cli.target_options import api_key_for
from prompt_debugger.ui.cli.verify_options import positive
from prompt_debugger.ui.cli.verify_words import RATES, percent
from prompt_debugger.ui.present.words import count_of

_STORE = "watch.sqlite"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_proxy_arguments(parser, required=False)
    parser.add_argument(
        "--store",
        default=_STORE,
        metavar="FILE.sqlite|URL",
        help=f"where exchanges are stored (default: {_STORE}); `postgresql://…` for several proxies together",
    )
    parser.add_argument(
        "--spool",
        default=_STORE,
        metavar="FILE.sqlite",
        help=f"with --store postgresql://…: this proxy's own file (default: {_STORE})",
    )
    parser.add_argument(
        "--open", metavar="FILE.sqlite|URL", help="start no proxy; report what a file or database of `watch` contains"
    )
    parser.add_argument(
        "--save", metavar="FILE.sqlite", help="with --open postgresql://…: write it to a file, which everything opens"
    )
    parser.add_argument(
        "--max-size",
        type=positive,
        default=1024,
        metavar="MB",
        help="size of the file; the oldest exchanges are deleted (default: 1024)",
    )
    parser.add_argument(
        "--max-age", type=positive, default=30, metavar="DAYS", help="delete exchanges older than this (default: 30)"
    )
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="ask the server for the token ids of each run, and take them out of what clients see",
    )
    parser.add_argument("--tokenizer", metavar="DIR_OR_ID", help="with --evidence: the model's tokenizer")
    parser.add_argument(
        "--api-key-env", metavar="NAME", help="environment variable with the key for the requests of --evidence"
    )
    parser.add_argument("--ray", metavar="ADDRESS", help="a Ray cluster whose machines share the reading")
    parser.add_argument("--metrics-port", type=int, metavar="N", help="serve /metrics for Prometheus on this port")
    parser.add_argument(
        "--canary", metavar="FILE.jsonl", help="known requests: alarm when the class of an answer to one changes"
    )
    parser.add_argument(
        "--every",
        type=positive,
        metavar="S",
        help="ask them every S seconds beside the traffic (default: ask them once, and end)",
    )
    parser.add_argument("--junit", metavar="FILE", help="with --canary, once: write the results as JUnit XML")
    parser.add_argument("--webhook", default="", metavar="URL", help="address that gets each faulty exchange, as JSON")
    parser.add_argument(
        "--json", action="store_true", help="print JSON: with --open one document, otherwise a line per alarm"
    )
    parser.set_defaults(run=_run)


def _run(options: argparse.Namespace) -> int:
    if options.open:
        with working("Reading the exchanges"):
            counts = _opened(options.open, options.save)
        return _show(counts, as_json=options.json)
    if not options.upstream:
        raise RequestError("No server to watch.", "Give --upstream URL, or --open FILE.", field="--upstream")
    printer = Printer()
    if options.canary and options.every is None:
        return _ask_canary(options, printer)
    watch = _watch_from(options)

    def ready(base_url: str, upstream: str, metrics: str) -> None:
        store = shown(options.store) if is_shared(options.store) else options.store
        started = WatchStarted(
            base_url=base_url, upstream=upstream, pid=os.getpid(), store=store, metrics=metrics or None
        )
        printer.print(asdict(started) if options.json else base_url)
        kept = f"exchanges are kept in {store}"
        log(f"Forwarding everything to {upstream}; {kept}. Press Ctrl-C to end.")
        if metrics:
            log(f"Metrics: {metrics}")
        warn_of_exposure(options.host, upstream)

    def alarm(found: Alarm | CanaryResult) -> None:
        printer.print(found.to_json() if options.json else masked_line(found.line))

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # an answer that breaks off is counted
    listener = Listener(ready, alarm, lambda text: log(masked_line(text)), changed=alarm)
    counts = asyncio.run(_until_stopped(watch, listener))
    return _show(counts, as_json=options.json, printer=printer)


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStarted:
    """The first line of `watch --json`.

    Attributes:
        schema_version: Of this form.
        base_url: For clients, in place of the server's.
        upstream: The server.
        pid: Process to end.
        store: Where exchanges are kept.
        metrics: Address of the metrics; `null` for none.
    """

    schema_version: int = 1
    base_url: str
    upstream: str
    pid: int
    store: str
    metrics: str | None


async def _until_stopped(watch: Watch, listener: Listener) -> Counts:
    """Watch until Ctrl-C or SIGTERM, then read what waits; the second time that is left for the next start."""
    stop = Stop()
    with stopped_by(lambda _: stop.ask()):
        return await serve_watch(watch, listener, stop)


def _ask_canary(options: argparse.Namespace, printer: Printer) -> int:
    """Ask the known requests once: 0 if each answer is of the class that it had, 1 if one is not."""
    store = _file_from(options)
    with working("Asking the known requests"), WatchJournal(store, options.upstream) as journal:
        results = asyncio.run(Canary(Path(options.canary), _target_from(options), journal).ask())
    if options.junit:
        write_canary_junit(Path(options.junit), results)
    for result in results:
        if options.json:
            printer.print(result.to_json())
        elif result.changed:
            printer.print(masked_line(result.line))
    new, changed = sum(one.before is None for one in results), sum(one.changed for one in results)
    log(f"{len(results)} known requests: {changed} whose answer changed class, {new} sent for the first time.")
    return FOUND if changed else OK


def _target_from(options: argparse.Namespace) -> Target:
    key = api_key_for(options.upstream, options.api_key_env)
    return Target(base_url=options.upstream, api_key=key, tokenizer=options.tokenizer)


def _watch_from(options: argparse.Namespace) -> Watch:
    target = _target_from(options)
    store, names = _file_from(options), tuple(options.host_name)
    watch = Watch(
        Capture(options.upstream, store, options.host, options.port, names, asks_for_ids=options.evidence),
        store,
        Bounds(options.max_size << 20, options.max_age * 86_400.0),
        target if options.evidence else None,
        options.metrics_port,
        options.webhook,
        canary=Path(options.canary) if options.canary else None,
        every_s=float(options.every or 0),
        canary_target=target,
        shared=options.store if is_shared(options.store) else "",
    )
    if options.ray:
        with joined(options.ray) as processors:  # so that a cluster that is not there is reported at once
            n_readers = READERS_PER_PROCESSOR * processors
        open_reader = partial(FarReader, options.ray, options.api_key_env)
        watch = replace(watch, open_reader=open_reader, n_readers=n_readers)
    return watch


def _file_from(options: argparse.Namespace) -> Path:
    return Path(options.spool if is_shared(options.store) else options.store)


def _opened(source: str, file: str | None) -> Counts:
    """Return what a file or a database holds, counted; the database's exchanges stay in a file, where one is named."""
    if not is_shared(source):
        if file:
            raise RequestError("`--save` is for a database.", "Copy the file.", field="--save")
        return open_watched(source)
    with scratch("watch") as folder:
        path = Path(file) if file else folder / _STORE
        if not save(source, path):
            raise RequestError(f"The database {shown(source)} holds no exchanges yet.", "Wait for the first answers.")
        return open_watched(str(path))


def _show(counts: Counts, *, as_json: bool, printer: Printer | None = None) -> int:
    document = counts.document()
    (printer or Printer()).print(document if as_json else _words(document))
    own = as_object(document["counts"])
    if counts.unread[UNWRITTEN] or counts.unread[UNFILED]:
        return COULD_NOT_RUN
    return FOUND if as_object(as_object(own["rates"])["error_rate"])["value"] else OK


def _words(document: JSONObject) -> str:
    own = as_object(document["counts"])
    lines = [
        f"{_exchanges(document)}, {document['read']} read, {document['unread']} not read, "
        f"{document['failed']} refused by the server",
        f"calls: {own['written']} written, {own['returned']} returned, {own['dropped']} dropped, "
        f"{own['altered']} altered, {own['cut']} cut, {own['invented']} invented, {own['leaked']} in the text",
    ]
    rates = as_object(own["rates"])
    lines += [f"  {words:36} {percent(rates[name])}" for name, words in RATES.items() if name.endswith("d_rate")]
    for title, key in (("by cause", "by_code"), ("not read because", "unread_because"), ("read on", "read_on")):
        counts = as_object(document[key])
        if counts:
            lines.append(f"{title}: " + ", ".join(f"{name} {count}" for name, count in counts.items()))
    for name, counted in as_object(document["by_model"]).items():
        model = as_object(counted)
        dropped = percent(as_object(model["rates"])["dropped_rate"])
        lines.append(f"model {name}: {_exchanges(model)}, calls dropped {dropped}")
    for name, written in as_object(own["by_tool"]).items():
        if isinstance(written, list):
            lines.append(f"tool {name}: {written[0]} calls, {written[1]} dropped, altered or cut")
    for name, counted in as_object(document["by_client"]).items():
        client = as_object(counted)
        lines.append(f"client {name}: {_exchanges(client)}, at fault {percent(client['at_fault'])}")
    return "\n".join(lines)


def _exchanges(counted: JSONObject) -> str:
    number = counted["exchanges"]
    return count_of(number if isinstance(number, int) else 0, "exchange")
