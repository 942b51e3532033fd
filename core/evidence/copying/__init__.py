"""What copying does to a text, undone: colours, prompts of a shell, tables, line breaks, escapes."""
