"""XGrammar in helper processes that are started on first use and kept warm.

Nothing native is imported here. A pasted schema may make a grammar compiler
crash, hang or eat memory: that is one `EngineError`, and the next question
finds another helper.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from prompt_debugger.core.base.errors import EngineError
from prompt_debugger.core.base.interpreter import python_with
from prompt_debugger.core.base.types import JSON, JSONObject
from prompt_debugger.core.parse.engines.pool import HelperPool
from prompt_debugger.core.parse.engines.process import HelperFailedError, HelperProcess

_WORKER = Path(__file__).parent / "worker"
_KEPT_ENVIRONMENT = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "VIRTUAL_ENV")
_ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "OMP_NUM_THREADS": "1"}


@dataclass(frozen=True, slots=True)
class GrammarLimits:
    """How far the helper is trusted, and how long a verdict may take.

    Attributes:
        start_s: Seconds until it must have loaded XGrammar.
        question_s: Seconds for one grammar: compiling it and feeding it the output.
        cpu_s: Processor time for one, in all threads together.
        verdict_s: Seconds after which a verdict is not explained any further.
        memory_growth_bytes: How much address space it may take beyond what it has once warm.
        answer_bytes: Longest answer.
        interventions: How many of them are followed.
    """

    start_s: float = 60.0
    question_s: float = 30.0
    cpu_s: float = 8.0
    verdict_s: float = 20.0
    memory_growth_bytes: int = 1 << 30
    answer_bytes: int = 16 << 20
    interventions: int = 5


class GrammarMissingError(EngineError):
    """There is no XGrammar."""


class GrammarTooMuchError(EngineError):
    """A constraint is more than may be compiled."""


class GrammarEngine:
    """XGrammar in few helper processes, of an interpreter that has it; from any thread."""

    def __init__(self, python: str | Path | None = None, *, limits: GrammarLimits | None = None) -> None:
        self.limits = limits or GrammarLimits()
        self._python = python
        self._pool = HelperPool(
            self._program, _environment, start_s=self.limits.start_s, max_answer_bytes=self.limits.answer_bytes
        )

    @property
    def pids(self) -> tuple[int, ...]:
        """Process ids of the helpers that run."""
        return self._pool.pids

    @property
    def version(self) -> str:
        """Version of XGrammar.

        Raises:
            EngineError: There is no XGrammar, or it cannot be loaded.
        """
        return self._pool.call(lambda _, hello: _version_of(hello))

    def ask(self, question: JSONObject) -> JSONObject:
        """Return the helper's answer to one question.

        Raises:
            EngineError: There is no XGrammar, or the question was too much for it.
        """

        def ask(helper: HelperProcess, hello: JSONObject) -> JSONObject:
            _version_of(hello)
            return self._ask(helper, question)

        return self._pool.call(ask)

    def cost_of_compiling(self, kind: str, value: JSON, cpu_s: float) -> float:
        """Return what processor time a constraint takes to compile, in seconds; what XGrammar refuses costs that, too.

        Args:
            kind: `schema`, `regex`, `grammar`, `choice` or `tag`.
            value: The constraint.
            cpu_s: How much it may take.

        Raises:
            GrammarTooMuchError: It takes more, or more memory than a helper has.
            GrammarMissingError: There is no XGrammar.
            EngineError: The helper cannot be asked.
        """

        def ask(helper: HelperProcess, hello: JSONObject) -> float:
            _version_of(hello)
            question: JSONObject = {"ask": "compile", "kind": kind, "value": value, "cpu_s": cpu_s}
            question["memory_mb"] = self.limits.memory_growth_bytes >> 20
            try:
                helper.exchange(question, self.limits.question_s)
            except (RecursionError, HelperFailedError) as error:
                raise GrammarTooMuchError(str(error)) from None
            return helper.used_s

        return self._pool.call(ask)

    def close(self) -> None:
        """End the helpers; the engine can be used no more."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, helper: HelperProcess, question: JSONObject) -> JSONObject:
        question = question | {"memory_mb": self.limits.memory_growth_bytes >> 20, "cpu_s": self.limits.cpu_s}
        try:
            return helper.exchange(question, self.limits.question_s)
        except RecursionError:
            raise EngineError(
                "The schema of these tools is nested too deeply to be checked against a grammar."
            ) from None
        except EngineError as error:
            raise EngineError(
                f"The grammar of these tools was too large for XGrammar: {error.message}",
                ("Huge repetitions, deep nesting or recursion in a schema cause this; it would stall a server, too."),
            ) from error

    def _program(self) -> list[str]:
        return [str(self._python or python_with("xgrammar")), str(_WORKER)]


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ} | _ENVIRONMENT


def _version_of(hello: JSONObject) -> str:
    """Return the version of a helper's XGrammar.

    Raises:
        EngineError: It has none.
    """
    if hello.get("ready") is not True:
        raise _cannot_start(hello)
    return str(hello.get("version"))


def _cannot_start(hello: JSONObject) -> EngineError:
    if hello.get("missing") == "xgrammar":
        return GrammarMissingError(
            "XGrammar is not installed, so the first illegal token cannot be found; everything else works.",
            "It comes with vLLM: `prompt-debugger lab --install`, or in a checkout `make setup`.",
        )
    return EngineError(f"XGrammar cannot be loaded: {hello.get('error')}")
