"""Waits for what other processes do."""

import time


def eventually(what, seconds, condition):
    """Return what the condition returns, once that is true; else fail with what there is."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)
