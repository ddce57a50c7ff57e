"""The backend ``"spark"`` of ``torch.distributed``, and a store in the driver.

Importing this module registers the backend. In a task of a Spark barrier stage the ranks then find
each other through the driver: no address, no port, no environment variable::

    def train(rows):
        import torch
        import torch.distributed as dist
        import spark_collectives.torch  # on each rank: registers the backend

        dist.init_process_group("spark")
        model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(10, 1))
        ...
        yield dist.get_rank()
        dist.destroy_process_group()

    rdd.barrier().mapPartitions(train).collect()

The backend takes dense tensors of any stride, and sums sparse ones. Their elements are booleans,
integers of 8 to 64 bits, float16, bfloat16, float32, float64, complex64 or complex128; tensors of
float8_e4m3fn and float8_e5m2 can be moved, not reduced. Tensors of a GPU are copied to the host and
back. torch's own backends can use the same rendezvous, by default or with
``init_method="spark://"``::

    dist.init_process_group("gloo")  # no MASTER_ADDR: the driver's store is used

A task to which Spark has given a GPU finds it by :func:`device`. With
``init_process_group("cpu:spark,cuda:nccl")`` tensors of a GPU go over NCCL instead.

:class:`TorchDistributor` takes the place of PySpark's class of that name.

Needs torch 2.7 or later.
"""

from __future__ import annotations

import torch.distributed

if not torch.distributed.is_available():
    raise ImportError("This build of torch has no torch.distributed")

from . import context, launch, mixed_group, private, rendezvous, world
from .device_choice import device
from .distributor import TorchDistributor
from .memory import empty
from .mixed_group import MixedProcessGroup
from .process_group import SparkProcessGroup
from .store import SparkStore
from .work import SparkWork

__all__ = [
    "MixedProcessGroup",
    "SparkProcessGroup",
    "SparkStore",
    "SparkWork",
    "TorchDistributor",
    "device",
    "empty",
]

rendezvous.register()
world.install()
private.install(context.default_timeout, launch.backend_of)
torch.distributed.Backend.register_backend(
    "spark", mixed_group.create, extended_api=True, devices=["cpu", "cuda"]
)
