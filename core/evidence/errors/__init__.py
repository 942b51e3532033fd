"""Errors as people copy them; what names errors though none came is in `no_errors`."""
