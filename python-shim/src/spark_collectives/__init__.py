"""Process groups for PySpark: in a barrier stage, each task is a rank.

The API is that of ``torch.distributed``, on numpy arrays and CPU tensors::

    import numpy as np
    import spark_collectives as dist

    def train(rows):
        dist.init_process_group()
        gradient = np.ones(1000, np.float32)
        dist.all_reduce(gradient)  # in place, the same on every rank
        yield dist.get_rank(), float(gradient.sum())

    rdd.barrier().mapPartitions(train).collect()

The executor's JVM does the collective; arrays reach it through memory that both have mapped.
"""

from __future__ import annotations

from . import _version
from .distributed import (
    NON_GROUP_MEMBER,
    P2POp,
    abort_process_group,
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    batch_isend_irecv,
    broadcast,
    checkpoint,
    destroy_process_group,
    gather,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    irecv,
    is_available,
    is_initialized,
    isend,
    monitored_barrier,
    new_group,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    restore,
    scatter,
    send,
    store,
    world,
)
from .errors import (
    BridgeError,
    CollectiveError,
    CollectiveMismatchError,
    CollectiveTimeoutError,
    GroupAbortedError,
    GroupClosedError,
    PeerFailedError,
    QueueEmptyError,
    StoreError,
    StoreTimeoutError,
    TransportError,
)
from .iteration import IterationError, IterationResult, iterate
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .process_group import ProcessGroup
from .reduce_op import ReduceOp
from .runner import RankFailedError, report_progress, run
from .session import configure, jar_path
from .store import Store
from .work import Work

__version__ = _version.own() or "0+unknown"

__all__ = [
    "NON_GROUP_MEMBER",
    "BridgeError",
    "CollectiveError",
    "CollectiveMismatchError",
    "CollectiveTimeoutError",
    "GroupAbortedError",
    "GroupClosedError",
    "IterationError",
    "IterationResult",
    "P2POp",
    "PeerFailedError",
    "ProcessGroup",
    "QueueEmptyError",
    "RankFailedError",
    "ReduceOp",
    "Store",
    "StoreError",
    "StoreTimeoutError",
    "TransportError",
    "Work",
    "abort_process_group",
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_object",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "broadcast_object_list",
    "checkpoint",
    "configure",
    "destroy_process_group",
    "gather",
    "gather_object",
    "get_global_rank",
    "get_group_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "irecv",
    "is_available",
    "is_initialized",
    "isend",
    "iterate",
    "jar_path",
    "monitored_barrier",
    "new_group",
    "recv",
    "recv_object_list",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "report_progress",
    "restore",
    "run",
    "scatter",
    "scatter_object_list",
    "send",
    "send_object_list",
    "store",
    "world",
]
