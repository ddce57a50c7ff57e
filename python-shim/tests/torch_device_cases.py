"""Operations of torch.distributed on tensors of another device than the CPU.

A case is called with the rank and the size, while torch's default device is the one to try.
"""

import contextlib

import torch
import torch.distributed as dist

from torch_values import COUNT, reduced, same, stacked, values


@contextlib.contextmanager
def default_device(name):
    """Let tensors be of a device unless they name another one."""
    if name == "otherdevice":
        import other_device

        other_device.register()
    torch.set_default_device(name)
    try:
        assert torch.zeros(1).device.type == name
        yield
    finally:
        torch.set_default_device(None)


def _on_cpu(rank, count=COUNT):
    with torch.device("cpu"):
        return values(rank, torch.float32, count)


def _total(size, count=COUNT):
    with torch.device("cpu"):
        return reduced(size, torch.float32, dist.ReduceOp.SUM, count)


def results_are_those_of_the_cpu(rank, size):
    for count in (1, COUNT, 20_000, 3_000_000):
        tensor = values(rank, torch.float32, count)
        dist.all_reduce(tensor)
        expected = _on_cpu(rank, count)
        dist.all_reduce(expected)
        same(tensor.cpu(), expected)


def a_tensor_that_is_only_read_stays(rank, size):
    tensor = values(rank, torch.float32)
    outputs = [torch.zeros(COUNT) for _ in range(size)]
    dist.all_gather(outputs, tensor)
    same(tensor.cpu(), _on_cpu(rank))


def devices_are_mixed(rank, size):
    outputs = [
        torch.zeros(COUNT, device="cpu") if i % 2 else torch.zeros(COUNT) for i in range(size)
    ]
    dist.all_gather(outputs, values(rank, torch.float32))
    for other, output in enumerate(outputs):
        assert output.is_cpu == bool(other % 2) or torch.zeros(1).is_cpu
        same(output.cpu(), _on_cpu(other))
    output = torch.zeros(size * COUNT)
    dist.all_gather_into_tensor(output, _on_cpu(rank))
    same(output, stacked(size, torch.float32).flatten())


def objects_travel_by_the_cpu(rank, size):
    gathered = [None] * size
    with torch.device("cpu"):
        dist.all_gather_object(gathered, {"rank": rank})
    assert gathered == [{"rank": other} for other in range(size)]


def several_operations_are_under_way(rank, size):
    tensors = [values(rank, torch.float32, 50_000 + i) for i in range(12)]
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    for i in reversed(range(12)):
        works[i].wait()
        same(tensors[i].cpu(), _total(size, 50_000 + i))


def a_completed_work_has_its_result(rank, size):
    tensor = values(rank, torch.float32, 70_000)
    work = dist.all_reduce(tensor, async_op=True)
    while not work.is_completed():
        pass
    assert work.is_success()
    same(tensor.cpu(), _total(size, 70_000))


def futures_have_results(rank, size):
    tensors = [values(rank, torch.float32, 40_000 + i) for i in range(6)]
    futures = [dist.all_reduce(each, async_op=True).get_future() for each in tensors]
    doubled = [each.then(lambda done: done.value()[0] * 2) for each in futures]
    for i, future in enumerate(doubled):
        same(future.wait().cpu(), 2 * _total(size, 40_000 + i))


def tensors_of_a_list_are_reduced_together(rank, size):
    pair = [values(rank, torch.float32), values(rank, torch.float32)]
    dist.group.WORLD.allreduce(pair).wait()
    for each in pair:
        same(each.cpu(), 2 * _total(size))
    pair = [values(rank, torch.float32), values(rank + 1, torch.float32)]
    dist.group.WORLD.broadcast(pair, 0).wait()
    for each in pair:
        same(each.cpu(), _on_cpu(0))


def a_dropped_work_has_its_result_when_a_later_one_has_ended(rank, size):
    tensors = [values(rank, torch.float32, count) for count in (10, 70_000)]
    pair = [values(rank, torch.float32), values(rank, torch.float32)]
    for each in tensors:
        dist.all_reduce(each, async_op=True)
    dist.group.WORLD.allreduce(pair)
    dist.barrier()
    for each in tensors:
        same(each.cpu(), _total(size, each.numel()))
    for each in pair:
        same(each.cpu(), 2 * _total(size))


def a_result_is_there_after_a_barrier_though_a_future_waits_for_it(rank, size):
    for _ in range(20):
        tensor = values(rank, torch.float32, 70_000)
        future = dist.all_reduce(tensor, async_op=True).get_future()
        dist.barrier()
        same(tensor.cpu(), _total(size, 70_000))
        future.wait()


def a_meta_tensor_is_refused(rank, size):
    for call in (
        lambda: dist.all_reduce(torch.ones(2, device="meta")),
        lambda: dist.all_gather_into_tensor(torch.ones(2, device="meta"), torch.ones(1)),
    ):
        try:
            call()
        except ValueError as e:
            assert f"of rank {rank}" in str(e) and "device meta" in str(e), e
        else:
            raise AssertionError("a tensor without contents was taken")


def a_barrier_takes_a_device(rank, size):
    dist.barrier(device_ids=[0])
    dist.barrier(device_ids=[0], async_op=True).wait()


CASES = [
    results_are_those_of_the_cpu,
    a_tensor_that_is_only_read_stays,
    devices_are_mixed,
    objects_travel_by_the_cpu,
    several_operations_are_under_way,
    a_completed_work_has_its_result,
    futures_have_results,
    tensors_of_a_list_are_reduced_together,
    a_dropped_work_has_its_result_when_a_later_one_has_ended,
    a_result_is_there_after_a_barrier_though_a_future_waits_for_it,
    a_meta_tensor_is_refused,
    a_barrier_takes_a_device,
]
