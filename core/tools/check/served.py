"""A running server as the model to check: which template and tokenizer it uses, and on whose word.

The person's own files come first, then the folder or hub id that the server names, then the template that it shows.
Where it renders without running the model, its prompts are compared with ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from prompt_debugger.core.base.errors import BackendError, DebuggerError, EngineError, RenderError
from prompt_debugger.core.base.types import JSONObject, Server
from prompt_debugger.core.complete import ServerClient, engine_of, title_of
from prompt_debugger.core.complete.model_root import believable_root
from prompt_debugger.core.parse.engines.rendered import EnginePrompt
from prompt_debugger.core.render.tokenizers.settings import TokenizerSettings
from prompt_debugger.core.tools.check.model import CheckedModel, load_model

_ASKED = {"render": "its own renderer", "apply_template": "`/apply-template`", "tokenize": "`/tokenize`"}
_NAMED = ("bos_token", "eos_token", "unk_token", "pad_token")
_REFUSALS = range(400, 600)  # llama.cpp's server answers 500 where a template fails


class NoTemplateError(RenderError):
    """Neither a server nor the person says which template it uses."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a server is, and what the person says of it.

    Attributes:
        url: Its address.
        api_key: Sent as bearer token; never shown.
        tokenizer: Folder or hub id of the model; `None` for what the server says.
        template_file: Jinja file that wins over the server's template.
    """

    url: str
    api_key: str | None = field(default=None, repr=False)
    tokenizer: str | None = None
    template_file: str | None = None


async def load_served(place: Place) -> CheckedModel:
    """Load what a server serves.

    Raises:
        BackendError: It cannot be reached.
        NoTemplateError: Neither it nor the person says which template it uses.
    """
    async with ServerClient(place.url, api_key=place.api_key) as client:
        server = await client.probe()
        info = await client.tokenizer_info() if "tokenizer_info" in server.features else {}
    words = [_describe_server(server)]
    model = _from_files(place, server, words) or _from_info(place, info, words)
    if model is None:
        raise NoTemplateError(
            f"{server.base_url} does not report which template it uses.",
            "Give the model's folder or Hub id with --tokenizer, or the template with --chat-template.",
        )
    words += _describe_parsers(server)
    return replace(model, name=server.base_url, server=server, evidence=tuple(words))


def _describe_server(server: Server) -> str:
    kind = title_of(server.kind)
    version = f" {server.version}" if server.version else ""
    return f"{kind}{version} serves `{server.model}`." if server.model else f"{kind}{version}, which lists no model."


def _from_files(place: Place, server: Server, words: list[str]) -> CheckedModel | None:
    """Return the model from files of this machine or the Hub; `None` if there are none."""
    root = place.tokenizer or believable_root(server)
    if root is None:
        return None
    try:
        model = load_model(root, template_file=place.template_file)
    except DebuggerError as error:
        if place.tokenizer is not None:
            raise
        words.append(f"It names `{root}`, which is not available: {error.message}")
        return None
    source = "you name" if place.tokenizer is not None else "the server names"
    template = "your file" if place.template_file is not None else "theirs"
    words.append(
        f"Tokenizer from `{Path(root).name if Path(root).is_dir() else root}`, which {source}; "
        f"the template is {template}."
    )
    return model


def _from_info(place: Place, info: JSONObject, words: list[str]) -> CheckedModel | None:
    """Return the model from what the server shows of its tokenizer, or the person's template alone."""
    template = info.get("chat_template")
    special = {name: text for name in _NAMED if isinstance(text := info.get(name), str)}
    if place.template_file is not None:
        words.append("The template is your file; without a tokenizer, the parsers get an approximate vocabulary.")
        model = load_model(place.template_file)
    elif isinstance(template, str) and template:
        words.append("The template is the server's; without a tokenizer, the parsers get an approximate vocabulary.")
        model = CheckedModel("", template)
    else:
        return None
    return replace(model, settings=TokenizerSettings(special_tokens=special))


def _describe_parsers(server: Server) -> list[str]:
    named: Mapping[str, str | None] = {"tool parser": server.tool_parser, "reasoning parser": server.reasoning_parser}
    words = [f"It reports that its {kind} is `{name}`." for kind, name in named.items() if name]
    is_set = "tool_parser" in server.features
    if server.tool_parser is None and (is_set or engine_of(server.kind).needs_tool_parser):
        words.append(
            "It has a tool parser, but does not report which." if is_set else "It does not report a tool parser."
        )
    return words


@dataclass(frozen=True, slots=True)
class ServerRenderer:
    """A running server's own renderer; the key is never shown."""

    model: CheckedModel
    api_key: str | None = field(default=None, repr=False)

    @property
    def asked(self) -> str:
        """The endpoint that renders without running the model; "" if there is none."""
        features = frozenset() if self.model.server is None else self.model.server.features
        return next((name for name in _ASKED if name in features), "")

    @property
    def name(self) -> str:
        """What it is, in words."""
        server = self.model.server
        assert server is not None
        return f"{title_of(server.kind)}{f' {server.version}' if server.version else ''} by {_ASKED[self.asked]}"

    async def render(
        self,
        bodies: Sequence[JSONObject],
        *,
        template: str,
        special_tokens: Mapping[str, str],
        tokenizer: str | Path | None = None,
    ) -> list[EnginePrompt]:
        """Return what the server makes of chat requests, one after the other.

        Raises:
            EngineError: It cannot be reached any more.
        """
        server = self.model.server
        assert server is not None
        async with ServerClient(server.base_url, api_key=self.api_key) as client:
            try:
                await client.probe(server.model)
            except BackendError as error:
                raise _gone(error) from None
            return [await self._render(client, {**body, "model": server.model}) for body in bodies]

    async def _render(self, client: ServerClient, body: JSONObject) -> EnginePrompt:
        try:
            if self.asked == "apply_template":
                reported = await client.apply_template(body)
                return EnginePrompt(reported.text, reported.token_ids)
            ids = (await client.render(body)).token_ids if self.asked == "render" else await client.tokenize_chat(body)
            return EnginePrompt(await self._text(client, ids), ids)
        except BackendError as error:
            if error.status not in _REFUSALS:
                raise _gone(error) from None
            return EnginePrompt(refusal=error.message)

    async def _text(self, client: ServerClient, ids: tuple[int, ...]) -> str:
        tokenizer = self.model.tokenizer
        return await client.detokenize(ids) if tokenizer is None else tokenizer.tokens_of_ids(ids)[0]


def _gone(error: BackendError) -> EngineError:
    return EngineError(f"The server stopped answering: {error.message}")
