"""See what a chat request becomes: prompt, completion, message, and where it got lost."""
