"""Command lines of servers, and their flags."""
