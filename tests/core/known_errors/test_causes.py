"""What words that no table holds say of the cause: vendors' sentences, and sentences that are near and mean another."""

from __future__ import annotations

import pytest

from prompt_debugger.core.known_errors import Cause, cause_of_words

SAID = {
    "Please reduce the length of the messages or completion. Current length is 9002": Cause.CONTEXT,
    "Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)": Cause.CONTEXT,
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 98304]": Cause.CONTEXT,
    "Rate limit reached for m. Add a payment method at https://h/billing to increase it.": Cause.RATE,
    "You exceeded your current quota, please check your plan and billing details. Please retry in 26.9s": Cause.RATE,
    "You have used up your daily free allocation of 10,000 neurons": Cause.RATE,
    "You exceeded your current quota, please check your plan and billing details.": Cause.QUOTA,
    "Your newly created team doesn't have any credits or licenses yet.": Cause.QUOTA,
    "Please upgrade your plan to use this model.": Cause.QUOTA,
    "余额不足或无可用资源包,请充值。": Cause.QUOTA,
    "API key not valid. Please pass a valid API key.": Cause.ACCESS,
    "Input data may contain inappropriate content.": Cause.POLICY,
    "This model does not support function calling": Cause.SETTING,
    "Failed to generate tool_calls. Please adjust your prompt.": Cause.OUTPUT,
    "Model a/b is currently loading": Cause.LOADING,
    "The engine is currently overloaded, please try again later": Cause.BUSY,
    "The model `m` has been decommissioned and is no longer supported.": Cause.MODEL_NAME,
    "模型不存在，请检查模型代码。": Cause.MODEL_NAME,
    "Request failed during generation: Server error: CUDA out of memory.": Cause.SERVER,
    "messages 参数非法。请检查文档。": Cause.REQUEST,
}
NEAR = (
    "The parameter name is case-sensitive",
    "Tool 'get_billing_details' has no description",
    "Unknown parameter: 'api_key_name'",
    "A schedule's `daily` must be a boolean",
    "This model doesn't support tool use in streaming mode.",
    "The field `functions` of this model is deprecated",
    "See https://h/settings/plan-and-billing for the documentation",
    "could not load model: rpc error: code = Unknown desc = model path /models/a.gguf not found",
    "failed to load the model: open /models/a.gguf: no such file, model not found",
)


@pytest.mark.parametrize("said", SAID)
def test_the_words_name_the_cause(said):
    assert cause_of_words(said) is SAID[said]


@pytest.mark.parametrize("said", NEAR)
def test_words_that_are_only_near_name_none(said):
    assert cause_of_words(said) is None


def test_a_code_that_is_known_comes_before_the_words():
    assert cause_of_words("Too long for what is left of your rate limit", "context_length_exceeded") is Cause.CONTEXT
