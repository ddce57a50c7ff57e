"""Calls of a group object of torch: all forms of each method, and what each method refuses."""

import datetime

import torch
import torch.distributed as dist
from torch.distributed import ReduceOp


def _options(kind, **values):
    options = kind()
    for name, value in values.items():
        setattr(options, name, value)
    return options


def _of(*values):
    return [torch.tensor([float(each)]) for each in values]


def all_forms(rank, size):
    """Call each method in each form; return the results by the name of the form."""
    group = dist.group.WORLD
    minute = datetime.timedelta(minutes=1)
    found = {}

    def done(name, work, *tensors):
        assert work.wait()
        found[name] = [tensor.tolist() for tensor in tensors]

    for name, call in {
        "broadcast options": lambda t: group.broadcast(
            [t], _options(dist.BroadcastOptions, rootRank=1)
        ),
        "broadcast root": lambda t: group.broadcast(t, 1),
        "broadcast keywords": lambda t: group.broadcast(tensor=t, root=1, timeout=minute),
        "broadcast default": lambda t: group.broadcast([t]),
        "allreduce options": lambda t: group.allreduce(
            [t], _options(dist.AllreduceOptions, reduceOp=ReduceOp.MAX)
        ),
        "allreduce op": lambda t: group.allreduce(t, ReduceOp.PRODUCT, minute),
        "allreduce keywords": lambda t: group.allreduce(tensors=[t], op=ReduceOp.MIN),
        "allreduce default": lambda t: group.allreduce(tensor=t),
        "allreduce coalesced": lambda t: group.allreduce_coalesced([t]),
        "reduce options": lambda t: group.reduce(
            [t], _options(dist.ReduceOptions, rootRank=rank * 0, reduceOp=ReduceOp.MAX)
        ),
        "reduce root": lambda t: group.reduce(t, 0, ReduceOp.PRODUCT, minute),
        "reduce keywords": lambda t: group.reduce(tensor=t, root=0),
    }.items():
        tensor = torch.tensor([rank + 2.0])
        work = call(tensor)
        done(name, work, *([] if name.startswith("reduce") and rank else [tensor]))

    lists = [_of(*[0] * (2 * size)) for _ in range(2)]
    done("allgather two", group.allgather(lists, _of(rank, rank + 10)), *lists[0], *lists[1])
    output = _of(*[0] * size)
    done("allgather tensor", group.allgather(output, torch.tensor([rank + 1.0])), *output)
    output = _of(*[0] * size)
    work = group.allgather(output_tensors=[output], input_tensors=_of(rank))
    done("allgather keywords", work, *output)
    whole = torch.zeros(size)
    done("all_gather_single", group.all_gather_single(output=whole, input=_of(rank)[0]), whole)
    output = [_of(0, 0) for _ in range(size)]
    done("allgather_coalesced", group.allgather_coalesced(output, _of(rank, 5)), *output[1])

    output = _of(*[0] * size) if rank == 1 else []
    done("gather root", group.gather(output, _of(rank)[0], 1, minute), *output)
    output = [_of(*[0] * size)] if rank == 1 else []
    options = _options(dist.GatherOptions, rootRank=1)
    done(
        "gather options",
        group.gather(output, _of(rank), options),
        *[each for of_rank in output for each in of_rank],
    )
    into = torch.zeros(1)
    inputs = _of(*range(5, 5 + size)) if rank == 1 else []
    done("scatter root", group.scatter(into, inputs, 1), into)
    into = torch.zeros(1)
    inputs = [_of(*range(5, 5 + size))] if rank == 1 else []
    options = _options(dist.ScatterOptions, rootRank=1)
    done("scatter options", group.scatter([into], inputs, options), into)

    into = torch.zeros(1)
    done("reduce_scatter op", group.reduce_scatter(into, _of(*range(size)), ReduceOp.SUM), into)
    into = torch.zeros(1)
    done("reduce_scatter lists", group.reduce_scatter([into], [_of(*range(size))]), into)
    into = torch.zeros(1)
    done("reduce_scatter_single", group.reduce_scatter_single(into, torch.ones(size)), into)
    into, whole = torch.zeros(size), torch.full((size,), float(rank))
    done("all_to_all_single", group.all_to_all_single(into, whole, [], []), into)
    into = torch.zeros(size)
    work = group.alltoall_base(into, whole, [1] * size, [1] * size, timeout=minute)
    done("alltoall_base", work, into)
    output = _of(*[0] * size)
    work = group.alltoall(output_tensors=output, input_tensors=_of(*[rank] * size))
    done("alltoall", work, *output)

    into = torch.zeros(1)
    if rank == 0:
        work = group.send(_of(7), dstRank=1, tag=3)
    else:
        work = group.recv([into], srcRank=0, tag=3)
    done("send and recv", work, into)
    done("barrier options", group.barrier(dist.BarrierOptions()))
    done("barrier timeout", group.barrier(timeout=minute))
    return found


def several_tensors(rank, size):
    """Call what takes several tensors of one process; return the results by name."""
    group = dist.group.WORLD
    found = {}
    tensors = _of(rank, rank + 10)
    options = _options(dist.BroadcastOptions, rootRank=1, rootTensor=1)
    group.broadcast(tensors, options).wait()
    found["broadcast"] = [tensor.item() for tensor in tensors]
    for op in (ReduceOp.SUM, ReduceOp.PRODUCT, ReduceOp.MIN, ReduceOp.MAX):
        tensors = _of(rank + 1, rank + 11)
        group.allreduce(tensors, op=op).wait()
        found[str(op)] = [tensor.item() for tensor in tensors]
    return found


#: What each call must be refused with, on rank 0 alone; the calls take the group.
REFUSED = [
    (
        "invalid root rank: -1",
        lambda g: g.broadcast(_of(1), _options(dist.BroadcastOptions, rootRank=-1)),
    ),
    ("invalid root rank: 5", lambda g: g.broadcast(torch.ones(1), 5)),
    (
        "invalid root tensor: 1",
        lambda g: g.broadcast(_of(1), _options(dist.BroadcastOptions, rootRank=0, rootTensor=1)),
    ),
    ("invalid tensor size", lambda g: g.broadcast([torch.ones(2), torch.ones(3)])),
    ("invalid tensor type", lambda g: g.broadcast([torch.ones(2), torch.ones(2).double()])),
    ("invalid tensor size", lambda g: g.allreduce([torch.ones(2), torch.ones(3)])),
    ("invalid tensor type", lambda g: g.allreduce([torch.ones(2), torch.ones(2).double()])),
    (
        "tensors must all have the same type",
        lambda g: g.allreduce_coalesced([torch.ones(2), torch.ones(2).double()]),
    ),
    (
        "requires input/output tensor lists to have the same length",
        lambda g: g.allgather([], _of(1)),
    ),
    (
        r"invalid output tensor list at index 0 \(expected length 2, got 1\)",
        lambda g: g.allgather([_of(1)], _of(1)),
    ),
    (
        "invalid tensor type at index 1",
        lambda g: g.allgather([[torch.ones(1), torch.ones(1).double()]], _of(1)),
    ),
    (
        "output lists should be equal to world size",
        lambda g: g.allgather_coalesced([_of(1)], _of(1)),
    ),
    (
        r"invalid output size: \(expected length 1, got 0\)",
        lambda g: g.allgather_coalesced([[], []], _of(1)),
    ),
    ("invalid root rank: -1", lambda g: g.gather([_of(1, 1)], _of(1), _gather(-1))),
    (
        "requires a single-element input tensor list",
        lambda g: g.gather([_of(1, 1)], _of(1, 1), _gather(0)),
    ),
    (
        "requires a single-element output list containing a list with 2 tensors",
        lambda g: g.gather([], _of(1), _gather(0)),
    ),
    (
        "Incorrect output list size 1. Output list size should be 2, same as size of the process",
        lambda g: g.gather([_of(1)], _of(1), _gather(0)),
    ),
    (
        "invalid tensor type at index 1",
        lambda g: g.gather([[torch.ones(1), torch.ones(1).double()]], _of(1), _gather(0)),
    ),
    (
        "invalid tensor size at index 1",
        lambda g: g.gather([[torch.ones(1), torch.ones(2)]], _of(1), _gather(0)),
    ),
    ("requires empty output on non-root", lambda g: g.gather([_of(1, 1)], _of(1), _gather(1))),
    ("invalid root rank: -1", lambda g: g.scatter(_of(1), [_of(1, 1)], _scatter(-1))),
    (
        "requires a single-element output tensor list",
        lambda g: g.scatter(_of(1, 1), [_of(1, 1)], _scatter(0)),
    ),
    (
        "requires a single-element input list containing a list with 2 tensors",
        lambda g: g.scatter(_of(1), [], _scatter(0)),
    ),
    (
        "Incorrect input list size 1. Input list size should be 2, same as size of the process",
        lambda g: g.scatter(_of(1), [_of(1)], _scatter(0)),
    ),
    ("requires empty input on non-root", lambda g: g.scatter(_of(1), [_of(1, 1)], _scatter(1))),
    (
        "invalid root rank: -1",
        lambda g: g.reduce(_of(1), _options(dist.ReduceOptions, rootRank=-1)),
    ),
    (
        "invalid root tensor: 1",
        lambda g: g.reduce(_of(1), _options(dist.ReduceOptions, rootRank=0, rootTensor=1)),
    ),
    (
        "requires a single-element tensor list",
        lambda g: g.reduce(_of(1, 1), _options(dist.ReduceOptions, rootRank=0)),
    ),
    (
        "invalid input tensor list size, must be world size",
        lambda g: g.reduce_scatter(_of(1), [_of(1)]),
    ),
    (
        "input tensor list size 1 does not match world size 2",
        lambda g: g.alltoall(_of(1), _of(1)),
    ),
    (
        "Split sizes doesn't match total dim 0 size",
        lambda g: g.all_to_all_single(torch.ones(2), torch.ones(2), [1, 2], [1, 1]),
    ),
    (
        "Tensor's dim 0 does not divide equally across group size",
        lambda g: g.all_to_all_single(torch.ones(3), torch.ones(3), [], []),
    ),
    ("takes a single tensor", lambda g: g.send(_of(1, 1), 1, 0)),
    ("", lambda g: g.broadcast([])),
    ("", lambda g: g.allreduce([])),
    ("", lambda g: g.allgather([_of(1, 1)], [])),
]


def _gather(root):
    return _options(dist.GatherOptions, rootRank=root)


def _scatter(root):
    return _options(dist.ScatterOptions, rootRank=root)


def refusals(rank, size):
    """Return what rank 0 is told of each refused call: the index, the kind and the text."""
    told = []
    if rank == 0:
        for index, (_, call) in enumerate(REFUSED):
            try:
                call(dist.group.WORLD)
            except Exception as e:
                told.append((index, isinstance(e, RuntimeError), str(e)))
            else:
                told.append((index, False, "was not refused"))
    dist.barrier()
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    assert tensor.item() == size
    return told


def lists_that_do_not_fit(rank, size):
    """Give rank 0's lists something that does not fit; nothing of them begins."""
    group = dist.group.WORLD
    double = torch.zeros(1, dtype=torch.float64)
    calls = [
        lambda: group.reduce_scatter_tensor_coalesced(_of(0), [torch.ones(size), torch.ones(size)]),
        lambda: group.reduce_scatter_tensor_coalesced(_of(0, 0), [torch.ones(size), torch.ones(1)]),
        lambda: group.allgather_into_tensor_coalesced([torch.ones(size)], _of(0, 0)),
        lambda: group.allgather_into_tensor_coalesced([torch.ones(size)] * 2, [_of(0)[0], double]),
        lambda: group.allgather([_of(*[0] * (2 * size)), [*_of(0), double] * size], _of(1, 1)),
        lambda: group.allgather([_of(*[0] * (2 * size))] * 2, [_of(1)[0], torch.ones(2)]),
        lambda: group.allgather_coalesced([[*_of(0), double]] * size, _of(0, 0)),
        lambda: group.gather_single(torch.ones(size + 1), torch.ones(1), _gather(0)),
    ]
    refused = []
    if rank == 0:
        for call in calls:
            try:
                call()
            except ValueError as e:
                refused.append(str(e).partition(":")[0])
    tensor = torch.ones(1)
    dist.all_reduce(tensor)
    assert tensor.item() == size
    return refused


def tensors_without_elements(rank, size):
    """Gather nothing in one tensor."""
    output = torch.empty(0) if rank == 0 else None
    dist.group.WORLD.gather_single(output, torch.empty(0), _gather(0)).wait()
    output = torch.empty(0, 3) if rank == 0 else None
    dist.group.WORLD.gather_single(output, torch.empty(0, 3), _gather(0)).wait()
    return True


def missed_barriers(rank, size):
    """Return what rank 0 is told of monitored barriers to which no other rank comes."""
    told = []
    group = dist.new_group()
    if rank == 0:
        for seconds, every in ((0.1, False), (0.1, True), (0, False)):
            try:
                group.monitored_barrier(datetime.timedelta(seconds=seconds), every)
            except RuntimeError as e:
                told.append(str(e))
    dist.barrier()
    return told


def late_works(rank, size):
    """Return the kinds and texts of the errors of operations to which other ranks do not come."""
    told = []
    group = dist.new_group()
    if rank == 0:
        for call in (
            lambda: group.recv([torch.ones(1)], 1, 9).wait(datetime.timedelta(milliseconds=50)),
            lambda: dist.barrier(group, timeout=datetime.timedelta(milliseconds=1)),
        ):
            try:
                call()
            except RuntimeError as e:
                told.append((isinstance(e, dist.DistBackendError), str(e)))
    dist.barrier()
    return told


def sequence_numbers(rank, size):
    """Return by how much some collectives raise the group's sequence number."""
    group = dist.new_group()
    before = group._get_sequence_number_for_group()
    for _ in range(3):
        dist.all_reduce(torch.ones(1), group=group)
    dist.broadcast(torch.ones(1), 0, group=group)
    return group._get_sequence_number_for_group() - before
