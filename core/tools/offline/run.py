"""One run without a server: the worker's answer as a trace, read and diagnosed like any other."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from prompt_debugger.core.base.errors import LabError
from prompt_debugger.core.base.interpreter import vllm_python
from prompt_debugger.core.base.json_values import as_object
from prompt_debugger.core.base.scratch import scratch
from prompt_debugger.core.base.types import JSON, Basis, ChatResult, Completion, JSONObject, Request, Server, Trace
from prompt_debugger.core.complete import Gathered
from prompt_debugger.core.pipeline import Target
from prompt_debugger.core.pipeline.diagnosis import read_trace
from prompt_debugger.core.pipeline.rendering import Renderer, load_renderer
from prompt_debugger.core.sandbox import in_thread, sandbox_of
from prompt_debugger.core.tools.lab import LabSpec, require_vllm
from prompt_debugger.core.tools.lab.launch import build_environment

OfflineMethod: TypeAlias = Literal["chat", "generate"]
_WORKER = Path(__file__).with_name("worker.py")
_SAMPLING = (
    "temperature", "top_p", "top_k", "min_p", "seed", "presence_penalty", "frequency_penalty", "repetition_penalty",
    "stop", "stop_token_ids", "include_stop_str_in_output", "ignore_eos", "min_tokens", "skip_special_tokens",
    "spaces_between_special_tokens",
)  # fmt: skip
_CHAT = (
    "tools", "chat_template_kwargs", "chat_template", "chat_template_content_format", "add_generation_prompt",
    "continue_final_message", "mm_processor_kwargs",
)  # fmt: skip
_OF_TEMPLATE = ("documents", "reasoning_effort")  # request fields that a server passes to the template
_LIMIT_S = 900.0


async def run_offline(request: Request, spec: LabSpec, method: OfflineMethod = "chat") -> Trace:
    """Run a request through vLLM's `LLM` class in its own process.

    Args:
        request: What to run.
        spec: Model, context length and cache; its parsers are ignored, as no parser reads the output.
        method: `chat` passes the messages, `generate` the prompt as text, rendered here.

    Raises:
        LabError: There is no vLLM, or it does not run the model.
        RenderError: The model's tokenizer cannot be loaded.
    """
    require_vllm()
    await in_thread(sandbox_of().warm_up)
    server = Server("", kind="vllm", model=spec.model, model_root=str(spec.model_dir))
    renderer = (await in_thread(load_renderer, Target(tokenizer=spec.model_dir), server)).for_one_run()
    local = await in_thread(renderer.render_local, request.body)
    if method == "generate" and local is None:
        raise LabError("The request cannot be rendered, so there is no prompt to generate from.", renderer.note)
    job = _job(request.body, spec, method, "" if local is None else local.text)
    answer = await _ask(job, spec)
    gathered = await in_thread(_gathered, answer, server, renderer)
    prompt = await in_thread(renderer.explain_server, request.body, gathered)
    trace = Trace(
        request,
        sent=job,
        server=replace(server, version=str(answer["version"])),
        evidence=Basis.SAME_RUN,
        prompt=prompt,
        local_prompt=local,
        prompt_difference=renderer.compare(prompt, local),
        generation_prompt=await in_thread(renderer.generation_prompt, request.body),
        vocabulary=renderer.vocabulary,
        notes=tuple(_notes(request.body, method)),
        raw=renderer.add_tokens(gathered),
        chat=gathered.chat,
    )
    return await read_trace(trace, renderer.special_texts)


def _job(body: JSONObject, spec: LabSpec, method: OfflineMethod, prompt: str) -> JSONObject:
    sampling: JSONObject = {name: body[name] for name in _SAMPLING if body.get(name) is not None}
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    if limit is not None:
        sampling["max_tokens"] = limit
    engine: JSONObject = {"model": str(spec.model_dir), "max_model_len": spec.max_model_len, "enforce_eager": True}
    if spec.is_lab_model:
        engine["kv_cache_memory_bytes"] = spec.kv_cache_bytes
    messages: JSON = body.get("messages")
    chat: JSONObject = {name: body[name] for name in _CHAT if body.get(name) is not None}
    of_template: JSONObject = {name: body[name] for name in _OF_TEMPLATE if body.get(name) is not None}
    if of_template:
        chat["chat_template_kwargs"] = {**of_template, **as_object(chat.get("chat_template_kwargs"))}
    return {
        "method": method,
        "engine": engine,
        "sampling": sampling,
        "messages": messages,
        "chat": chat,
        "prompt": prompt,
    }


async def _ask(job: JSONObject, spec: LabSpec) -> JSONObject:
    """Run the worker; cancelling this ends it and every process that it started."""
    with scratch("offline") as folder:
        process = await asyncio.create_subprocess_exec(
            spec.python or str(vllm_python()),
            str(_WORKER),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=build_environment(spec, os.environ, folder),
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(_LIMIT_S):
                out, err = await process.communicate(json.dumps(job).encode())
        except TimeoutError:
            raise LabError(f"vLLM gave no answer in {_LIMIT_S:.0f} s.", "Try a smaller model.") from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
    return _answer_of(out, err)


def _answer_of(out: bytes, err: bytes) -> JSONObject:
    try:
        answer = json.loads(out)
    except ValueError:
        last = (err.decode("utf-8", "replace").strip().splitlines() or ["it ended without output"])[-1]
        raise LabError(f"vLLM ended before it answered: {last[:300]}", "Run it separately to see more.") from None
    if not isinstance(answer, dict) or "error" in answer:
        reported = answer.get("error") if isinstance(answer, dict) else answer
        raise LabError(
            f"vLLM could not run the request: {str(reported)[:500]}", "The request's fields are passed to it."
        )
    return answer


def _gathered(answer: JSONObject, server: Server, renderer: Renderer) -> Gathered:
    """Return an answer in the shape that a server's has; the raw text is that of the ids, nothing stripped."""
    ids, prompt_ids = _ids(answer["token_ids"]), _ids(answer["prompt_token_ids"])
    text, finish = str(answer["text"]), answer["finish_reason"]
    finish_reason = finish if isinstance(finish, str) else None
    stop = answer["stop_reason"]
    stop_reason = stop if isinstance(stop, str | int) else None
    message: JSONObject = {"role": "assistant", "content": text}
    tokenizer = renderer.tokenizer
    raw_text = text if tokenizer is None else tokenizer.tokens_of_ids(ids)[0]
    raw = Completion(raw_text, ids, finish_reason, stop_reason, Basis.SAME_RUN)
    prompt_text = answer["prompt"]
    return Gathered(
        {},
        evidence=Basis.SAME_RUN,
        chat=ChatResult(message, finish_reason, stop_reason, ids, prompt_ids),
        raw=raw,
        prompt_token_ids=prompt_ids,
        prompt_text=prompt_text if isinstance(prompt_text, str) else None,
        server=server,
    )


def _ids(value: JSON) -> tuple[int, ...]:
    return tuple(one for one in value if isinstance(one, int)) if isinstance(value, list) else ()


def _notes(body: JSONObject, method: OfflineMethod) -> list[str]:
    """Return what differs from a server, a sentence each."""
    notes = [f"`LLM.{method}` runs no tool parser and no reasoning parser: the message is its unchanged text."]
    if body.get("skip_special_tokens") is not False:
        notes.append(
            "Special tokens are stripped from that text by default, before any parser could see them: "
            "`SamplingParams(skip_special_tokens=False)` keeps them."
        )
    if not (body.get("max_tokens") or body.get("max_completion_tokens")):
        notes.append("Without `max_tokens` vLLM writes 16 tokens here; a server fills the context.")
    return notes
