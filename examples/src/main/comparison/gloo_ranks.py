"""One rank of a Gloo group: measures an operation as CollectivesBenchmark does.

Arguments: operation, seconds for each count, counts. Rank, size and address come from the environment, as torch.distributed reads
them. Rank 0 prints a line for each count: the count, the median time, and the processor time of each rank and operation, in microseconds.
"""

import statistics
import sys
import time

import torch
import torch.distributed as dist

FEWEST_ITERATIONS = 5
LONGEST_BLOCK = 1 << 16


def operation_on(name, count, size):
    """A function that runs the operation once, on zeros."""
    one = torch.zeros(count, dtype=torch.float32)
    each = torch.zeros(count * size, dtype=torch.float32)
    other = torch.zeros(count * size, dtype=torch.float32)
    return {
        "all-reduce": lambda: dist.all_reduce(one),
        "broadcast": lambda: dist.broadcast(one, 0),
        "all-gather": lambda: dist.all_gather_into_tensor(each, one),
        "reduce-scatter": lambda: dist.reduce_scatter_tensor(one, each),
        "all-to-all": lambda: dist.all_to_all_single(other, each),
        "barrier": dist.barrier,
    }[name]


def block(run, iterations):
    """The time of each iteration on the slowest rank, in nanoseconds."""
    nanos = torch.zeros(iterations, dtype=torch.int64)
    times = [0] * iterations
    last = time.perf_counter_ns()
    for i in range(iterations):
        run()
        now = time.perf_counter_ns()
        times[i] = now - last
        last = now
    nanos[:] = torch.tensor(times)
    dist.all_reduce(nanos, dist.ReduceOp.MAX)
    return nanos.tolist()


def run_for(run, seconds):
    times, length = [], 1
    while len(times) < FEWEST_ITERATIONS or sum(times) < seconds * 1e9:
        times += block(run, length)
        length = min(2 * length, LONGEST_BLOCK)
    return times


def main(name, seconds, counts):
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    for count in counts:
        run = operation_on(name, count, dist.get_world_size())
        run_for(run, seconds / 5)
        before = time.process_time_ns()
        times = run_for(run, seconds)
        used = torch.tensor([time.process_time_ns() - before])
        dist.all_reduce(used)
        if dist.get_rank() == 0:
            print(count, statistics.median(times) / 1e3, used.item() / 1e3 / dist.get_world_size() / len(times), flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]), [int(each) for each in sys.argv[3:]])
