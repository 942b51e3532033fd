"""Run real servers with the lab model and write docs/servers.md: what each shows of a run, and what is said of it.

    python scripts/server_table.py              run every server, record what came, write the page
    python scripts/server_table.py llama.cpp …  run these alone; what is recorded of the others stays
    python scripts/server_table.py --check      run nothing; fail if the page is not what the record says

The record is docs/servers.json. LiteLLM, mlx-lm, smg, Envoy, vLLM's router and vLLM need what `make test` sets up;
llama-cpp-python a virtual environment of its own, .venv-llama-cpp-python, with `llama-cpp-python[server]`, which is
compiled; Rapid-MLX, vllm-mlx and mlx-openai-server one of theirs, .venv-rapid-mlx, with `rapid-mlx`, `mlx[cpu]` and,
without their dependencies, the other two; vLLM 0.27.1 a folder `.venv-vllm-0.27`, made by `pip install --no-deps
--target`; Portkey a folder `.venv-portkey` with the npm package `@portkey-ai/gateway`; Node, nginx, Caddy and HAProxy
are those of the system.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from prompt_debugger.core.base.errors import BackendError  # noqa: E402  # the checkout must be on the path first
from prompt_debugger.core.base.types import Api, JSONObject, Trace  # noqa: E402
from prompt_debugger.core.tools.lab import LabPool, LabSpec  # noqa: E402
from tests.servers.running_proxies import caddy, envoy, haproxy, nginx, vllm_router  # noqa: E402
from tests.servers.running_servers import (  # noqa: E402
    LAB_MODEL,
    LITELLM_KEY,
    litellm_proxy,
    llama_cpp,
    llama_cpp_python,
    mlx_lm,
    mlx_openai_server,
    old_vllm,
    portkey,
    rapid_mlx,
    smg,
    transformers_serve,
    two_models,
    vllm_mlx,
)
from tests.servers.scenarios import body_of, debug  # noqa: E402

RECORD = ROOT / "docs" / "servers.json"
PAGE = ROOT / "docs" / "servers.md"
SCENARIOS = ("healthy", "parallel", "prose", "dropped", "cut", "streamed", "refused")
KEY = "sk-of-the-table-0123456789"

_Place = str | tuple[str, tuple[tuple[str, str], ...]]  # an address, and headers that go with each request
_Boot = Callable[[Path, LabPool], "Iterator[_Place]"]


@dataclass(frozen=True)
class Setup:
    """A server of the table.

    Attributes:
        name: Its row.
        boot: Starts it and yields its address.
        model: Model name to send.
        target: What else the run is told, as on the command line.
        api: By which API it is asked; `None` for chat completions.
    """

    name: str
    boot: _Boot
    model: str | None = None
    target: dict[str, str] = field(default_factory=dict)
    api: Api | None = None


def _lab(**spec: object) -> _Boot:
    def boot(_: Path, labs: LabPool) -> Iterator[str]:
        yield asyncio.run(labs.get(LabSpec(**spec))).base_url  # type: ignore[arg-type]  # fields of LabSpec

    return boot


def _small(server: Callable[..., object]) -> _Boot:
    def boot(folder: Path, _: LabPool) -> Iterator[str]:
        with server(folder) as base_url:  # type: ignore[attr-defined]  # a context manager
            yield base_url

    return boot


def _litellm(folder: Path, labs: LabPool) -> Iterator[str]:
    with litellm_proxy(folder, asyncio.run(labs.get(LabSpec())).base_url) as base_url:
        yield base_url


def _before_vllm(gateway: Callable[..., object]) -> _Boot:
    def boot(folder: Path, labs: LabPool) -> Iterator[str]:
        with gateway(folder, asyncio.run(labs.get(LabSpec())).base_url) as base_url:  # type: ignore[attr-defined]  # a context manager
            yield base_url

    return boot


def _portkey(_: Path, labs: LabPool) -> Iterator[_Place]:
    upstream = asyncio.run(labs.get(LabSpec())).base_url
    with portkey() as base_url:
        yield base_url, (("x-portkey-provider", "openai"), ("x-portkey-custom-host", upstream))


def _litellm_before_llama_cpp(folder: Path, _: LabPool) -> Iterator[str]:
    with llama_cpp(folder) as upstream, litellm_proxy(folder, upstream) as base_url:
        yield base_url


def _two_models(_: Path, labs: LabPool) -> Iterator[str]:
    small = {"id": "small", "owned_by": "vllm", "root": "org/small", "max_model_len": 100}
    lab = {"id": "lab-model", "owned_by": "vllm", "root": str(LAB_MODEL), "max_model_len": 2048}
    with two_models(asyncio.run(labs.get(LabSpec())).base_url, [small, lab]) as base_url:
        yield base_url


def _by_apis(setup: Setup, *apis: Api) -> tuple[Setup, ...]:
    """Return the rows of a server that is asked by other APIs."""
    return tuple(replace(setup, name=f"{setup.name}: {api.label}", api=api) for api in apis)


_TOKENIZER = {"tokenizer": str(LAB_MODEL)}
_OF_LITELLM = {**_TOKENIZER, "api_key": LITELLM_KEY}
SETUPS = (
    Setup("vLLM", _lab()),
    Setup("vLLM, `--tool-call-parser hermes`", _lab(tool_parser="hermes")),
    Setup("vLLM without `--enable-auto-tool-choice`", _lab(tool_parser=None)),
    Setup("vLLM, `--reasoning-parser deepseek_r1`", _lab(reasoning_parser="deepseek_r1")),
    Setup("vLLM, `--api-key`", _lab(extra_args=("--api-key", KEY)), target={"api_key": KEY}),
    Setup("vLLM, `--max-model-len 200`", _lab(max_model_len=200)),
    Setup("vLLM, another served name", _lab(served_model_name="other-name"), model="other-name"),
    Setup("vLLM 0.27.1", _small(old_vllm), target=_TOKENIZER),
    Setup("two models behind one address, vLLM", _two_models, model="lab-model"),
    Setup("LiteLLM, `hosted_vllm/`", _litellm, "hosted", {**_TOKENIZER, "api_key": LITELLM_KEY}),
    Setup("LiteLLM, `openai/`", _litellm, "openai", {**_TOKENIZER, "api_key": LITELLM_KEY}),
    Setup("nginx, gathering and packing, before vLLM", _before_vllm(nginx)),
    Setup("Caddy, packing, before vLLM", _before_vllm(caddy)),
    Setup("HAProxy, packing, before vLLM", _before_vllm(haproxy)),
    Setup("Envoy, gathering requests, before vLLM", _before_vllm(envoy)),
    Setup("vLLM's router before vLLM", _before_vllm(vllm_router)),
    Setup("smg, SGLang's gateway, before vLLM", _before_vllm(smg), target=_TOKENIZER),
    Setup("Portkey's gateway, before vLLM", _portkey, "lab-model", _TOKENIZER),
    Setup("llama.cpp", _small(llama_cpp), target=_TOKENIZER),
    Setup("llama.cpp, no tokenizer at hand", _small(llama_cpp)),
    Setup("LiteLLM before llama.cpp", _litellm_before_llama_cpp, "openai", {**_TOKENIZER, "api_key": LITELLM_KEY}),
    Setup("llama-cpp-python", _small(llama_cpp_python), target=_TOKENIZER),
    Setup("mlx-lm", _small(mlx_lm), "default_model", _TOKENIZER),
    Setup("Rapid-MLX", _small(rapid_mlx), "lab-model", _TOKENIZER),
    Setup("vllm-mlx", _small(vllm_mlx), "lab-model", _TOKENIZER),
    Setup("mlx-openai-server", _small(mlx_openai_server), "lab-model", _TOKENIZER),
    Setup("`transformers serve`", _small(transformers_serve), str(LAB_MODEL), _TOKENIZER),
    *_by_apis(Setup("vLLM", _lab(), target=_TOKENIZER), Api.RESPONSES, Api.MESSAGES),
    *_by_apis(
        Setup("LiteLLM, `hosted_vllm/`", _litellm, "hosted", _OF_LITELLM), Api.RESPONSES, Api.MESSAGES, Api.GEMINI
    ),
    *_by_apis(Setup("LiteLLM, `openai/`", _litellm, "openai", _OF_LITELLM), Api.RESPONSES, Api.MESSAGES, Api.GEMINI),
    *_by_apis(Setup("llama.cpp", _small(llama_cpp), target=_TOKENIZER), Api.RESPONSES, Api.MESSAGES),
    *_by_apis(
        Setup("LiteLLM before llama.cpp", _litellm_before_llama_cpp, "openai", _OF_LITELLM), Api.RESPONSES, Api.MESSAGES
    ),
    *_by_apis(Setup("mlx-lm", _small(mlx_lm), "default_model", _TOKENIZER), Api.RESPONSES, Api.MESSAGES),
    *_by_apis(Setup("Rapid-MLX", _small(rapid_mlx), "lab-model", _TOKENIZER), Api.RESPONSES, Api.MESSAGES),
    *_by_apis(Setup("vllm-mlx", _small(vllm_mlx), "lab-model", _TOKENIZER), Api.RESPONSES, Api.MESSAGES),
    *_by_apis(
        Setup("`transformers serve`", _small(transformers_serve), str(LAB_MODEL), _TOKENIZER),
        Api.RESPONSES,
        Api.MESSAGES,
    ),
)


def main(arguments: list[str]) -> int:
    """Run, or check; the exit status."""
    record: JSONObject = json.loads(RECORD.read_text(encoding="utf-8")) if RECORD.exists() else {}
    if arguments == ["--check"]:
        is_current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == render_page(record)
        print("docs/servers.md is what the record says" if is_current else "docs/servers.md differs from the record")
        return 0 if is_current else 1
    labs = LabPool(max_running=1)
    try:
        for setup in SETUPS:
            if not arguments or any(_is_meant(name, setup) for name in arguments):
                print(setup.name, flush=True)
                record[setup.name] = _survey(setup, labs)
                _write(record)
    finally:
        labs.stop_all()
    return 0


def _is_meant(name: str, setup: Setup) -> bool:
    """Return whether an argument names a row: by its beginning, or, for rows of other APIs, by an API."""
    return setup.api == name if name in [*Api] else setup.name.startswith(name)


def _write(record: JSONObject) -> None:
    ordered = {setup.name: record[setup.name] for setup in SETUPS if setup.name in record}
    RECORD.write_text(json.dumps(ordered, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(render_page(ordered), encoding="utf-8")


def _survey(setup: Setup, labs: LabPool) -> JSONObject:
    row: JSONObject = {} if setup.api is None else {"api": setup.api.value}
    row["asked"] = datetime.datetime.now(datetime.UTC).date().isoformat()
    with tempfile.TemporaryDirectory() as folder, contextmanager(setup.boot)(Path(folder), labs) as place:
        base_url, headers = (place, ()) if isinstance(place, str) else place
        for scenario in SCENARIOS:
            fields: JSONObject = {} if setup.model is None else {"model": setup.model}
            try:
                row[scenario] = observed(
                    debug(base_url, body_of(scenario, **fields), extra_headers=headers, api=setup.api, **setup.target)
                )
            except BackendError as error:
                is_missing = error.status is None and "has no `" in error.message
                row[scenario] = {"said": "no such endpoint" if is_missing else f"no answer (HTTP {error.status})"}
    return row


def observed(trace: Trace) -> JSONObject:
    """Return what a run rests on, what the server returned, and what is said of it."""
    calls = [] if trace.chat is None else trace.chat.message.get("tool_calls") or []
    return {
        "evidence": None if trace.evidence is None else trace.evidence.value,
        "completeness": None if trace.raw is None else trace.raw.completeness.value,
        "prompt": trace.prompt is not None,
        "returned": len(calls) if isinstance(calls, list) else 0,
        "said": _said(trace),
    }


def _said(trace: Trace) -> str:
    codes = {finding.code for finding in trace.findings}
    verdict = trace.verdict
    assert verdict is not None
    if trace.refusal is not None:
        if verdict.sentence.startswith(("The server failed", "The server's own program failed")):
            return "the server failed, in its words"
        whose = "the server's setting" if verdict.stage and verdict.stage.value == "complete" else "refused"
        return f"{whose}, in its words"
    if verdict.dropped_calls:
        return f"{verdict.dropped_calls} dropped"
    if "PD301" in codes:
        return "cut"
    if verdict.stage is not None:
        return f"fault in {verdict.stage.value}"
    if "was lost is unknown" in verdict.sentence:
        return "unknown"
    return "nothing lost" if verdict.sentence.startswith("Nothing lost") else "no fault found"


_HEAD = """# What each server shows, and what can be said

Written by `scripts/server_table.py` from real runs: each server serves the lab model and is asked the same seven \
things. A call counts as lost only where the raw output of the run is known with its control tokens; elsewhere the \
sentence says that loss cannot be judged, and what would show it.

* **Evidence**: `same-run` is the output of the very run that answered, `own-render` and `text-only` a second run on \
the same prompt. **Raw**: whether the raw text is whole or stripped of control tokens. **Prompt**: whether the \
server's own prompt is known.
* A cell says how many calls came back, and what the verdict says. *Dropped* is a request whose history makes the \
model write a call header that vLLM's `kimi_k2` parser does not take; llama.cpp's grammar makes the model write \
another call. *Cut, streamed* asks for a stream, and what is judged is that stream. *Asked* is the day of the runs.
* llama-cpp-python leaves control tokens out, has no parser for this model, and refuses a message of the history \
without a text. It is asked one request at a time, as it ends a stream when the next request comes. Of a tool that \
`tool_choice` names it has the model write the arguments alone, and adds the name itself. mlx-lm has a \
parser for Kimi K2, which refuses the header of *dropped*; with `top_logprobs` above 1 it lists any of the likeliest \
tokens as the one it took, which is noticed and not used.
* Rapid-MLX, vllm-mlx and mlx-openai-server are made for Apple's processors and were run on MLX's for others. Where \
they stream, the parsers of the latter two lose what they return whole: vllm-mlx 0.6 leaves calls in the text, \
mlx-openai-server 1.8 loses the text of an answer without a call. Both are said, with the remedy to ask without \
streaming. The last has no raw completions, and its parser fails on *dropped* with an error of Python.
* NVIDIA Dynamo 1.6 was run without a row: its own frontend, template and parser, over the lab model's output. It \
gives the ids of prompt and output of the very run (`nvext`), whole and streamed, and its parser for Kimi K2 drops the \
call of *dropped*, too. openai-http-proxy 3.3 before Rapid-MLX leaves calls out of streams, and counts out of all.
* nginx, Caddy, HAProxy and Envoy pass everything on. What they answer themselves (a limit of time or size, a server \
that is gone) is told apart by their pages, headers and words, and the remedy names the setting of that proxy. \
Debian's Caddy (2.6) answers 502 to a body above `max_size`.
* smg 1.13 checks fields itself and refuses with OpenAI's codes before a server is asked; what vLLM refuses comes \
through in vLLM's words. Where its server is gone it says so with 500, and after some requests with 503.
* agentic-api 0.9 before vLLM was asked for Responses, without a row: refusals come through in vLLM's words. What the \
model writes there can differ from a raw completion on our own render; then that is said, and nothing is compared.
* claude-code-router 2.0 before vLLM was asked for Messages, without a row: it has no list of models, answers requests \
for any model with the one that it is set to, and streams an answer in which vLLM dropped a call without any content \
and with no tokens counted.
* Portkey's gateway learns from headers where to send a request (`--extra-headers`). Its release 1.15.2 on Node 20 \
passes whole answers on with their ids, and answers streams, raw completions and the list of models with a 500 of \
its own.
* SGLang itself is not among them: its wheel (0.5.23) requires CUDA's packages (`cuda-python`, \
`flashinfer_python[cu13]`, `sglang-kernel`), and these runs have no GPU. Its parsers are in [engines](engines.md).

"""
_COLUMNS = """\
| server | evidence | raw | prompt | one call | two calls | prose | dropped | cut | cut, streamed | refused | asked |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
_BY_APIS = """
## By other APIs

The same seven, converted to the API and asked at its own endpoint ([how](apis.md)). vLLM's Responses report the ids \
of the run; elsewhere the raw output is a second run, which counts only where both had to agree and the server counted \
the same prompt. llama.cpp has Responses and Messages; LiteLLM's proxy adds Gemini's `generateContent`, and its \
conversions change prompts, which shows where token counts differ.

"""


def render_page(record: JSONObject) -> str:
    """Return the page that a record makes."""
    rows = [(name, row) for name, row in record.items() if isinstance(row, dict)]
    tables = ["".join(_line(name, row) for name, row in rows if ("api" in row) is by_api) for by_api in (False, True)]
    return f"{_HEAD}{_COLUMNS}{tables[0]}{_BY_APIS}{_COLUMNS}{tables[1]}"


def _line(name: str, row: JSONObject) -> str:
    runs: dict[str, JSONObject] = {key: run for key, run in row.items() if isinstance(run, dict)}
    answered = [run for run in runs.values() if run.get("evidence") or run.get("completeness")]
    cells = [
        name,
        _each(run.get("evidence") for run in answered),
        _each(run.get("completeness") for run in answered),
        "yes" if any(run.get("prompt") for run in runs.values()) else "no",
        *(_cell(runs[scenario]) for scenario in SCENARIOS if scenario in runs),
        str(row.get("asked", "")),
    ]
    return "| " + " | ".join(cells) + " |\n"


def _each(values: Iterator[object]) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in values if value)) or "none"


def _cell(run: JSONObject) -> str:
    returned = run.get("returned")
    has_answer = "in its words" not in str(run["said"]) and not str(run["said"]).startswith(("no answer", "no such"))
    return f"{returned} · {run['said']}" if has_answer else str(run["said"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
