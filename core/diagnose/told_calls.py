"""How a note begins that repeats what somebody told of an answer."""

TOLD = "Told in words: "
