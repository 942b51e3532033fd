"""Render a request: the prompt, its tokens, and where each character came from."""

from __future__ import annotations

import argparse
import asyncio

from prompt_debugger.core.base.errors import RenderError
from prompt_debugger.core.base.types import Finding, JSONObject, Prompt, Request, Trace
from prompt_debugger.core.diagnose import diagnose_trace
from prompt_debugger.core.pipeline import Target, case_setup, model_of_others, render_case, render_on_server
from prompt_debugger.core.report import prompt_to_json, prompt_to_terminal
from prompt_debugger.ui.cli.case_lines import answered
from prompt_debugger.ui.cli.cases import run_cases
from prompt_debugger.ui.cli.experiments import add_experiment_arguments, has_experiments, run_experiments, run_probe
from prompt_debugger.ui.cli.output import (
    add_output_arguments,
    exit_status,
    print_json,
    print_text,
    read_input,
    read_json_file,
    read_request_file,
)
from prompt_debugger.ui.cli.progress import log
from prompt_debugger.ui.cli.sharing import write_prompt
from prompt_debugger.ui.cli.target_options import add_key_variable, add_template_name, api_key_for


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("request", nargs="?", metavar="REQUEST", help="file with the request, or - for standard input")
    parser.add_argument("--cases", metavar="FILE.jsonl", help="one case per line in, one document per line out")
    parser.add_argument(
        "--tokenizer", metavar="DIR_OR_HUB_ID", help="tokenizer and chat template (default: the lab model's)"
    )
    parser.add_argument(
        "--chat-template", metavar="FILE", help="Jinja file that overrides the tokenizer's own template"
    )
    add_template_name(parser)
    parser.add_argument("--template-kwargs", metavar="FILE", help="JSON file with template variables")
    parser.add_argument("--no-generation-prompt", action="store_true", help="do not open the assistant turn")
    parser.add_argument("--endpoint", metavar="URL", help="ask this server for the prompt that it would use")
    parser.add_argument("--model", metavar="NAME", help="model name to ask the server for")
    add_key_variable(parser)
    add_experiment_arguments(parser)
    add_output_arguments(parser)
    parser.set_defaults(run=_run, doing="Rendering the prompt")


def _run(options: argparse.Namespace) -> int:
    defaults = _defaults(options)
    if options.cases:
        return run_cases(options.cases, lambda case: answered(_document({**defaults, **case})))
    if not options.request and options.probe:
        return _probe(options, defaults)
    if not options.request:
        options.request = "-"
    request = read_request_file(options.request)
    case = _case(request, defaults)
    is_named = bool({"tokenizer", "chat_template"} & defaults.keys())
    if options.endpoint:
        prompt, findings = _from_server(request, options)
    else:
        prompt, findings = render_case(case)
        if not is_named and (model := model_of_others(request)):
            log(f"It is not the template of `{model}`: what is found is what the request shows without a prompt.")
            findings = diagnose_trace(Trace(request))
    document = prompt_to_json(prompt, findings=findings)
    if not options.json:
        print_text(prompt_to_terminal(prompt, findings))
    if has_experiments(options):
        document |= run_experiments(options, *case_setup(case))
    if options.report:
        write_prompt(options.report, request, prompt, findings, document)
    if options.json:
        print_json(document)
    return exit_status(findings)


def _probe(options: argparse.Namespace, defaults: JSONObject) -> int:
    document = run_probe(options, case_setup(_case(Request({}, ""), defaults))[1])
    if options.json:
        print_json(document)
    return 0


def _case(request: Request, defaults: JSONObject) -> JSONObject:
    case: JSONObject = {**defaults, "request": request.body}
    if not {"tokenizer", "chat_template"} & defaults.keys():
        log("No --tokenizer given: rendering with the lab model's template and tokenizer.")
        case["tokenizer"] = "lab-model"
    return case


def _from_server(request: Request, options: argparse.Namespace) -> tuple[Prompt, tuple[Finding, ...]]:
    target = Target(
        base_url=options.endpoint,
        model=options.model,
        api_key=api_key_for(options.endpoint, options.api_key_env),
        tokenizer=options.tokenizer,
        chat_template=read_input(options.chat_template) if options.chat_template else None,
        template_name=options.template_name,
    )
    trace = asyncio.run(render_on_server(request, target))
    if trace.prompt is None:
        raise RenderError("The server gave no token ids for this request.")
    return trace.prompt, trace.findings


def _defaults(options: argparse.Namespace) -> JSONObject:
    defaults: JSONObject = {}
    if options.tokenizer:
        defaults["tokenizer"] = options.tokenizer
    if options.chat_template:
        defaults["chat_template"] = read_input(options.chat_template)
    if options.template_name:
        defaults["template_name"] = options.template_name
    if options.template_kwargs:
        defaults["template_kwargs"] = read_json_file(options.template_kwargs, "--template-kwargs")
    if options.no_generation_prompt:
        defaults["add_generation_prompt"] = False
    return defaults


def _document(case: JSONObject) -> JSONObject:
    prompt: Prompt
    findings: tuple[Finding, ...]
    prompt, findings = render_case(case)
    return {**prompt_to_json(prompt, findings=findings), "id": case.get("id")}
