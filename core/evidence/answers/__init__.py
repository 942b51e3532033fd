"""Answers of servers in the shapes in which people copy them: whole, in events, in a server's own API."""
