"""A raw completion alone: what the model writes after the request's own prompt, without a chat."""

from __future__ import annotations

from dataclasses import replace

from prompt_debugger.core.base.errors import BackendError
from prompt_debugger.core.base.protocols import Tokenizer
from prompt_debugger.core.base.types import JSONObject, Prompt, Server
from prompt_debugger.core.complete.backends.vllm import RenderAnswer
from prompt_debugger.core.complete.client import ServerClient
from prompt_debugger.core.complete.engines import engine_of
from prompt_debugger.core.complete.ladder import Gathered, Sampling, add_logprob_pieces, notes_of
from prompt_debugger.core.complete.raw_completion import OnText
from prompt_debugger.core.complete.second_run import SecondRun


async def gather_raw(
    client: ServerClient,
    server: Server,
    body: JSONObject,
    *,
    tokenizer: Tokenizer | None = None,
    local_prompt: Prompt | None = None,
    on_raw_text: OnText | None = None,
) -> Gathered:
    """Ask for a raw completion of a request's prompt and for nothing else; the arguments are those of `gather`.

    Raises:
        BackendError: There is no prompt for it, or the server gives none.
    """
    return await _RawRun(client, server, body, tokenizer, local_prompt, on_raw_text).gather()


class _RawRun(SecondRun):
    __slots__ = ()

    async def gather(self) -> Gathered:
        """Ask, and say on which prompt."""
        rendered = await self._render()
        sampling = await self._sample_alone(rendered)
        raw = sampling.completion
        if raw is None:
            problem = (sampling.problem or "no prompt is known").rstrip(".")
            raise BackendError(
                f"The server gave no raw completion: {problem}.",
                "Run it as a chat, or give the model's tokenizer under Target.",
                kind="no-raw-completion",
            )
        reported = self.reported_template
        gathered = Gathered(
            sent=self.client.body_as_sent(self.body),
            evidence=raw.evidence,
            why=f"Only a raw completion was requested, on {sampling.origin}: no parser of the server took part.",
            raw=raw,
            prompt_token_ids=sampling.prompt_token_ids,
            prompt_text=await self._decode(sampling.prompt_token_ids) or (None if reported is None else reported.text),
            prompt_pieces=None if reported is None else reported.pieces,
            template_kwargs=None if rendered is None else rendered.template_kwargs,
            server=self.server,
        )
        gathered = gathered if self.tokenizer is not None else add_logprob_pieces(gathered)
        return replace(gathered, notes=(*self.client.notes, *notes_of(gathered, sampling, rendered)))

    async def _sample_alone(self, rendered: RenderAnswer | None) -> Sampling:
        """Sample on the best prompt that is known without a chat."""
        if problem := engine_of(self.server.kind).no_raw_run:
            return Sampling(problem=problem)
        if rendered is not None:
            return await self._sample_ids(rendered.token_ids, "the server's own render", rendered)
        return await self._sample_without_chat()
