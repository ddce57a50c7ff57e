"""What takes a GPU: streams, and training. Each case is called with the rank and the size."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import torch_training
from torch_values import same

DEVICE = torch.device("cuda", 0)


def _busy(milliseconds=50):
    """Let the current stream be busy for a while."""
    torch.cuda._sleep(int(milliseconds * 1e6))


def an_operation_waits_for_the_stream(rank, size):
    tensor = torch.zeros(100_000, device=DEVICE)
    _busy()
    tensor += rank + 1
    dist.all_reduce(tensor)
    same(tensor.cpu(), torch.full((100_000,), size * (size + 1) / 2))


def a_result_waits_for_its_readers(rank, size):
    # What the stream has yet to read must not be overwritten by a result that comes early.
    output = torch.full((100_000 * size,), 7.0, device=DEVICE)
    source = torch.full((100_000,), float(rank), device=DEVICE)
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        _busy(200)
        before = output.clone()
        work = dist.all_gather_into_tensor(
            output, torch.full((100_000,), float(rank)), async_op=True
        )
        work.wait()
    torch.cuda.synchronize()
    assert before.eq(7).all().item()
    dist.all_gather_into_tensor(output, source)
    for other in range(size):
        assert output[other * 100_000 : (other + 1) * 100_000].eq(other).all().item()


def a_result_is_seen_by_all_streams(rank, size):
    for _ in range(20):
        tensor = torch.zeros(300, 300, device=DEVICE).t()[::2]
        tensor += rank + 1
        work = dist.all_reduce(tensor, async_op=True)
        work.wait()
        with torch.cuda.stream(torch.cuda.Stream()):
            seen = tensor.clone()
            torch.cuda.current_stream().synchronize()
        assert seen.eq(size * (size + 1) / 2).all().item()


def callbacks_of_futures_are_seen_by_the_stream(rank, size):
    def double(future):
        _busy(5)
        return future.value()[0] * 2

    for _ in range(20):
        with torch.cuda.stream(torch.cuda.Stream()):
            tensor = torch.full((200_000,), float(rank + 1), device=DEVICE)
            future = dist.all_reduce(tensor, async_op=True).get_future().then(double)
            result = future.wait().clone()
            torch.cuda.current_stream().synchronize()
        assert result.eq(size * (size + 1)).all().item()


def _model():
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))


def _losses(model, rank, size, steps=5):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = (each.to(DEVICE) for each in torch_training.samples(64).tensors)
    share = slice(rank * (64 // size), (rank + 1) * (64 // size))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        output = model(images[share].flatten(1))
        loss = torch.nn.functional.cross_entropy(output, labels[share])
        loss.backward()
        optimizer.step()
        mean = loss.detach().clone()
        dist.all_reduce(mean)
        losses.append(mean.item() / size)
    return losses


def _are_those_of_one_process(losses, tolerance=1e-3):
    expected = torch_training.losses_of_one_process()
    torch.testing.assert_close(
        torch.tensor(losses), torch.tensor(expected), rtol=tolerance, atol=tolerance
    )


def ddp(rank, size):
    _are_those_of_one_process(
        _losses(DistributedDataParallel(_model().to(DEVICE), device_ids=[0]), rank, size)
    )


def ddp_on_a_stream_of_its_own(rank, size):
    with torch.cuda.stream(torch.cuda.Stream()):
        model = DistributedDataParallel(_model().to(DEVICE), bucket_cap_mb=0.001)
        _are_those_of_one_process(_losses(model, rank, size))


def ddp_with_hooks(rank, size):
    from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

    for hook in (
        default_hooks.allreduce_hook,
        default_hooks.fp16_compress_hook,
        default_hooks.bf16_compress_hook,
    ):
        model = DistributedDataParallel(_model().to(DEVICE), device_ids=[0])
        model.register_comm_hook(None, hook)
        _are_those_of_one_process(_losses(model, rank, size), 2e-2)


def ddp_with_buffers(rank, size):
    model = DistributedDataParallel(torch_training.network().to(DEVICE), device_ids=[0])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    images, labels = (each.to(DEVICE) for each in torch_training.samples(64).tensors)
    for _ in range(3):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images[rank::size]), labels[rank::size]).backward()
        optimizer.step()
    weights = torch.cat([each.detach().flatten() for each in model.parameters()])
    first = weights.clone()
    dist.broadcast(first, 0)
    same(weights, first)


def synchronized_batch_norm(rank, size):
    torch.manual_seed(3)
    rows = torch.randn(8 * size, 5, device=DEVICE)
    rows_of_all = rows.clone()
    dist.broadcast(rows_of_all, 0)
    one = torch.nn.BatchNorm1d(5).to(DEVICE)
    layer = torch.nn.SyncBatchNorm.convert_sync_batchnorm(torch.nn.BatchNorm1d(5)).to(DEVICE)
    expected = one(rows_of_all)[rank * 8 : rank * 8 + 8]
    actual = DistributedDataParallel(layer)(rows_of_all[rank * 8 : rank * 8 + 8])
    torch.testing.assert_close(actual, expected, rtol=1e-4, atol=1e-4)


def fully_sharded(rank, size):
    from torch.distributed.fsdp import FullyShardedDataParallel

    model = FullyShardedDataParallel(_model().to(DEVICE), device_id=DEVICE)
    _are_those_of_one_process(_losses(model, rank, size))


def composably_sharded(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = _model().to(DEVICE)
    mesh = init_device_mesh("cuda", (size,))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    _are_those_of_one_process(_losses(model, rank, size))


def distributed_tensors(rank, size):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cuda", (size,))
    whole = torch.arange(size * 6.0, device=DEVICE).reshape(size * 2, 3)
    sharded = distribute_tensor(whole, mesh, [Shard(0)])
    assert sharded.to_local().shape == (2, 3)
    same(sharded.full_tensor(), whole)
    total = sharded.sum().redistribute(mesh, [Replicate()]).to_local()
    assert total.item() == whole.sum().item()


CASES = [
    an_operation_waits_for_the_stream,
    a_result_waits_for_its_readers,
    a_result_is_seen_by_all_streams,
    callbacks_of_futures_are_seen_by_the_stream,
    ddp,
    ddp_on_a_stream_of_its_own,
    ddp_with_hooks,
    ddp_with_buffers,
    synchronized_batch_norm,
    fully_sharded,
    composably_sharded,
    distributed_tensors,
]
