"""Every operation of torch.distributed, on every rank of a job."""

import traceback

import torch.distributed as dist

import torch_distribution_cases as distribution
import torch_group_cases as groups
import torch_message_cases as messages
import torch_reduction_cases as reductions

CASES = [
    reductions.all_reduce,
    reductions.all_reduce_premultiplied,
    reductions.all_reduce_of_strided_tensors,
    distribution.strided_tensors,
    reductions.all_reduce_of_nothing_and_of_scalars,
    reductions.all_reduce_of_parameters,
    reductions.all_reduce_of_sparse_tensors,
    reductions.all_reduce_in_shared_memory,
    reductions.asynchronous_works,
    reductions.dropped_works,
    reductions.dropped_works_with_futures,
    reductions.callbacks_that_wait,
    reductions.tensors_that_get_other_memory,
    distribution.broadcast,
    reductions.reduce,
    distribution.all_gather,
    distribution.all_gather_into_tensor,
    distribution.gather,
    distribution.scatter,
    reductions.reduce_scatter,
    reductions.reduce_scatter_tensor,
    distribution.all_to_all_single,
    distribution.all_to_all_single_of_uneven_parts,
    distribution.all_to_all,
    messages.messages,
    messages.messages_by_tag,
    messages.messages_of_whoever_sends,
    messages.batched_messages,
    groups.objects,
    groups.barriers,
    groups.groups_of_some_ranks,
    groups.groups_that_are_split,
    groups.a_group_that_is_shrunk,
    groups.meshes_of_devices,
    groups.coalesced_operations,
    groups.functional_collectives,
]


def run_all(rank, size, cases=CASES):
    """Run the cases; return the failures by name."""
    import spark_collectives

    outcomes = {}
    for case in cases:
        try:
            case(rank, size)
        except spark_collectives.CollectiveError as e:
            # The group has ended, so no further case can run.
            raise RuntimeError(f"{case.__name__} has ended the group: {e}") from e
        except Exception:
            outcomes[case.__name__] = traceback.format_exc()
        # A receive from any rank must not get messages of the next case.
        dist.barrier()
    return outcomes
