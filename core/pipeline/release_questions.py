"""Which parser of each engine is asked about an output, where none is named."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.types import Parse
from prompt_debugger.core.complete import parser_names_of, title_of
from prompt_debugger.core.formats import checkpoint_in
from prompt_debugger.core.parse.engines import WHEELS, engine_of_parser, refuse_engine_not_asked, write_parser_name


def parsers_to_ask(parse: Parse, named: Sequence[str], engines: Collection[str]) -> list[str]:
    """Return the parser to ask in the releases of each engine: those named, else the one that the family would use.

    Returns:
        The names in the order given, then those of the engines that no name belongs to; an engine that has no parser
        for the output's family is left out.

    Raises:
        EngineError: An engine is unknown, or none has a parser for the output's family.
    """
    found = [name if ":" in name else f"vllm:{name}" for name in named]
    asked = set(map(engine_of_parser, found))
    for kind in engines:
        if kind not in ("vllm", *WHEELS):
            hint = f"Write ENGINE==VERSION with one of {', '.join(('vllm', *WHEELS))}."
            refuse_engine_not_asked(kind, hint)
            raise EngineError(f"`{kind[:60]}` is not an engine whose releases can be tested.", hint)
        if kind in asked:
            continue
        if (own := parser_of_family(kind, parse)) is not None:
            found.append(own)
    if not found:
        raise EngineError(
            f"{joined_and([*map(title_of, engines)])} {'have' if len(engines) > 1 else 'has'} no parser for this "
            f"output, which is of the format {parse.parsed.format}.",
            f"Name the parser to test, such as `{next(iter(engines), 'vllm')}:NAME`.",
        )
    return found


def parser_of_family(kind: str, parse: Parse) -> str | None:
    """Return the parser of an engine that an output's family would use first; `None` if it has none for it."""
    shown = checkpoint_in(parse.parsed.format, parse.raw)
    own = parser_names_of(kind, parse.parsed.format, None if shown is None else shown[0])
    if not own.tools:
        return None
    thinks = parse.parsed.reasoning is not None
    return write_parser_name(own.tools[0], own.reasonings[0] if thinks and own.reasonings else None, None, kind)


def joined_and(names: Sequence[str]) -> str:
    """Return names as a list in a sentence.

    >>> joined_and(["vLLM", "SGLang", "mlx-lm"])
    'vLLM, SGLang and mlx-lm'
    """
    return " and ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
