"""A module that is imported for ever, as one is for seconds where the machine has much to do."""

import threading

threading.Event().wait()
