"""The functions of ``torch.distributed``, for numpy arrays and CPU tensors.

Ranks in this module are those of the world group, as in ``torch.distributed``, unless an argument's
name begins with ``group_``.
"""

from __future__ import annotations

from ._backends import is_backend_available
from ._collectives import (
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    coalescing_manager,
    gather,
    monitored_barrier,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
)
from ._debug_level import (
    DebugLevel,
    get_debug_level,
    set_debug_level,
    set_debug_level_from_env,
)
from ._groups import (
    NON_GROUP_MEMBER,
    Group,
    GroupMember,
    NonGroupMember,
    abort_process_group,
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_available,
    is_initialized,
    set_timeout,
    world,
)
from ._point_to_point import P2POp, batch_isend_irecv, irecv, isend, recv, send
from ._state import checkpoint, restore, store
from ._subgroups import (
    SHRINK_ABORT,
    SHRINK_DEFAULT,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    shrink_group,
    split_group,
)
from .flight_recorder import FlightRecorder, stacks
from .futures import Future
from .process_group import ProcessGroup
from .reconfigurable_group import ReconfigurableGroup, reconfigurable
from .reduce_op import ReduceOp
from .store import Store
from .work import Work

__all__ = [
    "NON_GROUP_MEMBER",
    "SHRINK_ABORT",
    "SHRINK_DEFAULT",
    "DebugLevel",
    "FlightRecorder",
    "Future",
    "Group",
    "GroupMember",
    "NonGroupMember",
    "P2POp",
    "ProcessGroup",
    "ReconfigurableGroup",
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
    "coalescing_manager",
    "destroy_process_group",
    "gather",
    "get_backend",
    "get_backend_config",
    "get_debug_level",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "group",
    "init_process_group",
    "irecv",
    "is_available",
    "is_backend_available",
    "is_initialized",
    "isend",
    "monitored_barrier",
    "new_group",
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "reconfigurable",
    "recv",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_tensor",
    "restore",
    "scatter",
    "send",
    "set_debug_level",
    "set_debug_level_from_env",
    "set_timeout",
    "shrink_group",
    "split_group",
    "stacks",
    "store",
    "world",
]

# help() and pickles name this module, from which users import them.
for _name in __all__:
    if getattr(globals()[_name], "__module__", "").startswith("spark_collectives._"):
        globals()[_name].__module__ = __name__
