"""The plain render: the reference library's own code, with a clock that can be stopped."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from datetime import datetime
from functools import cache

from jinja2.environment import Environment, Template

from prompt_debugger.core.base.types import JSON
from prompt_debugger.core.render.job import RenderJob

CLOCK: ContextVar[datetime | None] = ContextVar("clock of the render under way", default=None)

# Written after the last message by the reference library, then cut off again (continue_final_message).
FINAL_TAG = "CONTINUE_FINAL_MESSAGE_TAG "


def warm_up() -> None:
    """Import the reference library, which takes about a second."""
    _library()


def compile_plain(source: str) -> Template:
    """Return the reference library's compiled template.

    Raises:
        jinja2.TemplateError: The template cannot be compiled.
    """
    template = _library()[0](source)
    environment: Environment = template.environment
    environment.globals["strftime_now"] = _strftime_now
    return template


def render_plain(job: RenderJob) -> str:
    """Return what the reference library renders.

    Raises:
        Exception: Whatever the template or the library raises.
    """
    compile_plain(job.template)
    variables: dict[str, JSON] = {one.name: one.value for one in job.variables}
    messages = variables.pop("messages")
    rendered, _ = _library()[1](
        conversations=[messages],
        chat_template=job.template,
        continue_final_message=job.continue_final_message,
        **variables,
    )
    return str(rendered[0])


@cache
def _library() -> tuple[Callable[[str], Template], Callable[..., tuple[list[str], object]]]:  # type: ignore[explicit-any]
    from transformers.utils import chat_template_utils

    return chat_template_utils._compile_jinja_template, chat_template_utils.render_jinja_template


def _strftime_now(format: str) -> str:  # the library's name
    return (CLOCK.get() or datetime.now()).strftime(format)
