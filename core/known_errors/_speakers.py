"""Who says an error, and where in a run: read from the modules of a traceback, or from signs around it."""

from __future__ import annotations

import re
from typing import NamedTuple

from prompt_debugger.core.base.types import Stage

_FRAME = re.compile(
    r"(?:site-packages|dist-packages|/python|-workspace|node_modules)[/\\]{1,2}((?:@[\w-]{1,40}[/\\])?"
    r"[\w-]{1,60})[/\\]{1,2}([^\s\"':)]{1,200})"
)
_MODULE = re.compile(
    r"(?<![.@])\b(vllm|sglang|transformers|litellm|mlx_lm|mlx_vlm|lmdeploy|llama_cpp)[./](?!(?:ai|io|com|org|dev)\b)([\w./]{1,120})"
)
_PACKAGES = {
    "vLLM": "vllm vllm_ascend",
    "SGLang": "sglang",
    "transformers": "transformers",
    "mlx-lm": "mlx_lm",
    "mlx-vlm": "mlx_vlm",
    "LMDeploy": "lmdeploy",
    "TensorRT-LLM": "tensorrt_llm",
    "TGI": "text_generation_server",
    "llama-cpp-python": "llama_cpp",
    "Ollama's client": "ollama",
    "XGrammar": "xgrammar",
    "Outlines": "outlines",
    "llguidance": "llguidance",
    "mistral-common": "mistral_common",
    "Jinja": "jinja2",
    "openai-harmony": "openai_harmony",
    "LiteLLM": "litellm",
    "the OpenAI client": "openai",
    "the Anthropic client": "anthropic @anthropic-ai",
    "Claude Code": "claude-code",
    "Google's client": "google @google",
    "Groq's client": "groq",
    "Mistral's client": "mistralai",
    "LangChain": "langchain langchain_core langchain_openai langchain_community",
    "Triton's client": "tritonclient",
    "LangGraph": "langgraph",
    "LlamaIndex": "llama_index",
    "CrewAI": "crewai",
    "Agno": "agno",
    "Pydantic AI": "pydantic_ai",
    "AutoGen": "autogen autogen_ext",
    "smolagents": "smolagents",
    "Instructor": "instructor",
    "DSPy": "dspy",
    "Haystack": "haystack",
    "Open WebUI": "open_webui",
    "AWS's client": "botocore",
    "httpx": "httpx httpcore",
    "aiohttp": "aiohttp",
    "requests": "requests",
    "urllib3": "urllib3",
    "the OpenAI Agents SDK": "openai_agents agents",
    "Vercel's AI SDK": "@ai-sdk ai",
    "LangChain.js": "@langchain",
    "node-llama-cpp": "node-llama-cpp",
    "WebLLM": "@mlc-ai",
    "claude-code-router": "@musistudio",
    "ExLlamaV2": "exllamav2",
    "KTransformers": "ktransformers",
}
_TITLES = {package: title for title, packages in _PACKAGES.items() for package in packages.split()}
_SIGNS: tuple[tuple[str, str], ...] = (
    (
        r"VertexAIException|Vertex_ai\w{0,10}Exception|aiplatform\.googleapis|GenerateContentRequest"
        r"|generativelanguage\.googleapis|google\.rpc",
        "Google's Gemini API",
    ),
    (
        r"BedrockException|Bedrock ?Runtime|bedrock-runtime|(?:Converse|InvokeModel)\w{0,30} operation"
        r"|calling the Converse",
        "Amazon Bedrock",
    ),
    (r"AzureException|AzureOpenAI|azure\.com|openai\.azure", "Azure OpenAI"),
    (r"AnthropicException|api\.anthropic\.com", "Anthropic's API"),
    (r"GroqException|api\.groq\.com", "Groq"),
    (r"OpenrouterException|OpenRouterException|openrouter\.ai", "OpenRouter"),
    (r"DashscopeException|dashscope\.aliyuncs", "DashScope"),
    (r"Lm_studioException|\[LM STUDIO|LM Studio(?:\.app|\\| )|(?<!key provided: )lm-studio", "LM Studio"),
    (r"api\.moonshot", "Moonshot"),
    (r"api\.deepseek\.com|DeepseekException", "DeepSeek"),
    (r"api\.fireworks\.ai|Fireworks_aiException", "Fireworks"),
    (r"api\.together\.|TogetherAIException|Together_aiException", "Together"),
    (r"MistralException|api\.mistral\.ai", "Mistral's API"),
    (r"OllamaException|:11434|\*api\.Message|level=\w{4,5} source=\w{1,40}\.go", "Ollama"),
    (
        r"\((?:APIServer|EngineCore\w{0,10}|Worker\w{0,10}) pid=|mm_items\[|EngineCore\b"
        r"|\bVLLM\w{4,20}Error\b|(?<![\\/\w])vLLM(?!\w)",
        "vLLM",
    ),
    (
        r"\[validate_model_chat_template\]|common_chat_\w|llama_model_load|llama-server|\bsrv  |\bslot  "
        r"|While executing \w{1,40} at line \d|ggml_",
        "llama.cpp",
    ),
    (r"\bdev\.langchain4j\b", "LangChain4j"),
    (r"springframework\.ai\b", "Spring AI"),
    (r"Microsoft\.SemanticKernel\b", "Semantic Kernel"),
    (
        r"(?:api|platform)\.openai\.com",
        "OpenAI's API",
    ),  # LiteLLM says `OpenAIException` of any server that speaks its API
)
_STAGES: tuple[tuple[str, Stage], ...] = (
    (r"\bVLLM(?:Validation|NotFound|Unprocessable)\w{0,20}Error", Stage.REQUEST),
    (
        r"jinja2|chat_utils|chat_template|apply_template|multimodal|renderers?[/.]"
        r"|processing_\w{1,40}\.py|JinjaTemplate",
        Stage.RENDER,
    ),
    (r"tool_parsers?|function_call|reasoning[/._]|parser", Stage.PARSE),
    (
        r"structured_output|xgrammar|outlines|llguidance|scheduler|model_executor|worker|engine[/.]"
        r"|executor|attention",
        Stage.COMPLETE,
    ),
    (r"protocol\.py|serving", Stage.REQUEST),
)
_OF_PROGRAM = "claude-code"  # of the same publisher as the client, and no client of a server's answers alone
_PASSING = frozenset({"httpx", "httpcore", "aiohttp", "requests", "urllib3", "openai", "anthropic", "botocore"})
_GATEWAYS = frozenset(
    {"litellm", "langchain", "langchain_core", "langchain_openai", "langchain_community", "langgraph", "crewai"}
    | {"agno", "dspy", "instructor", "smolagents"}
)
_MAX_CHARS = 40_000


class Speaker(NamedTuple):
    """Who says an error.

    Attributes:
        title: The program's name.
        where: Path of the module that raised it; "" where only signs tell.
        stage: Where in a run that is; `None` where it does not show.
    """

    title: str
    where: str = ""
    stage: Stage | None = None


def speaker_of(text: str) -> Speaker | None:
    """Return who says the error that a text holds; `None` if nothing shows it.

    The innermost frame of a known package wins; frames of HTTP clients only pass on what a server said.
    """
    text = text[-_MAX_CHARS:]
    sign = next((title for pattern, title in _SIGNS if re.search(pattern, text)), None)
    frames = [(_package(found[1]), found[2]) for found in _FRAME.finditer(text)]
    frames += [(found[1], found[2]) for found in _MODULE.finditer(text)]
    known = [(package, path) for package, path in frames if package in _TITLES]
    raised = next((one for one in reversed(known) if one[0] not in _PASSING), None)
    if sign is not None and (raised is None or raised[0] in _GATEWAYS):
        return Speaker(sign)
    if raised is None:
        return Speaker(_TITLES[known[-1][0]]) if known else None
    where = f"{raised[0]}/{raised[1]}".replace("\\", "/")
    stage = next((stage for pattern, stage in _STAGES if re.search(pattern, where)), None)
    return Speaker(_TITLES[raised[0]], where, stage)


def _package(path: str) -> str:
    """Return the package of a frame: of a publisher with several, the publisher, but for a program among them."""
    path = path.replace("\\", "/")
    return _OF_PROGRAM if path.endswith(f"/{_OF_PROGRAM}") else path.partition("/")[0]
