"""Times all-reduce of torch tensors in PySpark barrier tasks, with the backends spark and gloo.

The same ranks have a group of each, and use them in turn, size by size and several times over. A
time is that of the slowest rank; what is printed is the median over the rounds. Before the first
round the backend spark is used for a while: the JVMs compile what the calls run, which takes long
where more of them than processors do so at once.

    python examples/python/compare_with_gloo.py
"""

import argparse
import statistics

import digits

KIBI = 1024
SIZES = [KIBI, 4 * KIBI, 16 * KIBI, 64 * KIBI, 256 * KIBI]
SIZES += [KIBI * KIBI * n for n in (1, 4, 16, 64)]


def measure(sizes, rounds, seconds, warmup):
    """What each rank does; rank 0 yields (round, kind, bytes, seconds of one all-reduce)."""
    import time

    import torch
    import torch.distributed as dist

    import spark_collectives.torch

    torch.set_num_threads(1)

    dist.init_process_group("spark")
    gloo = dist.new_group(backend="gloo")
    # What makes the tensor, and the group that reduces it; None is the default group.
    kinds = {
        "gloo": (torch.zeros, gloo),
        "spark": (torch.zeros, None),
        "spark, shared": (lambda n: spark_collectives.torch.empty(n).zero_(), None),
    }

    def slowest(value):
        result = torch.tensor([value], dtype=torch.float64)
        dist.all_reduce(result, op=dist.ReduceOp.MAX)
        return float(result)

    def time_of(tensor, group, repeats):
        dist.barrier(group=group)
        begin = time.perf_counter()
        for _ in range(repeats):
            # The sum of zeros does not grow, however often it is repeated.
            dist.all_reduce(tensor, group=group)
        return slowest((time.perf_counter() - begin) / repeats)

    def measured(kind, size, seconds):
        make, group = kinds[kind]
        tensor = make(size // 4)
        # As many as take the time that was asked for, the same on all ranks.
        estimate = time_of(tensor, group, 5)
        return time_of(tensor, group, max(5, int(seconds / estimate)))

    compiled = ("spark", "spark, shared")
    for size in sizes:
        for kind in compiled:
            measured(kind, size, warmup / (len(sizes) * len(compiled)))

    for round_ in range(rounds):
        for size in sizes:
            for kind in kinds:
                taken = measured(kind, size, seconds)
                if dist.get_rank() == 0:
                    yield round_, kind, size, taken
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--master", default="local-cluster[4,1,1024]", help="(%(default)s)")
    parser.add_argument("--ranks", type=int, default=4, help="(%(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("--warmup", type=float, default=30, help="seconds (%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="in bytes")
    arguments = parser.parse_args()
    sizes, rounds = arguments.sizes, arguments.rounds
    times = arguments.seconds, arguments.warmup

    spark = digits.session(arguments.master)
    tasks = spark.sparkContext.parallelize(range(arguments.ranks), arguments.ranks)
    rows = tasks.barrier().mapPartitions(lambda _: measure(sizes, rounds, *times)).collect()
    spark.stop()

    print(
        f"All-reduce of float32, {arguments.ranks} ranks, microseconds, median of {rounds} rounds; "
        "gloo is PyTorch's Gloo over TCP, its only transport"
    )
    names = ("gloo", "spark", "shared")
    print(f"{'bytes':>10}", *(f"{name:>10}" for name in names), " gloo/spark  gloo/shared")
    for size in sizes:
        median = {
            kind: statistics.median(t for _, k, s, t in rows if (k, s) == (kind, size)) * 1e6
            for kind in ("gloo", "spark", "spark, shared")
        }
        gloo, plain, shared = median["gloo"], median["spark"], median["spark, shared"]
        print(
            f"{size:>10,} {gloo:>10.1f} {plain:>10.1f} {shared:>10.1f} "
            f"{gloo / plain:>11.2f} {gloo / shared:>12.2f}"
        )


if __name__ == "__main__":
    main()
