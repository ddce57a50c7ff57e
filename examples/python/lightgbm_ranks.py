"""Times the training of LightGBM models over its own sockets and over a group's collectives.

    python examples/python/lightgbm_ranks.py --ranks 2 --repetitions 6
    sudo examples/hosts python examples/python/lightgbm_ranks.py --master {master}

Both train in the tasks of a barrier stage, on the same rows, one after the other in each
repetition, and give the same model, byte for byte. The seconds are those of the slowest rank, from
the rows in memory to the model: the stage's start and the reading of rows are the same for both.
Prints the first time, in which a JVM still interprets much of what it runs, the median and the
range of the others, the load of the machine, and the calls of the network.

    generated    binary, 20,000 x 50, 50 rounds
    digits       10 classes, 20 rounds, scikit-learn's handwritten digits
    small        binary, 1,000 x 50, 3 rounds: only to see that it runs
"""

import argparse
import os
import statistics
import time

#: The name, the number of rounds.
CASES = {"generated": 50, "digits": 20, "small": 3}


def rows_of(name):
    """Return the features, the labels and the parameters."""
    import numpy as np

    if name == "digits":
        from sklearn.datasets import load_digits

        x, y = load_digits(return_X_y=True)
        return x, y, {"objective": "multiclass", "num_class": 10, "min_data_in_leaf": 5}
    numbers = np.random.default_rng(5)
    x = numbers.normal(size=(1000 if name == "small" else 20_000, 50))
    margin = x[:, :10] @ numbers.normal(size=10) + x[:, 10] * x[:, 11]
    return x, (margin + numbers.normal(size=len(x)) > 0).astype(float), {"objective": "binary"}


def train_on_rank(name, rounds, repetitions):
    """Train in turns over sockets and over the group; return the seconds of each, and the calls."""
    import socket

    import lightgbm
    import numpy as np
    from pyspark import BarrierTaskContext

    import spark_collectives as dist
    from spark_collectives.lightgbm import Network, train

    tasks = BarrierTaskContext.get().getTaskInfos()
    hosts = [socket.gethostbyname(task.address.rpartition(":")[0]) for task in tasks]
    group = dist.init_process_group()
    x, y, own = rows_of(name)
    x, y = x[group.rank :: group.size].copy(), y[group.rank :: group.size].copy()
    params = {
        "num_leaves": 31,
        "deterministic": True,
        "force_col_wise": True,
        "verbosity": -1,
        "seed": 7,
        **own,
    }

    def over_sockets():
        with socket.socket() as held:
            held.bind((hosts[group.rank], 0))
            port = held.getsockname()[1]
        ports = np.zeros(group.size, np.int64)
        group.all_gather_into(ports, np.array([port]))
        more = {
            "tree_learner": "data",
            "pre_partition": True,
            "num_threads": 1,
            "num_machines": group.size,
            "machines": ",".join(f"{host}:{each}" for host, each in zip(hosts, ports)),
            "local_listen_port": port,
            "time_out": 2,
        }
        booster = lightgbm.train({**params, **more}, lightgbm.Dataset(x, y), rounds)
        booster.free_network()
        return booster

    def over_group(bins):
        data = lightgbm.Dataset(x, y)
        return train(params, data, rounds, bin_construction=bins, group=group)

    ways = {
        "sockets": over_sockets,
        "group": lambda: over_group("local"),
        "group, shared bins": lambda: over_group("shared"),
    }
    seconds = {way: [] for way in ways}
    models = {}
    for _ in range(repetitions):
        for way, fit in ways.items():
            group.barrier()
            began = time.perf_counter()
            models[way] = fit().model_to_string().split("\nparameters:")[0]
            seconds[way].append(time.perf_counter() - began)
    calls = calls_of(Network, over_group)
    return seconds, models["sockets"] == models["group"], calls


def calls_of(network, fit):
    """Return how many collectives LightGBM calls in one training."""
    made = []
    enter = network.__enter__

    def remembered(self):
        made.append(self)
        return enter(self)

    network.__enter__ = remembered
    try:
        fit("local")
    finally:
        network.__enter__ = enter
    return made[0].calls


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--repetitions", type=int, default=6, help="2 or more (%(default)s)")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=["generated", "digits"])
    parser.add_argument(
        "--master", help="by default a local cluster with one executor for each rank"
    )
    arguments = parser.parse_args()
    if arguments.repetitions < 2:
        parser.error("--repetitions must be 2 or more: the first of them is counted for itself")

    from pyspark.sql import SparkSession

    import spark_collectives as dist

    master = arguments.master or f"local-cluster[{arguments.ranks},1,1024]"
    builder = SparkSession.builder.master(master).config("spark.ui.enabled", "false")
    # A line of the table must have no other before it.
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    spark = dist.configure(builder).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    print("| rows | way | first, s | others, median, s | range | load | calls |")
    print("|---|---|---:|---:|---:|---:|---:|")
    for name in arguments.cases:
        found = dist.run(
            train_on_rank, arguments.ranks, name, CASES[name], arguments.repetitions, stream=False
        )
        assert all(same for _, same, _ in found), "the models differ"
        for way in found[0][0]:
            first, *others = [
                max(times) for times in zip(*(seconds[way] for seconds, _, _ in found))
            ]
            print(
                f"| {name} | {way} | {first:.2f} | {statistics.median(others):.2f} "
                f"| {min(others):.2f} to {max(others):.2f} | {os.getloadavg()[0]:.1f} "
                f"| {found[0][2]:,} |",
                flush=True,
            )
    spark.stop()


if __name__ == "__main__":
    main()
