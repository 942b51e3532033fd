import pytest

from prompt_debugger.ui.present.tokens import role_of


@pytest.mark.parametrize(
    ("spelling", "role"),
    [
        ("<|im_start|>", "opens a turn"),
        ("<|im_end|>", "ends a turn"),
        ("<|im_middle|>", "opens the text of a turn"),
        ("<|im_assistant|>", "opens a turn"),
        ("<|eot_id|>", "ends a turn"),
        ("<|start_header_id|>", "opens the text of a turn"),
        ("<|begin_of_text|>", "begins the text"),
        ("<s>", "begins the text"),
        ("</s>", "ends the text"),
        ("<|endoftext|>", "ends the text"),
        ("<｜begin▁of▁sentence｜>", "begins the text"),
        ("<｜tool▁calls▁begin｜>", "tool call or result"),
        ("<|tool_call_argument_begin|>", "tool call or result"),
        ("[TOOL_CALLS]", "tool call or result"),
        ("<|python_tag|>", "tool call or result"),
        ("<think>", "reasoning"),
        ("[/THINK]", "reasoning"),
        ("<|channel|>", "channel of the turn"),
        ("<|message|>", "opens the text of a turn"),
        ("<|call|>", "tool call or result"),
        ("<|return|>", "ends the text"),
        ("[PAD]", "pads to length"),
        ("<|fim_prefix|>", "fill-in-the-middle"),
        ("<|vision_start|>", "image, audio or video"),
        ("<start_of_turn>", "opens a turn"),
        ("<end_of_turn>", "ends a turn"),
        ("[INST]", "opens a turn"),
        ("[/INST]", "ends a turn"),
        ("<|reserved_special_token_7|>", "reserved by the vocabulary"),
        ("<|zorp|>", ""),
    ],
)
def test_the_role_follows_from_the_spelling(spelling, role):
    assert role_of(spelling) == role
