"""Forks the workers of an executor as Spark's own daemon does, with what the tests import.

An import in each worker would take seconds, and each test has a worker of its own for each rank.
"""

import gc

import torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook
import torch.distributed.algorithms.ddp_comm_hooks.powerSGD_hook
import torch.distributed.algorithms.model_averaging.hierarchical_model_averager
import torch.distributed.optim.post_localSGD_optimizer
import torch.testing._internal.common_distributed  # noqa: F401
from pyspark.daemon import manager

import spark_collectives.torch  # noqa: F401

if __name__ == "__main__":
    # Collections in workers leave alone what they share with this process, and copy nothing.
    gc.freeze()
    manager()
