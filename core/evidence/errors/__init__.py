"""Errors as people copy them, and what speaks of errors though none came."""
