"""What a family writes around reasoning and calls, and the texts that end a turn in any family."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from prompt_debugger.core.parse.reasoning import ReasoningTags

# Texts that end a turn in one family or another.
COMMON_ENDS = frozenset({
    "<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "</s>",
    "<|end|>", "<|return|>", "<|call|>", "<end_of_turn>", "<turn|>", "<eos>", "[EOS]", "<｜end▁of▁sentence｜>",
    "<|end_of_sentence|>", "<|END_OF_TURN_TOKEN|>", "<|END_OF_RESPONSE|>", "<|endofprompt|>", "<|im_sep|>",
    "[e~[", "<seed:eos>", "<eoa>", "<|user|>", "<|observation|>", "<|end_of_role|>", "<|message_sep|>", "<|eos|>",
    "</longcat_s>", "<SPECIAL_12>", "<|end_of_msg|>",
    "[|endofturn|]",
    "<|endofresponse|>", "<|assistant_end|>", "<|role_end|>", "<|hy_eos|>", "<|hy_end|>", "<|tool_response>",
})  # fmt: skip
# End tokens that no family writes for another purpose: markup even in the middle of a text.
TURN_ENDS = frozenset({"<|im_end|>", "<|eot_id|>", "<｜end▁of▁sentence｜>", "<|endoftext|>"})


@dataclass(frozen=True)
class Conventions:
    """What a family does around reasoning and calls.

    Attributes:
        reasoning: Its reasoning tags; `None` if it has no reasoning.
        turns: Texts that open a turn of any role; they occur in prompts.
        ends: Texts that end its turn, besides the usual ones.
        markers: Its structural texts, which are never end tokens.
        before_call: Line breaks before a call that its template writes, at most.
        after_call: Line breaks after a call that its template writes before more text, at most.
        cut_texts: Further texts of its markup; an output may be cut in the middle of one.
        unseen: Control tokens around or within content that no client is shown.
        citation: Marks around cited words of content, which servers may take out.
        block: Text that opens the block around calls; in an output that has one, calls outside of it are examples.
        cut_structure: Whole markers and what may follow them, where an output was cut inside a header.
    """

    reasoning: ReasoningTags | None = None
    turns: tuple[str, ...] = ()
    ends: frozenset[str] = frozenset()
    markers: frozenset[str] = frozenset()
    before_call: int = 0
    after_call: int = 0
    cut_texts: frozenset[str] = frozenset()
    cut_structure: re.Pattern[str] | None = None
    unseen: frozenset[str] = frozenset()
    citation: re.Pattern[str] | None = None
    block: str = ""

    @cached_property
    def markup(self) -> frozenset[str]:
        """All texts that are not content, wherever they are cut."""
        tags = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return self.markers | self.cut_texts | self.ends | COMMON_ENDS | frozenset(tags)

    @cached_property
    def never_ends(self) -> frozenset[str]:
        """Texts that end no turn, whatever a tokenizer says of them."""
        tags = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return self.markers | {"", *(tag.strip() for tag in tags)}

    @cached_property
    def turn_texts(self) -> tuple[str, ...]:
        """Texts that open or end a turn."""
        thoughts = () if self.reasoning is None else (*self.reasoning.openers, *self.reasoning.closers)
        return (*self.turns, *(end for end in self.ends if end not in thoughts))
