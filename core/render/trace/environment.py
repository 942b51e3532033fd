"""The traced twin of the environment in which the reference library compiles a template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from io import StringIO
from types import CodeType, TracebackType

import jinja2.ext
from jinja2 import nodes
from jinja2.environment import Environment, Template
from jinja2.ext import Extension
from jinja2.lexer import Lexer
from jinja2.parser import Parser
from jinja2.runtime import Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment

from prompt_debugger.core.base.types import Branch
from prompt_debugger.core.render.trace import printing
from prompt_debugger.core.render.trace.branches import BranchMap, find_branches, reached_slot, runs_slot
from prompt_debugger.core.render.trace.codegen import NotingEnvironment, TracingCodeGenerator
from prompt_debugger.core.render.trace.filters import Filter, tracing_filters
from prompt_debugger.core.render.trace.formatting import brace_runs, modulo
from prompt_debugger.core.render.trace.lexer import Position, PositionLexer, normalise_newlines
from prompt_debugger.core.render.trace.runs import Field, Run, RunKind
from prompt_debugger.core.render.trace.strings import TracedStr, fitting, plain, traced
from prompt_debugger.core.render.trace.values import TracedDict, place_in, place_of_key

_DICT_ATTRIBUTES = frozenset(dir(dict))
_TEMPLATE_FILE = "<template>"


class GenerationTag(Extension):
    """`{% generation %}`: marks what the assistant said; prints its body unchanged."""

    tags = {"generation"}  # noqa: RUF012  # Jinja's attribute

    def parse(self, parser: Parser) -> nodes.CallBlock:
        """Read the block."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        block = nodes.CallBlock(self.call_method("print_body"), [], [], body)
        block.set_lineno(line)
        return block

    def print_body(self, caller: Macro) -> str:
        """Return what the block prints."""
        return caller()


class TracingEnvironment(NotingEnvironment, ImmutableSandboxedEnvironment):
    """Compiles one template so that its render is traced.

    Attributes:
        source: The template as its offsets count: newlines normalised.
        literals: Traced constants of the generated code.
        reads: Names of the variables that the render under way has read.
        mentions: Names of the variables from outside that the template has.
        branches: Its branches, with the counters of the render under way.
        places: Where in the request the variables of the render under way come from, with their values.
    """

    code_generator_class = TracingCodeGenerator
    concat = staticmethod(printing.join_output)
    print_value = staticmethod(printing.print_value)
    print_entry = staticmethod(printing.print_entry)
    concatenate = staticmethod(printing.concatenate)
    modulo = staticmethod(modulo)
    trace_constant = staticmethod(printing.trace_constant)
    trace_filtered = staticmethod(printing.trace_filtered)
    place_in = staticmethod(place_in)
    place_of_key = staticmethod(place_of_key)

    def __init__(self, reference: Environment, source: str) -> None:
        super().__init__(
            trim_blocks=reference.trim_blocks,
            lstrip_blocks=reference.lstrip_blocks,
            keep_trailing_newline=reference.keep_trailing_newline,
            extensions=[GenerationTag, jinja2.ext.loopcontrols],
            optimized=False,
        )
        self.source = normalise_newlines(source)
        self.literals: list[TracedStr] = []
        self.reads: set[str] = set()
        self.mentions: set[str] = set()
        self.branches = BranchMap()
        self.places: Mapping[str, tuple[Field, object]] = {}
        self.statement_lines: list[tuple[int, int]] = []
        self._position_lexer = PositionLexer(self)
        self.globals.update(reference.globals)
        self.tests.update(reference.tests)
        self.filters.update(tracing_filters(reference.filters))
        clock = reference.globals.get("strftime_now")
        if callable(clock):
            self.globals["strftime_now"] = _traced_clock(clock)

    @property
    def lexer(self) -> Lexer:
        """The lexer that knows positions."""
        return self._position_lexer

    def note_read(self, name: str) -> None:
        """Note that the template read variable `name`."""
        self.reads.add(name)

    def place_of_variable(self, name: str, value: object) -> Field | None:
        """Return where in the request a variable comes from, unless the template gave it another value."""
        place, given = self.places.get(name, (None, None))
        return place if given is value else None

    def note_test(self, index: int, value: object) -> bool:
        """Count which way an inline condition goes, whose first branch is `index`."""
        is_taken = bool(value)
        counts = self.branches.counts
        counts[runs_slot(index if is_taken else index + 1)] += 1
        counts[reached_slot(index)] += 1
        return is_taken

    def getattr(self, obj: object, attribute: str) -> object:
        """As the sandbox's, with a short way into request objects."""
        if type(obj) is TracedDict and attribute not in _DICT_ATTRIBUTES:
            try:
                return obj[attribute]
            except KeyError:
                return self.undefined(obj=obj, name=attribute)
        return super().getattr(obj, attribute)

    def getitem(self, obj: object, argument: object) -> object:
        """As the sandbox's, with a short way into request objects."""
        if type(obj) is TracedDict and isinstance(argument, str):
            if argument in obj._seen:
                return dict.__getitem__(obj, argument)
            if argument not in obj and argument not in _DICT_ATTRIBUTES:
                return self.undefined(obj=obj, name=argument)
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: object) -> Filter | None:  # type: ignore[override]  # a filter is callable
        """As the sandbox's; what a traced format makes is traced."""
        wrapper = super().wrap_str_format(value)
        template = getattr(value, "__self__", None)
        if wrapper is None or type(template) is not TracedStr or getattr(value, "__name__", "") != "format":
            return wrapper
        sandboxed: Filter = wrapper

        def formatted(*args: object, **kwargs: object) -> str:
            text = plain(str(sandboxed(*args, **kwargs)))
            return fitting(text, brace_runs(template, args, kwargs, len(text)))

        return formatted

    def _generate(
        self,
        source: nodes.Template,
        name: str | None,
        filename: str | None,
        defer_init: bool = False,  # noqa: FBT001, FBT002  # Jinja's signature
    ) -> str:
        self.branches = find_branches(self._position_lexer.tokeniter(self.source, None), self.source)
        generator = self.code_generator_class(self, name, filename, None, defer_init, self.optimized)
        generator.visit(source)
        self.statement_lines = generator.debug_info
        assert isinstance(generator.stream, StringIO)
        return generator.stream.getvalue()


@dataclass(frozen=True, slots=True)
class TracedTemplate:
    """A compiled traced template."""

    environment: TracingEnvironment
    template: Template

    def render(
        self, variables: Mapping[str, object], places: Mapping[str, tuple[Field, object]] | None = None
    ) -> TracedStr:
        """Return the traced text for traced `variables`, whose places in the request are `places`."""
        self.environment.reads.clear()
        self.environment.places = places or {}
        self.environment.branches.clear()
        context = self.template.new_context(dict(variables))
        return printing.join_output(self.template.root_render_func(context))

    def branches(self) -> tuple[Branch, ...]:
        """Return where the last render went and where not."""
        return self.environment.branches.branches(self.environment.source)

    def position_of(self, error: BaseException) -> tuple[int, int] | None:
        """Return line and column, from 1, of the statement in which a render failed."""
        line = _innermost_line(error.__traceback__)
        place = max(
            (entry for entry in self.environment.statement_lines if entry[1] <= line), default=None, key=_code_line
        )
        if place is None or not isinstance(place[0], Position):
            return None
        return line_column(self.environment.source, place[0].start)


def compile_traced(source: str, reference: Environment) -> TracedTemplate:
    """Compile `source` so that its render is traced.

    Raises:
        jinja2.TemplateError: The template cannot be compiled.
    """
    environment = TracingEnvironment(reference, source)
    return TracedTemplate(environment, environment.from_string(source))


def line_column(source: str, offset: int) -> tuple[int, int]:
    """Return line and column, both from 1, of an offset."""
    return source.count("\n", 0, offset) + 1, offset - source.rfind("\n", 0, offset)


def _code_line(entry: tuple[int, int]) -> int:
    return entry[1]


def _innermost_line(traceback: TracebackType | None) -> int:
    line = 0
    while traceback is not None:
        code: CodeType = traceback.tb_frame.f_code
        if code.co_filename == _TEMPLATE_FILE:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line


def _traced_clock(clock: Callable[[str], str]) -> Callable[[str], TracedStr]:
    def strftime_now(format: str) -> TracedStr:  # the library's name
        text = clock(plain(format))
        return traced(text, (Run(len(text), RunKind.ENVIRONMENT),) if text else ())

    return strftime_now
