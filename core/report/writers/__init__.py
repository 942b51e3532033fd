"""One file per output form."""
