"""What to say and advise where a text contains a call of a family that no parser took out."""

from __future__ import annotations

import re
from collections.abc import Sequence

from prompt_debugger.core.base.types import Server, ToolCallAttempt, Trace
from prompt_debugger.core.diagnose.advice import KEEP_SPECIAL_TOKENS, Step
from prompt_debugger.core.diagnose.calls.bare_lists import bare_list, model_names
from prompt_debugger.core.diagnose.calls.stream_alone import steps_of_stream
from prompt_debugger.core.diagnose.fields import body_of, content_of
from prompt_debugger.core.diagnose.generations import families_named, familys_parser, siblings_of
from prompt_debugger.core.diagnose.hosted import hosted_by
from prompt_debugger.core.diagnose.own_names import FAMILYS_PARSER, has_own_names, is_made_for
from prompt_debugger.core.diagnose.parser_setup import own_way, start_with
from prompt_debugger.core.diagnose.words import listed
from prompt_debugger.core.formats import FORMATS

_REPORT_TO_PROVIDER = "For a hosted model, report it to the provider."
_AT_VENDOR = (
    "Send the tools in the API's own field, and calls of the history in its fields, not as text: a prompt that "
    "describes tools, or shows calls, teaches the model to write them. If that is so already, read this call in "
    "the client, or ask again."
)
_NO_NOTATION = (
    "No parser reads a call in plain words. Send the calls of the history as `tool_calls` and their results as "
    "messages with the role `tool`: a client or proxy that writes them out as text teaches the model to do the same. "
    "If the history contains none, the model lost its own notation: look at the template, and at a heavy quantization."
)
_OF_GEMMA3 = (
    "No parser reads Python in a `tool_code` fence, which Gemma 3 writes where a prompt describes functions: it "
    "does not have its own notation. vLLM's examples have the template `tool_chat_template_gemma3_pythonic.jinja`, "
    "made for `--tool-call-parser pythonic`; otherwise read the fence in the client."
)
MISTRAL_TOKENIZER = "The server was started with `--tokenizer-mode mistral`."  # a note of what was pasted
WITH_MISTRAL_TOKENIZER = (
    "vLLM's parser `mistral` reads calls without a list, `[TOOL_CALLS]name{…}`, only where it knows by Mistral's own "
    "tokenizer that the model writes them: start the server with `--tokenizer-mode mistral`, too."
)
OF_GLM4 = (
    "GLM-4 before 4.5 writes its calls this way, without a token around them, and neither vLLM nor SGLang has a parser "
    "for that. Read it in the client (the name on the first line, JSON below it), give vLLM a parser for it "
    "(`--tool-parser-plugin FILE`), or serve GLM-4.5 or newer with the parser made for it."
)
# Asked of vLLM 0.32 and SGLang 0.5.23: `llama3_json` and `llama3` leave it; `qwen3_coder` takes the name alone.
_OF_FUNCTION_TAG = (
    "The parsers of vLLM and SGLang for Llama (`llama3_json`, `llama3`) leave `<function=NAME>{JSON}</function>` in "
    "the text, which Llama 3.1 and its kin write where a prompt teaches it, and vLLM's `qwen3_coder` takes the name "
    "and loses the arguments. Send the tools in `tools`, with a template that asks for plain JSON (vLLM: its example "
    "`tool_chat_template_llama3.1_json.jinja` with `--tool-call-parser llama3_json`); otherwise read the tag in the "
    "client."
)
_FUNCTION_TAG = re.compile(r"<function=[^>\n]{1,100}>\s{0,8}\{")
_GLM4 = re.compile(r"(?<![a-z])glm-?4(?![.\dv])", re.IGNORECASE)  # before 4.5, whose calls have tags
STREAM_ALONE = "According to the surrounding text, only the stream has the fault."  # a note of what was pasted
_OF_STREAM = Step(
    "The surrounding text says that it works without streaming: the parser runs, but fails on the stream. Update the "
    "server; until then, send requests without streaming (`stream: false`).",
    {"stream": False},
)
_STOP_OF_CALL = "'<|call|>'"  # the stop token of harmony, which servers do not show


def parser_steps(trace: Trace, family: str) -> tuple[Step, ...]:
    """Return how to make a server parse the calls of a family: the server at hand, else all that are known."""
    if STREAM_ALONE in trace.notes:
        return (_OF_STREAM, *_flags_for(trace, family))
    return steps_of_stream(trace) or _flags_for(trace, family)


def _flags_for(trace: Trace, family: str) -> tuple[Step, ...]:
    twins = FORMATS[family].facts.same_notation
    models = model_names(trace)
    family = next((one for one in twins for model in models if one in families_named(model)), family)
    facts = FORMATS[family].facts
    if is_plain_words(family):
        return (Step(_OF_GEMMA3 if family == "gemma3" else _NO_NOTATION),)
    if not facts.tool_parsers and not facts.parser_names and family != "generic":
        return (Step(_advise_without_parser(family)),)
    if is_function_tag(trace, family):
        return (Step(_OF_FUNCTION_TAG), Step(_REPORT_TO_PROVIDER))
    if (vendor := hosted_by(trace)) is not None:
        return (Step(_AT_VENDOR), Step(f"Report it to {vendor}, as no flag of that server is yours to set."))
    kind = trace.server_kind
    if (way := own_way(trace, family)) is not None:
        return (way,)
    own = _filter_by_model(_parsers_of(kind, family), models)
    if (wrong := foreign_parser(trace, family)) is not None and own:
        return (Step(f"Start the server with `--tool-call-parser {own[0]}` in place of `{wrong}`."),)
    if has_own_names(trace.server) and trace.server is not None and is_made_for(trace.server, family):
        return tuple(_advise_beside_its_parser(trace, trace.server.tool_parser))
    if has_own_names(trace.server):
        return (Step(FAMILYS_PARSER), Step(_REPORT_TO_PROVIDER))
    parser = trace.tool_parser
    is_set = {"tool_parser": parser} if parser is not None and parser in facts.tool_parsers else {}
    if is_set and family == "mistral_v11" and may_lack_tokenizer(trace):
        return (Step(WITH_MISTRAL_TOKENIZER), *_advise_beside_its_parser(trace, parser))
    return _steps_with_flags(trace, family, kind, is_set)


def _steps_with_flags(trace: Trace, family: str, kind: str, is_set: dict[str, str]) -> tuple[Step, ...]:
    """Return the flags with which servers read a family, or which model they are asked for where that is unknown."""
    models = model_names(trace)
    if trace.tool_parser is not None and family == "generic":
        return tuple(_advise_beside_its_parser(trace, trace.tool_parser))
    if not is_set and is_bare_json(trace, family) and not any(map(family_of_model, models)):
        return (Step(_ask_for_model(kind, models)), Step(_REPORT_TO_PROVIDER))
    twins = FORMATS[family].facts.same_notation
    parser = trace.tool_parser
    text = f"Have the server parse this model's calls: {', '.join(_flags(family, kind, models))}."
    others = [name for one in twins if one != family for name in FORMATS[one].facts.tool_parsers[:1]]
    if others and not models:
        text += f" Other models write the same: for those vLLM has {listed(others)}."
    return (
        Step(text, server=is_set),
        *(_advise_beside_its_parser(trace, parser) if is_set else (Step(_REPORT_TO_PROVIDER),)),
    )


def bare_json_steps(trace: Trace, family: str) -> tuple[Step, ...]:
    """Return what helps with bare JSON: where the model is known to write another notation, that first."""
    models = [named for name in model_names(trace) if (named := family_of_model(name)) is not None]
    if models and models[0] not in (family, *FORMATS[family].facts.same_notation):
        return (Step(describe_fallback(models[0])), *parser_steps(trace, models[0]))
    return parser_steps(trace, family)


def describe_fallback(family: str) -> str:
    """Return what to look at where a model, by its name, writes another notation than bare JSON."""
    opener = _opener(family)
    marked = f", with `{opener}` before each call" if opener else ""
    return (
        f"By its name, this model writes the notation of `{family}`{marked}, and here that is missing: it fell back to "
        "plain JSON. Check that its own template is used and that the prompt contains the tools (`render`)."
    )


def _opener(family: str) -> str:
    """Return the marker that opens a family's calls: the first of its record, a tag that is closed, or the only one."""
    given, markers = FORMATS[family].facts.call_markers, FORMATS[family].call_markers
    if given:
        return next((marker.strip() for marker in given if "sep" not in marker), "")
    paired = (marker for marker in markers if marker.startswith("<") and f"</{marker[1:]}" in markers)
    return next(paired, markers[0] if len(markers) == 1 else "").strip()


def is_bare_json(trace: Trace, family: str) -> bool:
    """Return whether calls are JSON without any markup, which says nothing about the model that wrote them."""
    text = trace.parse.raw if trace.parse is not None else content_of(trace.chat.message) if trace.chat else None
    return family == "llama3_json" and text is not None and "<|" not in text and "<function" not in text


def _ask_for_model(kind: str, models: Sequence[str]) -> str:
    """Return what helps with bare JSON of a model whose family no name shows."""
    readers = {"vllm": "vLLM's `llama3_json` and `llama4_json`", "sglang": "SGLang's `llama3`"}
    known = readers.get(kind) or f"{readers['vllm']} and {readers['sglang']}"
    find = (
        "Find out which model wrote it, as nothing here names one, and start the server with the parser of its family"
    )
    start = f"Start the server with the parser of the family of `{models[0]}`" if models else find
    return (
        f"{start} (`check MODEL` names it; llama.cpp picks one itself with `--jinja`). For Llama, bare JSON is right, "
        f"and {known} read it. Qwen, Mistral, Granite and others write a marker around it: where that is missing, "
        "check that the prompt contains the tools (`render`) and that the model's own template is used."
    )


def is_function_tag(trace: Trace, family: str) -> bool:
    """Return whether calls of Llama's family are in tags around JSON, which its parsers do not read."""
    if family != "llama3_json" or (trace.parse is None and trace.chat is None):
        return False
    text = trace.parse.raw if trace.parse is not None else content_of(trace.chat.message) if trace.chat else None
    return text is not None and _FUNCTION_TAG.search(text) is not None and "<|python_tag|>" not in text


def is_glm4(model: str) -> bool:
    """Return whether a model, by its name, is a GLM-4 older than 4.5, whose calls have no tags.

    >>> is_glm4("GLM-4-9B-0414"), is_glm4("zai-org/GLM-4.5-Air")
    (True, False)
    """
    return _GLM4.search(model) is not None


def has_its_parser(server: Server | None) -> bool:
    """Return whether the server runs a parser that is made for its model, by the model's name."""
    if server is None or server.tool_parser is None or not server.model:
        return False
    model = server.model.lower()
    named = (name for name, one in FORMATS.items() for word in one.facts.model_names if word in model)
    return any(is_made_for(server, name) for name in (*named, family_of_model(server.model)) if name is not None)


def beside_its_parser(trace: Trace) -> str:
    """Return what helps where the parser of the model's family runs already and failed; "" where it does not run."""
    server = trace.server
    if server is None or not has_its_parser(server):
        return ""
    if may_lack_tokenizer(trace):
        return WITH_MISTRAL_TOKENIZER
    return (
        f"The parser of this model's family runs already (`{server.tool_parser}`): run a current release, and try the "
        "raw output on the parser alone (`parse RAW --parser`)."
    )


def may_lack_tokenizer(trace: Trace) -> bool:
    """Return whether vLLM's parser for Mistral runs, and nothing shows that it has Mistral's own tokenizer."""
    server = trace.server
    is_mistrals = server is not None and server.kind == "vllm" and server.tool_parser == "mistral"
    return is_mistrals and MISTRAL_TOKENIZER not in trace.notes


def _advise_beside_its_parser(trace: Trace, parser: str | None) -> tuple[Step, ...]:
    """Return what to look at where the parser that reads a notation runs, and left the call in the text."""
    tools = Step("Check that the request had its tools in `tools`: a server runs its parser only for such requests.")
    software = "sglang" if trace.server_kind == "sglang" else "vllm"
    trial = Step(
        f"Run a current release, and try the raw output on the parser alone (`parse RAW --parser {software}:{parser} "
        "--splits` shows whether it reads it, whole and streamed)."
    )
    return (trial,) if body_of(trace).get("tools") else (tools, trial)


def _advise_without_parser(family: str) -> str:
    """Return what helps with a notation that no parser of vLLM or SGLang is made for."""
    if any(FORMATS[one].facts.tool_parsers for one in siblings_of(family)):
        return familys_parser(family)
    return (
        f"Neither vLLM nor SGLang has a parser for the notation `{family}`. Look in the model's repository for one "
        f"(vLLM's `--tool-parser-plugin FILE`), or let `plugin --family {family}` write one."
    )


def bare_list_steps(trace: Trace, family: str) -> list[Step]:
    """Return what helps with a list before which a special token was most likely removed."""
    found = bare_list(trace)
    meant = "mistral" if found is None else found.family
    marker = FORMATS[meant].facts.list_marker
    start = start_with(trace, f"`--tool-call-parser {FORMATS[meant].facts.tool_parsers[0]}`")
    text = (
        f"If it came as content: models of `{meant}` write `{marker}` before this list, a special token that "
        f"servers remove: {start[0].lower()}{start[1:]}, and with the model's own tokenizer, so that the parser sees "
        "it."
    )
    return [Step(text), KEEP_SPECIAL_TOKENS, *parser_steps(trace, family)]


def is_plain_words(family: str) -> bool:
    """Return whether a notation is words or code for a reader: no parser of a server takes it out."""
    return FORMATS[family].facts.is_plain_words


def named_parser(trace: Trace) -> str | None:
    """Return the parser made for the model, by its name, where the server runs one of another family."""
    server = trace.server
    if server is None or server.tool_parser is None or not server.model:
        return None
    family = family_of_model(server.model)
    if family is None or is_made_for(server, family) is not False:
        return None
    own = _filter_by_model(_parsers_of(server.kind, family), (server.model,))
    return own[0] if own else None


def _parsers_of(kind: str, family: str) -> Sequence[str]:
    """Return what a server software calls its parsers for a family, the first choice first; none where unknown."""
    facts = FORMATS[family].facts
    if kind in facts.parser_names:
        return facts.parser_names[kind].tools
    return () if kind == "sglang" else facts.tool_parsers


def _filter_by_model(parsers: Sequence[str], models: Sequence[str]) -> Sequence[str]:
    """Return parsers of a family with those first whose generation a model's name names.

    >>> _filter_by_model(("deepseek_v32", "deepseek_v4"), ("deepseek-ai/DeepSeek-V4-Flash",))
    ['deepseek_v4', 'deepseek_v32']
    """
    spelled = ["".join(char for char in model.lower() if char.isalnum()) for model in models]

    def is_other(parser: str) -> bool:
        plain = parser.replace("_", "").replace("-", "")
        return not any(plain in model for model in spelled)

    return sorted(parsers, key=is_other)


def family_of_model(model: str) -> str | None:
    """Return the family whose notation a model writes, by its name; `None` where the name says nothing sure.

    >>> family_of_model("Qwen/Qwen3-8B"), family_of_model("Qwen/Qwen3-Coder-Next")
    ('hermes', 'qwen3_coder')
    >>> family_of_model("Qwen/Qwen3.5-9B"), family_of_model("moonshotai/Kimi-K2-Instruct"), family_of_model("my-model")
    ('qwen3_coder', 'kimi_k2', None)
    """
    lower = f"/{model.lower()}"
    spelled = "".join(char for char in lower if char.isalnum())
    named = (one for one in families_named(model) if one.replace("_", "") in spelled)
    words = [
        (len(word), name)
        for name, one in FORMATS.items()
        if not one.facts.list_marker
        for word in one.facts.model_names
        if word in lower
    ]
    return max(words)[1] if words else next(named, None)  # `qwen3-coder` says more than `/qwen3-`


def foreign_parser(trace: Trace, family: str) -> str | None:
    """Return the server's tool parser where it is known and made for another notation."""
    return trace.server.tool_parser if trace.server is not None and is_made_for(trace.server, family) is False else None


def _flags(family: str, kind: str, models: Sequence[str]) -> list[str]:
    meant = _filter_by_model(FORMATS[family].facts.tool_parsers, models)[:1]
    sglang = _filter_by_model(_parsers_of("sglang", family), models)[:1]
    of_vllm = [f"vLLM `--enable-auto-tool-choice --tool-call-parser {name}`" for name in meant or ("NAME",)]
    of_sglang = [f"SGLang `--tool-call-parser {name}`" for name in sglang or (() if meant else ("NAME",))]
    known = {"vllm": of_vllm, "sglang": of_sglang}
    return known.get(kind) or [*of_vllm, *of_sglang, "llama.cpp `--jinja`"]


def departures(calls: Sequence[ToolCallAttempt]) -> str:
    """Return how calls depart from their notation, as a clause; "" where they do not."""
    known = (call.deviation for call in calls if call.deviation is not None and _STOP_OF_CALL not in call.deviation)
    return "; ".join(list(dict.fromkeys(known))[:3])


def departs(calls: Sequence[ToolCallAttempt], family: str) -> str:
    """Say how the calls depart from their notation, where they do."""
    parts = departures(calls)
    return f" It departs from the notation of `{family}`, which a parser may refuse: {parts}." if parts else ""


def readers_of(family: str) -> str:
    """Return the names of the parsers that are made for a family, for a person; "" where none is known."""
    facts = FORMATS[family].facts
    sglang = _parsers_of("sglang", family)[:2]
    others = (name for one in facts.same_notation if one in FORMATS for name in FORMATS[one].facts.tool_parsers[:1])
    vllm = list(dict.fromkeys((*facts.tool_parsers[:2], *others)))
    parts = [
        f"vLLM's {listed(vllm)}" if vllm else "",
        f"SGLang's {listed(sglang)}" if sglang else "",
    ]
    return " and ".join(part for part in parts if part)
