"""Which kinds of events there are, and how much of each one page, one visitor and all together may use.

The same table is in docs/public-mode.md; a test compares them. An event that no line here names is counted as the
strictest kind that its way in allows, so a new button is limited before anyone thinks of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What an event costs the server."""

    RUN = "runs"
    EXPERIMENT = "experiments"
    PARSERS = "questions to parsers"
    TEMPLATE = "template renders and probes"
    SHARE = "files, links and bundles"
    EDIT = "checks while typing"
    CLICK = "clicks"


@dataclass(frozen=True, slots=True)
class Share:
    """How much of a kind may be used; `None` means as much as one likes.

    Attributes:
        per_page: Events of one open page that are running or waiting at the same time.
        total: The same for all visitors; one has at most as many as stay free, which is half for one alone.
        page_minute: Events that one page may start in a minute.
        visitor_minute: The same for all pages of a visitor.
    """

    per_page: int
    total: int
    page_minute: int | None = None
    visitor_minute: int | None = None


@dataclass(frozen=True, slots=True)
class AdmissionLimits:
    """What a visitor may use of the page's server.

    Attributes:
        shares: By kind.
        max_bytes: Length of a body.
        minute_bytes: Length of all bodies that one visitor may send within a minute, refused ones included.
        waiting_bytes: Length of all bodies of events that are running or waiting; shared like their number.
        pages_per_visitor: Open pages that are remembered of one visitor.
        pages: Open pages that are remembered in all.
        streams_per_page: Connections over which one page listens at the same time.
        streams_per_visitor: The same for all pages of a visitor.
        new_pages_minute: Pages that a visitor may open in a minute.
        keep_s: Seconds for which a page that was closed is remembered.
    """

    shares: Mapping[Kind, Share]
    max_bytes: int
    minute_bytes: int | None
    waiting_bytes: int
    pages_per_visitor: int
    pages: int
    streams_per_page: int
    streams_per_visitor: int
    new_pages_minute: int | None
    keep_s: float


PUBLIC_ADMISSION = AdmissionLimits(
    shares={
        Kind.RUN: Share(2, 192, 30, 600),  # one is running; the other may come while gradio still clears up after it
        Kind.EXPERIMENT: Share(2, 128, 30, 300),
        Kind.PARSERS: Share(2, 128, 30, 300),
        Kind.TEMPLATE: Share(3, 144, 240, 2_400),
        Kind.SHARE: Share(4, 128, 60, 600),  # the end of a run brings three of them
        Kind.EDIT: Share(4, 192, 600, 6_000),
        Kind.CLICK: Share(8, 192, 600, 6_000),
    },
    max_bytes=4_000_000,
    minute_bytes=160_000_000,
    waiting_bytes=256_000_000,
    pages_per_visitor=128,
    pages=256,
    streams_per_page=4,
    streams_per_visitor=256,
    new_pages_minute=240,
    keep_s=120.0,
)
# On one's own machine: nothing that a hand can reach, but no script fills the memory either.
OWN_ADMISSION = AdmissionLimits(
    shares={kind: Share(16, 128) for kind in Kind},
    max_bytes=12_000_000,  # 2 M characters of request, each up to 4 bytes and escaped
    minute_bytes=None,
    waiting_bytes=1_000_000_000,
    pages_per_visitor=128,
    pages=128,
    streams_per_page=8,
    streams_per_visitor=512,
    new_pages_minute=None,
    keep_s=3_600.0,
)

_NAMES: Mapping[Kind, tuple[str, ...]] = {
    Kind.RUN: ("run",),
    Kind.EXPERIMENT: (
        "try_switches", "follow_turns", "follow_sessions", "explain_count", "compare_setups", "test_server",
        "verify_dataset", "live_watch", "try_fix", "run_trials", "shrink", "run_turns",
        "ask_apis",
    ),
    Kind.PARSERS: (
        "ask_parsers", "ask_lost_call", "ask_kept_call", "try_splits", "ask_releases", "judge_constrained",
        "check_model", "upstream_test",
    ),
    Kind.TEMPLATE: (
        "live_render", "render",
        "probe_template", "render_template", "render_ending", "render_kwargs", "render_opened", "render_reset",
        "apply_switch", "apply_template", "plan_trials", "show_loop",
    ),
    Kind.SHARE: (
        "share", "open_bundle", "compare_runs", "open_cell", "pack_run", "reopen_run",
        "copy_fix", "apply_fix", "open_verification", "open_row", "open_live_row", "open_trial", "make_plugin",
        "open_turn", "turn_request", "save_loop", "ask_margin", "ask_again", "wait_for_questions", "add_proof",
    ),
    Kind.EDIT: (
        "check_request", "check_reading", "check_row", "name_target", "name_api", "name_text", "name_after_case",
        "name_after_opening", "run_on", "load_case", "open_template", "forget_counts", "diagnose", "parse", "explain",
    ),
}  # fmt: skip
CHEAP = frozenset({Kind.EDIT, Kind.CLICK})
KNOWN_EVENTS = {name: kind for kind, names in _NAMES.items() for name in names}


def kind_of(name: str, *, is_queued: bool) -> Kind:
    """Return the kind of an event of the page."""
    if not is_queued:
        return Kind.CLICK
    return KNOWN_EVENTS.get(name, Kind.EXPERIMENT)
