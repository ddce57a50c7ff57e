"""Forks the Python workers of an executor, as Spark's own daemon does, with torch imported already.

Each worker would take seconds for that; tests of failures have many.
"""

import contextlib

from pyspark.daemon import manager

with contextlib.suppress(ImportError):
    import torch  # noqa: F401

if __name__ == "__main__":
    manager()
