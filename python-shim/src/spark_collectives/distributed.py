"""The functions of ``torch.distributed``, for numpy arrays and CPU tensors.

Ranks in this module are those of the world group, as in ``torch.distributed``, unless an argument's
name begins with ``group_``.
"""

from __future__ import annotations

from ._collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from ._groups import (
    NON_GROUP_MEMBER,
    Group,
    NonGroupMember,
    abort_process_group,
    destroy_process_group,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_initialized,
    new_group,
    world,
)
from ._point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from ._state import checkpoint, restore, store
from .process_group import ProcessGroup
from .reduce_op import ReduceOp
from .store import Store
from .work import Work

__all__ = [
    "NON_GROUP_MEMBER",
    "Group",
    "NonGroupMember",
    "P2POp",
    "ProcessGroup",
    "ReduceOp",
    "Store",
    "Work",
    "abort_process_group",
    "all_gather",
    "all_gather_into_tensor",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all",
    "all_to_all_single",
    "barrier",
    "batch_isend_irecv",
    "broadcast",
    "checkpoint",
    "destroy_process_group",
    "gather",
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
    "monitored_barrier",
    "new_group",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "restore",
    "scatter",
    "send",
    "store",
    "world",
]

# help() and pickles name this module, from which users import them.
for _name in __all__:
    if _name not in ("NON_GROUP_MEMBER", "Group", "ProcessGroup", "ReduceOp", "Store", "Work"):
        globals()[_name].__module__ = __name__
