"""Logs of servers: their lines, the columns they are broken into, and what they show."""
