"""Errors that came in place of an answer: what they mean, and which field of the request they name."""
