"""From the last log lines of a server that ended to what went wrong and what to do. No I/O."""

from __future__ import annotations

import difflib
import re
import signal
from collections.abc import Sequence
from dataclasses import dataclass

from prompt_debugger.core.base.errors import LabError, shorten
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.tools.lab.spec import LabSpec

TAIL_LINES = 40


@dataclass(frozen=True, slots=True)
class KnownFailure:
    r"""A way in which vLLM refuses to start.

    Attributes:
        name: The failure in kebab case.
        pattern: Regular expression over the whole log; its groups may be named in `message` and `hint`.
        message: What happened; `{name}` stands for a group, `{model}`, `{max_model_len}` and such for the spec's.
        hint: The next step, with the same names.
    """

    name: str
    pattern: str
    message: str
    hint: str


# Most telling first: the first pattern that is found wins. Wordings are those of vLLM 0.32.
KNOWN_FAILURES = (
    KnownFailure(
        "parser-needs-tokens",
        r"--(?P<option>[a-z-]+parser) (?P<parser>\S+) cannot be used with the tokenizer of .*?: (?P<reason>.+)",
        "The parser `{parser}` cannot be used with the tokenizer of `{model_dir}`: {reason}.",
        "Choose the parser that belongs to this model, or none.",
    ),
    KnownFailure(
        "unknown-tool-parser",
        r"invalid tool call parser: (?P<parser>\S+) \(chose from \{ (?P<known>[^}]*)",
        "vLLM does not have a tool parser `{parser}`.",
        "{closest}Known: {known}.",
    ),
    KnownFailure(
        "unknown-reasoning-parser",
        r"Reasoning parser '(?P<parser>[^']*)' not found\. Available parsers: (?P<known>[^\"\n]*)",
        "vLLM does not have a reasoning parser `{parser}`.",
        "{closest}Known: {known}.",
    ),
    KnownFailure(
        "port-in-use",
        r"\[Errno \d+\] Address already in use",
        "Another program is listening on port {port}.",
        "Stop it, or choose another port.",
    ),
    KnownFailure(
        "context-too-long",
        r"max_model_len \((?P<asked>\d+)\) is greater than the derived max_model_len \((?P<limit>[^)]*)\)",
        "A context of {asked} tokens was requested, which is more than the model allows ({limit}).",
        "Lower `max_model_len`.",
    ),
    KnownFailure(
        "cache-too-small",
        r"No available memory for the cache blocks|larger than the available KV cache memory",
        "A key-value cache of {kv_cache_bytes} bytes is too small for a context of {max_model_len} tokens.",
        "Raise `kv_cache_bytes`, or lower `max_model_len`.",
    ),
    KnownFailure(
        "no-weights",
        r"Cannot find any model weights",
        "`{model_dir}` contains no weights.",
        "With only tokenizer files, only the renderer can run: prompts and parsing, no completions.",
    ),
    KnownFailure(
        "hub-unreachable",
        r"LocalEntryNotFoundError|We couldn't connect to|OfflineModeIsEnabled|RepositoryNotFoundError",
        "The model `{model_dir}` is not on this machine and could not be downloaded from the Hub.",
        "Check the name and the network (and `HF_TOKEN` for a gated model), or give a local folder.",
    ),
    KnownFailure(
        "unknown-architecture",
        r"Model architectures (?P<architectures>\[[^\]]*\]) are not supported",
        "vLLM cannot run the architecture {architectures}.",
        "Choose a model that this vLLM supports; the renderer may still work.",
    ),
    KnownFailure(
        "torch-companions",
        r"torchvision::nms does not exist|libtorchaudio|_torchaudio|libtorchcodec",
        "vLLM does not start because torchvision, torchaudio or torchcodec was built for another PyTorch version.",
        (
            "`pip uninstall torchvision torchaudio torchcodec`: none of them is needed for text. `make setup` "
            "leaves them out."
        ),
    ),
    KnownFailure(
        "no-vllm",
        r"No module named '?vllm",
        "vLLM is not installed for `{python}`.",
        "`prompt-debugger lab --install` installs it; in a checkout `make setup` does.",
    ),
    KnownFailure(
        "unknown-argument",
        r"error: unrecognized arguments: (?P<arguments>.+)",
        "vLLM does not know the arguments `{arguments}`.",
        "Check `extra_args` against the installed release of vLLM.",
    ),
    KnownFailure(
        "out-of-memory",
        r"can't allocate memory|Cannot allocate memory|MemoryError|std::bad_alloc",
        "The machine has too little free memory for the lab server.",
        "The miniature model needs 1.1 GB: close other programs, or stop another lab.",
    ),
)


def explain_failure(log: Sequence[str], exit_status: int | None, spec: LabSpec, port: int) -> LabError:
    """Return the error that says why a server did not start.

    Args:
        log: Its last lines.
        exit_status: As `subprocess` gives it, negative for a signal; `None` if it runs on.
        spec: What was to be served.
        port: The port it was given.

    Returns:
        An error with message, hint and the end of the log. Never raises on any log.
    """
    tail = "\n".join(log[-TAIL_LINES:])
    known = find_known_failure(log)
    if known is not None:
        failure, groups = known
        words = _words(spec, port) | groups
        if "known" in groups:
            words |= _words_about_names(groups["parser"], groups["known"])
        return LabError(failure.message.format(**words), failure.hint.format(**words), log_tail=tail)
    if exit_status == -signal.SIGKILL:
        return LabError(
            "The lab server was killed from outside, most likely because memory ran out.",
            "The miniature model needs 1.1 GB: close other programs, or stop another lab.",
            log_tail=tail,
        )
    return LabError(
        f"The lab server {_ending(exit_status)}{_last_error(log)}", "See the log for details.", log_tail=tail
    )


def find_known_failure(log: Sequence[str]) -> tuple[KnownFailure, dict[str, str]] | None:
    """Return the first known failure that the log shows, with the groups of its pattern."""
    text = "\n".join(log)
    for failure in KNOWN_FAILURES:
        if match := re.search(failure.pattern, text):
            return failure, {name: value.strip() for name, value in match.groupdict(default="").items()}
    return None


def _words(spec: LabSpec, port: int) -> dict[str, str]:
    return {
        "model_dir": str(spec.model_dir),
        "max_model_len": str(spec.max_model_len),
        "kv_cache_bytes": str(spec.kv_cache_bytes),
        "python": spec.python or vllm_python(),
        "port": str(port),
    }


def _words_about_names(wanted: str, known: str) -> dict[str, str]:
    names = [name.strip() for name in known.split(",") if name.strip()]
    closest = difflib.get_close_matches(wanted, names, n=1)
    return {"closest": f"Did you mean `{closest[0]}`? " if closest else "", "known": ", ".join(names)}


def _ending(exit_status: int | None) -> str:
    if exit_status is None:
        return "did not become ready"
    if exit_status < 0:
        return f"was ended by signal {-exit_status}"
    return f"ended with exit status {exit_status}"


def _last_error(log: Sequence[str]) -> str:
    """Return the first exception line, which is the root cause, as an addition to a sentence."""
    errors = [line for line in log if re.match(r"(\(.*?\) )?[\w.]*(Error|Exception)\b.*:", line)]
    return f"; it said {shorten(errors[0], 200)}" if errors else ""
