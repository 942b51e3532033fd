"""What the render sandbox does: compile and run a template, or look into one. Its processes do nothing else."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from prompt_debugger.core.base.types import JSONObject
from prompt_debugger.core.render.job import Fault, RenderJob, RenderOutcome, job_from_json
from prompt_debugger.core.sandbox import Limits, job

SANDBOX = "render"
LIMITS = Limits(cpu_s=1.0, wall_s=60.0, memory_mb=512)

# What the library and Jinja import only when a template asks for it.
_LATE_IMPORTS = ("prompt_debugger.core.render.inspect", "html", "jinja2.constants", "jinja2.debug")
_REHEARSALS = (
    "{{ strftime_now('%c') }}{{ messages | tojson(indent=2) }}{{ messages | pprint }}{{ 'a<b>' | striptags | urlize }}",
    "{% generation %}{{ messages[0].content | wordwrap | urlencode | e }}{{ lipsum(1) | length }}{% endgeneration %}",
    "{{ raise_exception('x') }}",
    "{{ nothing.at.all }}",
    "{% if %}",
)


def warm_up_templates() -> None:
    """Import everything that a template may need: afterwards nothing can be read any more."""
    from prompt_debugger.core.render.job import Variable
    from prompt_debugger.core.render.reference import warm_up
    from prompt_debugger.core.render.traced_render import run_in_steps

    warm_up()
    for module in _LATE_IMPORTS:
        importlib.import_module(module)
    messages = Variable("messages", [{"role": "user", "content": "a"}], ("messages",))
    for template in _REHEARSALS:
        for _ in run_in_steps(RenderJob(template, (messages,))):
            pass


@job("running the template", LIMITS, sandbox=SANDBOX, warm_up=warm_up_templates)
def render_in_steps(data: JSONObject) -> Iterator[JSONObject]:
    """Yield the plain outcome of a render job, then the traced one, if that was asked for."""
    for outcome in outcomes_of(job_from_json(data)):
        yield outcome.to_json()


def outcomes_of(render: RenderJob) -> Iterator[RenderOutcome]:
    """Yield the plain outcome of a render job, then the traced one, if that was asked for; never raises."""
    from prompt_debugger.core.render.traced_render import run_in_steps

    try:
        yield from run_in_steps(render)
    except MemoryError:
        yield RenderOutcome(fault=Fault("MemoryError", "the template needs more memory than allowed"))
    except Exception as error:  # noqa: BLE001  # a bug of ours must not look like a crash
        yield RenderOutcome(fault=Fault("WorkerError", f"{type(error).__name__}: {error}"))


@job("reading the template", LIMITS, sandbox=SANDBOX)
def inspect(template: str) -> JSONObject:
    """Return what can be seen in a template without running it."""
    from prompt_debugger.core.render.inspect import inspect_template

    return inspect_template(template).to_json()
