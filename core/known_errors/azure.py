"""What Azure OpenAI says."""

from __future__ import annotations

from prompt_debugger.core.base.types import Stage
from prompt_debugger.core.known_errors.base import Cause, KnownError

MAKER = "Azure OpenAI"

SENTENCES: tuple[KnownError, ...] = (
    KnownError(
        "The response was filtered due to the prompt triggering",
        Stage.COMPLETE,
        "Azure's content filter stopped the prompt before the model read it.",
        (
            "Change the text that triggers the filter, or the filter's setting; `innererror` in the body says "
            "which category."
        ),
        "https://github.com/vibrantlabsai/ragas/issues/649",
        example="The response was filtered due to the prompt triggering Azure OpenAI's content management policy. "
        "Please modify your prompt and retry.",
        cause=Cause.POLICY,
    ),
    KnownError(
        "The API deployment for this resource does not exist.",
        Stage.REQUEST,
        "There is no deployment with that name, or it was created a few minutes ago.",
        "Give the name of the deployment, not of the model, in the address.",
        "https://learn.microsoft.com/azure/ai-services/openai/",
        field="model",
        cause=Cause.MODEL_NAME,
    ),
    KnownError(
        "Value for '{name}' is enabled only for api versions {version} and later",
        Stage.REQUEST,
        "The `api-version` in the address is older than the field that the request sets.",
        "Ask with that `api-version`, or a later one, in the address; the request itself needs no change.",
        "https://learn.microsoft.com/azure/ai-services/openai/api-version-lifecycle",
        example="Value for 'tool_choice' is enabled only for api versions 2024-06-01 and later",
        cause=Cause.SETTING,
    ),
    KnownError(
        "Model {name:word} is enabled only for api versions {version:word} and later",
        Stage.REQUEST,
        "The `api-version` in the address is older than the model of that deployment.",
        "Ask with that `api-version`, or a later one, in the address: clients have it in a setting (`api_version`, "
        "`AZURE_OPENAI_API_VERSION`). Deployment and request need no change.",
        "https://github.com/Azure-Samples/azure-search-openai-demo/issues/2496",
        example="Model o3-mini is enabled only for api versions 2024-12-01-preview and later",
        cause=Cause.SETTING,
    ),
    KnownError(
        "{name:word} value as {value:word} is enabled only for api versions {version:word} and later",
        Stage.REQUEST,
        "The `api-version` in the address is older than the form that the request asks for.",
        "Ask with that `api-version`, or a later one: clients have it in the settings of the endpoint or deployment "
        "(`version`, `AZURE_OPENAI_API_VERSION`). The request itself needs no change.",
        "https://github.com/danny-avila/LibreChat/issues/8325",
        example="response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later",
        cause=Cause.SETTING,
    ),
)
