"""The wire protocols, one file each; the only place that speaks HTTP."""
