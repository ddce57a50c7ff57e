"""Every operation with every type, checked against numpy on the ranks themselves.

A rank knows what all others give, because it follows from their numbers.
"""

import traceback

import numpy as np

import spark_collectives as dist
from spark_collectives import ReduceOp

FLOATING = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
INTEGER = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGER, *FLOATING, *COMPLEX)

#: A size that fits into a slot of small operations, and one that does not.
COUNTS = (7, 5000)


def given(rank, dtype, count, salt=0):
    """Return the input of a rank: small numbers, whose sums are exact in every type."""
    random = np.random.default_rng(1000 * salt + rank)
    if dtype == "bool":
        return random.integers(0, 2, count).astype(bool)
    values = random.integers(0, 4, count)
    if dtype in COMPLEX:
        return (values + 1j * random.integers(0, 4, count)).astype(dtype)
    return values.astype(dtype)


def _reduced(op, arrays):
    stack = np.stack(arrays)
    if stack.dtype == bool:
        return {
            "SUM": stack.any(0),
            "PRODUCT": stack.all(0),
            "MIN": stack.all(0),
            "MAX": stack.any(0),
            "BAND": stack.all(0),
            "BOR": stack.any(0),
            "BXOR": np.bitwise_xor.reduce(stack, 0),
        }[op]
    if op == "AVG":
        return (stack.sum(0) / len(arrays)).astype(stack.dtype)
    by_name = {
        "SUM": np.add,
        "PRODUCT": np.multiply,
        "MIN": np.minimum,
        "MAX": np.maximum,
        "BAND": np.bitwise_and,
        "BOR": np.bitwise_or,
        "BXOR": np.bitwise_xor,
    }
    return by_name[op].reduce(stack, 0, dtype=stack.dtype)


def reductions(dtype):
    if dtype == "bool":
        return ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")
    if dtype in COMPLEX:
        return ("SUM", "AVG")
    if dtype in FLOATING:
        return ("SUM", "AVG", "PRODUCT", "MIN", "MAX")
    if dtype in ("uint16", "uint32", "uint64"):
        return ("SUM", "PRODUCT", "BAND", "BOR", "BXOR")
    return ("SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR")


def _same(actual, expected):
    if actual.dtype.kind in "fc":
        np.testing.assert_allclose(actual, expected, rtol=1e-3 if actual.dtype == "f2" else 1e-6)
    else:
        np.testing.assert_array_equal(actual, expected)


def all_reduce(rank, size, dtype, count):
    for op in reductions(dtype):
        array = given(rank, dtype, count)
        dist.all_reduce(array, getattr(ReduceOp, op))
        _same(array, _reduced(op, [given(each, dtype, count) for each in range(size)]))


def all_reduce_coalesced(rank, size, dtype, count):
    arrays = [given(rank, dtype, count, salt) for salt in range(3)]
    dist.all_reduce_coalesced(arrays, ReduceOp.SUM)
    for salt, array in enumerate(arrays):
        _same(array, _reduced("SUM", [given(each, dtype, count, salt) for each in range(size)]))


def reduce(rank, size, dtype, count):
    for root in range(size):
        array = given(rank, dtype, count)
        dist.reduce(array, dst=root)
        all_ = [given(each, dtype, count) for each in range(size)]
        _same(array, _reduced("SUM", all_) if rank == root else given(rank, dtype, count))


def broadcast(rank, size, dtype, count):
    for root in range(size):
        array = given(rank, dtype, count)
        dist.broadcast(array, src=root)
        _same(array, given(root, dtype, count))


def all_gather(rank, size, dtype, count):
    outputs = [np.empty(count + each, dtype) for each in range(size)]
    dist.all_gather(outputs, given(rank, dtype, count + rank))
    for each in range(size):
        _same(outputs[each], given(each, dtype, count + each))


def all_gather_into_tensor(rank, size, dtype, count):
    output = np.empty((size, count), dtype)
    dist.all_gather_into_tensor(output, given(rank, dtype, count))
    _same(output, np.stack([given(each, dtype, count) for each in range(size)]))


def gather(rank, size, dtype, count):
    for root in range(size):
        outputs = [np.empty(count, dtype) for _ in range(size)] if rank == root else None
        dist.gather(given(rank, dtype, count), outputs, dst=root)
        for each in range(size if rank == root else 0):
            _same(outputs[each], given(each, dtype, count))


def scatter(rank, size, dtype, count):
    for root in range(size):
        inputs = [given(root, dtype, count, salt) for salt in range(size)]
        output = np.empty(count, dtype)
        dist.scatter(output, inputs if rank == root else None, src=root)
        _same(output, given(root, dtype, count, rank))


def reduce_scatter(rank, size, dtype, count):
    output = np.empty(count, dtype)
    dist.reduce_scatter(output, [given(rank, dtype, count, part) for part in range(size)])
    _same(output, _reduced("SUM", [given(each, dtype, count, rank) for each in range(size)]))


def reduce_scatter_tensor(rank, size, dtype, count):
    output = np.empty(count, dtype)
    whole = np.concatenate([given(rank, dtype, count, part) for part in range(size)])
    dist.reduce_scatter_tensor(output, whole)
    _same(output, _reduced("SUM", [given(each, dtype, count, rank) for each in range(size)]))


def all_to_all_single(rank, size, dtype, count):
    output = np.empty(size * count, dtype)
    whole = np.concatenate([given(rank, dtype, count, part) for part in range(size)])
    dist.all_to_all_single(output, whole)
    _same(output, np.concatenate([given(each, dtype, count, rank) for each in range(size)]))


def all_to_all_single_uneven(rank, size, dtype, count):
    # Rank i sends j + 1 rows of two to rank j.
    rows = [given(rank, dtype, 2 * (part + 1), part).reshape(-1, 2) for part in range(size)]
    output = np.empty((size * (rank + 1), 2), dtype)
    dist.all_to_all_single(
        output, np.concatenate(rows), [rank + 1] * size, [part + 1 for part in range(size)]
    )
    from_all = [given(each, dtype, 2 * (rank + 1), rank).reshape(-1, 2) for each in range(size)]
    _same(output, np.concatenate(from_all))


def all_to_all(rank, size, dtype, count):
    outputs = [np.empty(count + each, dtype) for each in range(size)]
    dist.all_to_all(outputs, [given(rank, dtype, count + rank, part) for part in range(size)])
    for each in range(size):
        _same(outputs[each], given(each, dtype, count + each, rank))


def send_and_recv(rank, size, dtype, count):
    if size == 1:
        return
    next_, previous = (rank + 1) % size, (rank - 1) % size
    array = np.empty(count, dtype)
    if rank % 2 == 0:
        dist.send(given(rank, dtype, count), next_, tag=3)
        source = dist.recv(array, previous, tag=3)
    else:
        source = dist.recv(array, previous, tag=3)
        dist.send(given(rank, dtype, count), next_, tag=3)
    assert source == previous
    _same(array, given(previous, dtype, count))


def batch_isend_irecv(rank, size, dtype, count):
    if size == 1:
        return
    next_, previous = (rank + 1) % size, (rank - 1) % size
    array = np.empty(count, dtype)
    works = dist.batch_isend_irecv(
        [
            dist.P2POp(dist.isend, given(rank, dtype, count), next_),
            dist.P2POp(dist.irecv, array, previous),
        ]
    )
    for work in works:
        work.wait()
    assert works[1].source_rank() == previous
    _same(array, given(previous, dtype, count))


def asynchronous(rank, size, dtype, count):
    arrays = [given(rank, dtype, count, salt) for salt in range(4)]
    works = [dist.all_reduce(array, async_op=True) for array in arrays]
    for salt, work in enumerate(works):
        assert work.wait() is True
        assert work.is_completed() and work.is_success() and work.exception() is None
        expected = [given(each, dtype, count, salt) for each in range(size)]
        _same(arrays[salt], _reduced("SUM", expected))


def in_memory_of_the_group(rank, size, dtype, count):
    group = dist.world()
    array = group.empty((count,), dtype)
    array[:] = given(rank, dtype, count)
    output = group.zeros((size, count), dtype)
    dist.all_gather_into_tensor(output, array)
    _same(output, np.stack([given(each, dtype, count) for each in range(size)]))
    dist.all_reduce(array)
    _same(array, _reduced("SUM", [given(each, dtype, count) for each in range(size)]))


def strided(rank, size, dtype, count):
    whole = np.repeat(given(rank, dtype, count), 2)
    dist.all_reduce(whole[::2])
    _same(whole[::2], _reduced("SUM", [given(each, dtype, count) for each in range(size)]))
    _same(whole[1::2], given(rank, dtype, count))


def all_reduce_in_parts(rank, size, dtype, count):
    """Reduce a large array; ranks have it in different memory, or begin it differently."""
    if count < 5000 or dtype not in ("int8", "float16", "float32", "uint64", "complex128"):
        return
    large = 5 * 2**20 // np.dtype(dtype).itemsize + 17
    expected = _reduced("SUM", [given(each, dtype, large) for each in range(size)])
    for turn in range(4):
        way = (rank + turn) % 4
        if way == 3:
            array = dist.world().empty(large, dtype)
        elif way == 2:
            array = np.empty(2 * large, dtype)[::2]
        else:
            array = np.empty(large, dtype)
        array[:] = given(rank, dtype, large)
        work = dist.all_reduce(array, async_op=way == 1)
        if way == 1:
            work.wait()
        _same(array, expected)


OPERATIONS = (
    all_reduce,
    all_reduce_in_parts,
    all_reduce_coalesced,
    reduce,
    broadcast,
    all_gather,
    all_gather_into_tensor,
    gather,
    scatter,
    reduce_scatter,
    reduce_scatter_tensor,
    all_to_all_single,
    all_to_all_single_uneven,
    all_to_all,
    send_and_recv,
    batch_isend_irecv,
    asynchronous,
    in_memory_of_the_group,
    strided,
)


def run_all(rank, size, mapped):
    """Run all cases; return the failure of each, by operation and type."""
    from spark_collectives import _task

    _task.current().can_map = mapped
    outcomes = {}
    for operation in OPERATIONS:
        for dtype in DTYPES:
            outcome = ""
            try:
                for count in COUNTS:
                    operation(rank, size, dtype, count)
            except dist.CollectiveError:
                # The group has ended, so no further case can run.
                raise
            except Exception:
                outcome = traceback.format_exc()
            outcomes[operation.__name__, dtype] = outcome
    return outcomes
