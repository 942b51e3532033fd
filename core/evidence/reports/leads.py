"""Whether the words above an output say that it ought to have come, and not that it did."""

from __future__ import annotations

import re

# Of two things, one instead of the other, a report shows the one that came, unless it says *instead of this*.
_OTHER_LEAD = re.compile(
    r"\b(?:expect(?:ed|ing|s)?|should|correct|works?|working|fixed|desired|workaround|good case"
    r"|must (?:look|be|read)|will be (?:parsed|read|recogni[sz]ed))\b"
    r"|\binstead of(?: (?:this|that|the following))?\W*\Z"
    r"|\berwartet\w{0,3}\b|\battendue?s?\b|\besperad[oa]s?\b|ожида\w{2,6}|期望|期待|预期|預期|正常情况|正确的?(?:返回|格式|结果)"
    r"|기대\w{0,2}\s{0,2}(?:결과|동작)",
    re.IGNORECASE,
)
_NOT_LEAD = re.compile(
    r"\b(?:actual(?:ly)?|but|wrong|not|(?:does|is)n't|gets?|got|receive[ds]?|prints?|printed|stopped|fail(?:s|ed)|never"
    r"|no longer|broken|tatsächlich\w{0,2}|aber|mais|réel\w{0,3}|pero|actual|но|не)\b"
    r"|实际|實際|但是|却|而非|而不是|実際|実は|실제",
    re.IGNORECASE,
)
# A sentence, and no announcement, of where the shown thing belongs, such as *It should be parsed into `tool_calls`.*
_BELONGS_ELSEWHERE = re.compile(
    r"\b(?:this|that|it|these|they|the)(?: \w{1,20}){0,2} should (?:be|have been) (?:\w{1,20} )?"
    r"(?:parsed|converted|extracted|moved|returned|put|split|placed|turned|decoded|read) "
    r"(?:in|into|as|to|inside|under)\b[^:]{0,200}\.\W{0,3}\Z",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)")


def is_of_other(lead: str) -> bool:
    """Return whether the line above something, or its last sentence, says that this is what ought to have come.

    >>> is_of_other("Expected:"), is_of_other("I expected more. But it prints:")
    (True, False)
    >>> is_of_other("The call should be parsed into:"), is_of_other("The call should be parsed into `tool_calls`.")
    (True, False)
    """
    last = _SENTENCE_END.split(lead)[-1]
    if _BELONGS_ELSEWHERE.search(last) is not None:
        return False
    return bool(_OTHER_LEAD.search(last)) and not _NOT_LEAD.search(last)
