"""Runs XGrammar, LLGuidance and JSON Schema on pasted input, in a process that may die of it."""
