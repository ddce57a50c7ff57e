"""Forks the Python workers of an executor as Spark's own daemon does, with large packages imported.

An import in each worker would take seconds, and tests of failures start many workers.
"""

import contextlib

from pyspark.daemon import manager

with contextlib.suppress(ImportError):
    import torch  # noqa: F401

with contextlib.suppress(ImportError):
    import lightgbm  # noqa: F401

if __name__ == "__main__":
    manager()
