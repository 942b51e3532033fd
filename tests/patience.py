"""How long a test waits for something to happen before it takes it for hung.

Tests wait for events. How long one takes says how busy the machine is and nothing of
the code, so there is one limit for all, far above what the slowest machine needs.
"""

PATIENCE_S = 600
PATIENCE_MS = PATIENCE_S * 1000
