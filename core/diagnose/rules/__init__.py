"""One file per rule; each defines `RULE`, nothing is registered elsewhere."""
