"""Runs inside vLLM's interpreter: one request through `LLM.chat` or `LLM.generate`, JSON in, JSON out.

Started by its path; needs nothing of this program. What vLLM prints goes to standard error.
"""

import json
import os
import sys


def main() -> None:
    """Answer the job on standard input."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever prints, prints to standard error
    job = json.load(sys.stdin)
    try:
        answer = _run(job)
    except Exception as error:  # noqa: BLE001 - vLLM raises what it likes; the caller tells it
        answer = {"error": f"{type(error).__name__}: {error}"}
    json.dump(answer, answers)
    answers.flush()
    os._exit(0)  # vLLM's engine may take its time to end


def _run(job: dict) -> dict:  # type: ignore[type-arg]  # plain JSON
    import vllm  # type: ignore[import-not-found,unused-ignore]  # not there for mypy
    from vllm import LLM, SamplingParams

    engine = LLM(**job["engine"])
    sampling = SamplingParams(**job["sampling"])
    if job["method"] == "chat":
        (made,) = engine.chat(job["messages"], sampling, use_tqdm=False, **job["chat"])
    else:
        (made,) = engine.generate([job["prompt"]], sampling, use_tqdm=False)
    output = made.outputs[0]
    return {
        "version": vllm.__version__,
        "prompt": made.prompt,
        "prompt_token_ids": list(made.prompt_token_ids or ()),
        "text": output.text,
        "token_ids": list(output.token_ids),
        "finish_reason": output.finish_reason,
        "stop_reason": output.stop_reason,
    }


if __name__ == "__main__":
    main()
