"""The request column: worked cases, the editor, what is said about it, Run and Stop, the target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import gradio as gr

from prompt_debugger.core.base.types import Api
from prompt_debugger.core.pipeline import Example
from prompt_debugger.ui.web.pasted import AUTO_DETECT, READINGS
from prompt_debugger.ui.web.settings import PageSettings
from prompt_debugger.ui.web.targets import BY_REQUEST, REASONING_PARSERS, TOOL_PARSERS, AskModel, RunOn
from prompt_debugger.ui.web.views import build_asking_view, build_view


class LookPanel(NamedTuple):
    """The Test button of a server, and what it found."""

    button: gr.Button
    words: gr.HTML


class RequestPanel(NamedTuple):
    """Components of the request column."""

    case: gr.Dropdown
    load: gr.Button
    give_up: gr.Button
    editor: gr.Code
    notices: gr.HTML
    recolour: gr.Button
    check: gr.Button
    name_run: gr.Button
    reads_here: gr.Checkbox
    goes_to: gr.Textbox
    read_as: gr.Dropdown
    row: gr.Number
    run: gr.Button
    stop: gr.Button
    run_on: gr.Dropdown
    endpoint: gr.Textbox
    model: gr.Textbox
    tokenizer: gr.Textbox
    tool_parser: gr.Dropdown
    reasoning_parser: gr.Dropdown
    template_name: gr.Dropdown
    key: gr.Textbox | gr.State
    certificates: gr.Textbox | gr.State
    ask: gr.Dropdown
    api: gr.Dropdown
    look: LookPanel
    servers: gr.HTML | None
    target_row: gr.Accordion
    aimed: gr.Textbox
    tell_lost: gr.Button
    over: gr.Button

    @property
    def target_fields(self) -> list[gr.components.Component]:
        """The fields under Target, in the order of `TargetFields`."""
        parsers = [self.tool_parser, self.reasoning_parser]
        return [self.endpoint, self.model, self.tokenizer, *parsers, self.template_name]

    @property
    def kept_fields(self) -> list[gr.components.Component]:
        """What a browser keeps of them, and whether a paste has filled them in."""
        return [*self.target_fields, self.aimed]

    @property
    def sending_fields(self) -> list[gr.components.Component]:
        """What a request is sent with: all of `TargetFields`, and the key last. Drafts and links have only those."""
        return [*self.target_fields, self.certificates, self.ask, self.key]


def build_request_panel(
    settings: PageSettings, examples: Sequence[Example], notices: str | None, label: str, target_label: str
) -> RequestPanel:
    """Place the request column; the first worked case is loaded, and Run and the target say where it goes."""
    first = examples[0]
    with gr.Row(elem_id="pd-reading"):
        case = gr.Dropdown(
            [(example.title, example.name) for example in examples],
            value=first.name,
            label="Example",
            elem_id="pd-case",
            filterable=False,
        )
        read_as = gr.Dropdown(
            list(READINGS), value=AUTO_DETECT, label="Read as", elem_id="pd-read-as", filterable=False, min_width=80
        )
        row = gr.Number(1, label="Number", minimum=1, maximum=1_000_000, precision=0, elem_id="pd-row", min_width=80)
    load = gr.Button("Load the example", elem_id="pd-load-case", elem_classes=["pd-unseen"])
    give_up = gr.Button("Keep the text", elem_id="pd-keep-typed", elem_classes=["pd-unseen"])
    editor = gr.Code(
        first.request_text,
        language="json",
        label="Paste a request, a model's output or a server's answer",
        elem_id="pd-request",
        elem_classes=["pd-code-editor"],
        show_label=True,
        wrap_lines=True,
        buttons=[],
    )
    with gr.Row(elem_id="pd-editor-foot"):
        build_view("format", "format")
        notices_view = build_view("notices", "notices", notices)
    recolour = gr.Button("Colours", elem_id="pd-recolour", elem_classes=["pd-unseen"])
    check = gr.Button("Check the text", elem_id="pd-check-request", elem_classes=["pd-unseen"])
    name_run = gr.Button("Name where Run goes", elem_id="pd-name-run", elem_classes=["pd-unseen"])
    # What Run says: that no server is asked about what is in the editor, else where a request goes.
    reads_here = gr.Checkbox(value=False, label="Run asks no server", visible=False)
    goes_to = gr.Textbox(label, label="Where Run goes", visible=False)
    # Gradio fills the fields of a closed one a moment after they appear, over what was typed by then: the page's script
    # closes it before it is shown.
    with gr.Accordion(target_label, elem_id="pd-target") as target_row:
        target = _build_target(settings, first)
        with gr.Row(elem_id="pd-look-row"):
            look = build_look(shown=not settings.public)
        servers = None if settings.public else build_asking_view("servers")
    with gr.Row(elem_id="pd-buttons"):
        run = gr.Button(label, variant="primary", elem_id="pd-run", min_width=80)
        # As aimed: the server under Target, else the one that a pasted call names, else the lab.
        both = [("both, and compare", RunOn.BOTH.value)] if settings.lab else []
        places = [("on the target", RunOn.AUTO.value), ("on the lab", RunOn.LAB.value), *both]
        run_on = gr.Dropdown(
            [*places, ("raw output only", RunOn.RAW.value)],
            value=RunOn.AUTO.value,
            label="Run on",
            show_label=False,
            container=False,
            elem_id="pd-run-on",
            filterable=False,
            min_width=110,
            scale=0,
            visible=not settings.public,
        )
        stop = gr.Button("Stop", elem_id="pd-stop", interactive=False, min_width=60)
    # The server that a paste has made the target, and the next one may change. The browser has it, to keep it.
    aimed = gr.Textbox("", label="Server of the paste", visible=False)
    tell_lost = gr.Button("Connection lost", elem_id="pd-tell-lost", elem_classes=["pd-unseen"])
    over = gr.Button("Run is over", elem_id="pd-run-over", elem_classes=["pd-unseen"])
    fields = (*target, look, servers, target_row, aimed, tell_lost, over)
    return RequestPanel(
        case, load, give_up, editor, notices_view, recolour, check, name_run, reads_here, goes_to, read_as, row,
        run, stop, run_on, *fields,
    )  # fmt: skip


_Secret = gr.Textbox | gr.State
_Parts = tuple[
    gr.Textbox,
    gr.Textbox,
    gr.Textbox,
    gr.Dropdown,
    gr.Dropdown,
    gr.Dropdown,
    _Secret,
    _Secret,
    gr.Dropdown,
    gr.Dropdown,
]


def _build_target(settings: PageSettings, first: Example) -> _Parts:
    target = settings.target
    shown = not settings.public
    endpoint = gr.Textbox(
        target.base_url or "",
        label="Endpoint",
        placeholder=" or ".join(settings.endpoints) or "http://localhost:8000/v1 (empty: the lab)",
        elem_id="pd-endpoint",
        visible=shown or bool(settings.endpoints),
    )
    # A public page has no such field, not even a hidden one.
    key = (
        gr.Textbox("", label="Key", type="password", placeholder="or $NAME, or Header: value", elem_id="pd-key")
        if shown
        else gr.State("")
    )
    model = gr.Textbox(
        target.model or "", label="Model", placeholder="from the request, or the server's default", visible=shown
    )
    tokenizer = gr.Textbox(
        str(target.tokenizer or ""),
        label="Tokenizer",
        placeholder="folder or Hub id",
        elem_id="pd-tokenizer",
        visible=shown,
    )
    # Shown once the tokenizer turns out to have several.
    template_name = gr.Dropdown(
        [BY_REQUEST],
        value="",
        label="Template of the model",
        elem_id="pd-template-name",
        allow_custom_value=True,
        visible=False,
    )
    with gr.Row():
        tool_parser = gr.Dropdown(
            _choices(TOOL_PARSERS, first.lab.tool_parser),
            value=first.lab.tool_parser or "none",
            label="Tool parser of the lab",
            min_width=90,
        )
        reasoning_parser = gr.Dropdown(
            _choices(REASONING_PARSERS, first.lab.reasoning_parser),
            value=first.lab.reasoning_parser or "none",
            label="Reasoning parser of the lab",
            min_width=90,
        )
    with gr.Row():
        ask = gr.Dropdown(
            [("several times, to compare", AskModel.MORE.value), ("only once", AskModel.ONCE.value)],
            value=AskModel.MORE.value,
            label="Ask the model",
            elem_id="pd-ask",
            filterable=False,
            min_width=90,
        )
        # What bounds a stranger's request knows chat completions alone.
        api = gr.Dropdown(
            [("that of the request", ""), *((one.label, one.value) for one in Api)],
            value="",
            label="API",
            elem_id="pd-api",
            filterable=False,
            min_width=90,
            visible=shown,
        )
        # A page for untrusted users trusts public certificates alone.
        certificates = (
            gr.Textbox(
                "",
                label="Certificates",
                placeholder="-----BEGIN CERTIFICATE----- …",
                lines=1,
                max_lines=3,
                elem_id="pd-certificates",
                min_width=90,
            )
            if shown
            else gr.State("")
        )
    return endpoint, model, tokenizer, tool_parser, reasoning_parser, template_name, key, certificates, ask, api


def build_look(*, shown: bool) -> LookPanel:
    """Place the Test button and its answer."""
    button = gr.Button(
        "Test this server", elem_id="pd-look", size="sm", elem_classes=["pd-bench-button"], visible=shown
    )
    return LookPanel(button, build_view("server_look", "look_words"))


def _choices(known: Sequence[str], own: str | None) -> list[str]:
    return [*known] if own is None or own in known else [*known, own]
