"""One rank of a training with PyTorch's DistributedDataParallel on Gloo: times its steps as TrainingRank does.

Arguments: MiB of gradients, parameters, MiB of a bucket, milliseconds of a backward pass, seconds for each figure, hook. Rank, size
and address come from the environment. Rank 0 prints the median milliseconds of a step without communication, of one that does
nothing else, and of one with both.
"""

import contextlib
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks, powerSGD_hook

FEWEST_STEPS = 10


class Layer(torch.autograd.Function):
    """Passes its input on; its backward pass takes a while and then has a gradient."""

    @staticmethod
    def forward(ctx, x, weight, gradient, pause):
        ctx.gradient, ctx.pause = gradient, pause
        return x

    @staticmethod
    def backward(ctx, upstream):
        if ctx.pause[0]:
            time.sleep(ctx.pause[0])
        return upstream, ctx.gradient, None, None


class Model(torch.nn.Module):
    def __init__(self, parameters, rows, columns, pause):
        super().__init__()
        self.weights = torch.nn.ParameterList(torch.nn.Parameter(torch.zeros(rows, columns)) for _ in range(parameters))
        self.gradients = [torch.full((rows, columns), 0.5) for _ in range(parameters)]
        self.pause = pause

    def forward(self, x):
        for weight, gradient in zip(self.weights, self.gradients):
            x = Layer.apply(x, weight, gradient, self.pause)
        return x


def step(model, x, synchronises):
    with contextlib.nullcontext() if synchronises else model.no_sync():
        model(x).sum().backward()
    model.zero_grad(set_to_none=False)


def median_step(model, seconds, synchronises):
    x = torch.ones(1, requires_grad=True)
    for _ in range(3):
        step(model, x, synchronises)
    dist.barrier()
    times, begin, more = [], time.perf_counter(), torch.ones(1)
    while more.item():
        before = time.perf_counter()
        step(model, x, synchronises)
        times.append(time.perf_counter() - before)
        if len(times) % FEWEST_STEPS == 0:
            more[0] = float(time.perf_counter() - begin < seconds)
            dist.broadcast(more, 0)
    return 1e3 * statistics.median(times)


def main(mebibytes, parameters, bucket, milliseconds, seconds, hook):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    columns = 512
    rows = max(1, int(mebibytes * (1 << 18)) // parameters // columns)
    pause = [0.0]
    model = torch.nn.parallel.DistributedDataParallel(
        Model(parameters, rows, columns, pause), bucket_cap_mb=bucket, gradient_as_bucket_view=True)
    if hook == "float16":
        model.register_comm_hook(None, default_hooks.fp16_compress_hook)
    elif hook == "powersgd":
        state = powerSGD_hook.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
        model.register_comm_hook(state, powerSGD_hook.powerSGD_hook)
    communication = median_step(model, seconds, True)
    pause[0] = milliseconds / 1e3 / parameters
    local = median_step(model, seconds, False)
    both = median_step(model, seconds, True)
    if dist.get_rank() == 0:
        print(local, communication, both, flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]), sys.argv[6])
