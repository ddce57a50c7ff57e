"""Times small collectives in PySpark barrier tasks: how long one call takes, there and back.

Each rank is a Python process and a JVM. The operations take turns, size by size and round by round,
on arrays of numpy's own, which are copied to the JVM and back, and on those of ``group.zeros``,
which are not. A time is that of one call on rank 0; what is printed is the median of all calls and,
in brackets, the 90th percentile, in microseconds.

    python examples/python/call_latency.py
"""

import argparse
import statistics

import digits

SIZES = [48, 1024, 6 * 1024]


def calls(group, size, make):
    """Return each operation by name; ``size`` is that of one rank's array in bytes."""
    count = max(1, size // 8)
    one, all_of_them = make(count), make(count * group.size)
    parts = [make(count) for _ in range(group.size)]
    others = [make(count) for _ in range(group.size)]
    return {
        "all_reduce": lambda: group.all_reduce(one),
        "all_gather": lambda: group.all_gather(parts, one),
        "all_gather_into": lambda: group.all_gather_into(all_of_them, one),
        "all_to_all": lambda: group.all_to_all(parts, others),
        "reduce_scatter": lambda: group.reduce_scatter(one, parts),
        "broadcast": lambda: group.broadcast(one, 0),
    }


def measure(sizes, rounds, repeats, warmup):
    """What each rank does; rank 0 yields (kind, operation, bytes, seconds of each call)."""
    import time

    import numpy as np

    import spark_collectives as dist

    group = dist.init_process_group()
    kinds = {"numpy": np.zeros, "group.zeros": lambda count: group.zeros(count, np.float64)}
    for index, size in enumerate(sizes):
        operations = {
            (kind, name): call
            for kind, make in kinds.items()
            for name, call in calls(group, size, make).items()
        }
        # The JVM compiles what all sizes share during the first one.
        for call in operations.values():
            for _ in range(warmup if index == 0 else warmup // 4):
                call()
        times = {key: [] for key in operations}
        for _ in range(rounds):
            for key, call in operations.items():
                group.barrier()
                for _ in range(repeats):
                    begin = time.perf_counter()
                    call()
                    times[key].append(time.perf_counter() - begin)
        if group.rank == 0:
            for (kind, name), taken in times.items():
                yield kind, name, size, taken


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="(%(default)s)")
    parser.add_argument(
        "--master", help="by default a local cluster with one executor for each rank"
    )
    parser.add_argument("--rounds", type=int, default=5, help="(%(default)s)")
    parser.add_argument("--repeats", type=int, default=200, help="in each round (%(default)s)")
    parser.add_argument("--warmup", type=int, default=5000, help="calls before (%(default)s)")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="in bytes")
    arguments = parser.parse_args()
    sizes, rounds = arguments.sizes, arguments.rounds
    repeats, warmup = arguments.repeats, arguments.warmup

    spark = digits.session(arguments.master or f"local-cluster[{arguments.ranks},1,1024]")
    tasks = spark.sparkContext.parallelize(range(arguments.ranks), arguments.ranks)
    rows = (
        tasks.barrier().mapPartitions(lambda _: measure(sizes, rounds, repeats, warmup)).collect()
    )
    spark.stop()

    print(f"{arguments.ranks} ranks, microseconds a call: median (90th percentile)")
    names = list(dict.fromkeys(name for _, name, _, _ in rows))
    print(f"{'bytes':>8} {'arrays':<12}", *(f"{name:>16}" for name in names))
    taken = {(kind, name, size): times for kind, name, size, times in rows}
    for size in sizes:
        for kind in dict.fromkeys(kind for kind, _, _, _ in rows):
            cells = []
            for name in names:
                times = taken[kind, name, size]
                ninth = statistics.quantiles(times, n=10)[-1]
                cells.append(f"{statistics.median(times) * 1e6:.0f} ({ninth * 1e6:.0f})")
            print(f"{size:>8,} {kind:<12}", *(f"{cell:>16}" for cell in cells))


if __name__ == "__main__":
    main()
