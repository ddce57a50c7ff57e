"""Training as users write it, for any backend."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def network():
    torch.manual_seed(7)
    return torch.nn.Sequential(
        torch.nn.Unflatten(1, (1, 8)),
        torch.nn.Conv2d(1, 4, 3, padding=1),
        torch.nn.BatchNorm2d(4),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(256, 10),
    )


def samples(count=256):
    generator = torch.Generator().manual_seed(11)
    images = torch.rand(count, 8, 8, generator=generator)
    labels = torch.randint(0, 10, (count,), generator=generator)
    return TensorDataset(images, labels)


def train(model, batches, optimizer):
    losses = []
    for images, labels in batches:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def ddp_losses(rank, size, hook=None):
    """Return the losses and the parameters of some epochs with DistributedDataParallel."""
    model = DistributedDataParallel(network(), bucket_cap_mb=0.01)
    if hook is not None:
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

        model.register_comm_hook(None, getattr(default_hooks, hook))
    data = samples()
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for epoch in range(3):
        sampler.set_epoch(epoch)
        losses += train(model, loader, optimizer)
    weights = torch.cat([each.detach().flatten() for each in model.parameters()])
    return losses, weights.tolist()


def ddp_losses_with_power_sgd(rank, size):
    """Return the losses with a hook that waits, in callbacks, for further collectives."""
    from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook

    # One bucket: with several, the order of their collectives differs between the ranks.
    model = DistributedDataParallel(network(), bucket_cap_mb=25)
    state = powerSGD_hook.PowerSGDState(None, 1, start_powerSGD_iter=2, warm_start=False)
    model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(samples(), batch_size=16)
    return [loss for _ in range(3) for loss in train(model, loader, optimizer)]


def ddp_of_uneven_inputs(rank, size):
    """Train with different numbers of batches and join(); return the mean of a weight."""
    torch.manual_seed(1)
    model = DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with model.join():
        for _ in range(rank + 2):
            optimizer.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()
    return model.module.weight.detach().flatten().tolist()


def ddp_of_sparse_gradients(rank, size):
    torch.manual_seed(5)
    model = DistributedDataParallel(torch.nn.EmbeddingBag(20, 3, sparse=True, mode="sum"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for step in range(3):
        optimizer.zero_grad()
        model(torch.tensor([[rank, step + 5]])).sum().backward()
        optimizer.step()
    return model.module.weight.detach().flatten().tolist()


def fully_sharded_losses(rank, size):
    from torch.distributed.fsdp import FullyShardedDataParallel

    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    sharded = FullyShardedDataParallel(model, device_id=torch.device("cpu"))
    return _losses_of_own_share(sharded, rank, size)


def composably_sharded_losses(rank, size):
    try:
        from torch.distributed.fsdp import fully_shard
    except ImportError:
        return None
    from torch.distributed.device_mesh import init_device_mesh

    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    mesh = init_device_mesh("cpu", (size,))
    for layer in model:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return _losses_of_own_share(model, rank, size)


def _losses_of_own_share(model, rank, size):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = samples(64).tensors
    share = slice(rank * (64 // size), (rank + 1) * (64 // size))
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        output = model(images[share].flatten(1))
        loss = torch.nn.functional.cross_entropy(output, labels[share])
        loss.backward()
        optimizer.step()
        mean = loss.detach()
        dist.all_reduce(mean)
        losses.append(mean.item() / size)
    return losses


def losses_of_one_process():
    """Return the losses of the sharded trainings, computed without ranks."""
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(64, 32), torch.nn.ReLU(), torch.nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    images, labels = samples(64).tensors
    return train(model, [(images.flatten(1), labels)] * 5, optimizer)


def several(rank, size, wanted):
    """Run several of these functions, given as (name, arguments); return their results."""
    return {each: globals()[each[0]](rank, size, *each[1]) for each in wanted}
