"""The backend ``"spark"`` of ``torch.distributed``, and a store in the driver.

Importing this module registers the backend. In a task of a Spark barrier stage the ranks then find
each other through the driver: no address, no port, no environment variable::

    import torch.distributed as dist
    import spark_collectives.torch

    def train(rows):
        dist.init_process_group("spark")
        model = torch.nn.parallel.DistributedDataParallel(make_model())
        ...
        dist.destroy_process_group()

    rdd.barrier().mapPartitions(train).collect()

The backend takes dense tensors of any type and stride, and sums sparse ones. Tensors of a GPU
are copied to the host and back. torch's own backends can use the same rendezvous, by default or
with ``init_method="spark://"``::

    dist.init_process_group("gloo")  # no MASTER_ADDR: the driver's store is used

A task to which Spark has given a GPU finds it by :func:`device`. With
``init_process_group("cpu:spark,cuda:nccl")`` tensors of a GPU go over NCCL instead.

Needs torch 2.7 or later.
"""

from __future__ import annotations

import torch.distributed

if not torch.distributed.is_available():
    raise ImportError("This build of torch has no torch.distributed")

from . import context, mixed_group, private, rendezvous, world
from .device_choice import device
from .memory import empty
from .mixed_group import MixedProcessGroup
from .process_group import SparkProcessGroup
from .store import SparkStore
from .work import SparkWork

__all__ = ["MixedProcessGroup", "SparkProcessGroup", "SparkStore", "SparkWork", "device", "empty"]

rendezvous.register()
world.install()
private.install(context.default_timeout)
torch.distributed.Backend.register_backend(
    "spark", mixed_group.create, extended_api=True, devices=["cpu", "cuda"]
)
