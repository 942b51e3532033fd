"""Calls that are not where they belong: left in a text, broken, stripped of their markup, in a client's notation."""
