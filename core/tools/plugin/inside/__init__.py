"""What runs in the server; nothing of the project but readers, formats and values is imported here."""
