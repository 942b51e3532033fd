"""Ten things that hold in every healthy run, and the rules that watch over each.

They are the frame in which rules are looked for: a fault that breaks none of
them is not seen here.
"""

from __future__ import annotations

from typing import NamedTuple


class Invariant(NamedTuple):
    """A statement about a healthy run.

    Attributes:
        name: One word.
        statement: What holds.
        codes: Rules that report where it does not.
        gap: What of it no rule can see yet; "" if nothing.
    """

    name: str
    statement: str
    codes: tuple[str, ...]
    gap: str = ""


INVARIANTS = (
    Invariant(
        "Conserve",
        "Every text of the messages and every tool name occurs in the prompt.",
        ("PD205", "PD206", "PD207", "PD209", "PD211", "PD215", "PD229"),
    ),
    Invariant(
        "Tail",
        "The prompt ends with one assistant header; whether reasoning is open there is known.",
        ("PD203", "PD204", "PD227", "PD228", "PD302", "PD303", "PD408", "PD409"),
    ),
    Invariant(
        "Head",
        "The prompt starts with exactly one BOS, and raw runs use exactly the ids of the chat.",
        ("PD201", "PD202", "PD210", "PD226", "PD309"),
    ),
    Invariant("Control", "Control tokens come only from the template.", ("PD208",)),
    Invariant(
        "Census",
        "The calls of the raw output are the calls of the message, and their names are tools of the request.",
        (
            "PD104",
            "PD125",
            "PD126",
            "PD401",
            "PD403",
            "PD404",
            "PD405",
            "PD407",
            "PD410",
            "PD420",
            "PD421",
            "PD425",
            "PD501",
            "PD503",
            "PD504",
            "PD515",
        ),
    ),
    Invariant(
        "Residue",
        "No marker is left in content, reasoning, names or arguments.",
        ("PD406", "PD409", "PD413", "PD418", "PD452", "PD456", "PD457", "PD458", "PD459"),
    ),
    Invariant(
        "Arguments",
        "Returned arguments have the values that were written, and fit the tool's schema.",
        (
            "PD101",
            "PD102",
            "PD108",
            "PD127",
            "PD308",
            "PD320",
            "PD402",
            "PD415",
            "PD416",
            "PD422",
            "PD423",
            "PD424",
            "PD450",
            "PD451",
            "PD453",
            "PD454",
            "PD455",
            "PD480",
            "PD502",
            "PD505",
            "PD506",
            "PD511",
            "PD513",
            "PD514",
        ),
    ),
    Invariant(
        "Chunking",
        "Whole answer and assembled stream of the same tokens are equal.",
        ("PD411", "PD417", "PD419", "PD481"),
    ),
    Invariant(
        "End",
        "The last token is an end token, or the limit was reached; finish_reason agrees with both.",
        (
            "PD103",
            "PD107",
            "PD122",
            "PD301",
            "PD304",
            "PD305",
            "PD306",
            "PD307",
            "PD310",
            "PD312",
            "PD321",
            "PD322",
            "PD323",
            "PD324",
            "PD412",
        ),
    ),
    Invariant(
        "Round trip",
        "The prompt of the next turn starts with this prompt and this output.",
        ("PD106", "PD120", "PD121", "PD123", "PD124", "PD128", "PD129", "PD211", "PD414"),
        "The next prompt is not rendered in a run: prefix drift is detected only where ids or reasoning show it.",
    ),
)
