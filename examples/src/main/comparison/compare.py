"""Measures this library and its peers side by side; see docs/internals/measurements/collectives.md. Run by examples/comparison."""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import peers
import report

OPERATIONS = ["all-reduce", "broadcast", "all-gather", "reduce-scatter", "all-to-all", "barrier"]
PATHS = {
    "jvm": ("one JVM", ["--threads={ranks}"], ["Gloo tcp", "MPI shm"]),
    "host": ("shared memory", ["--processes={ranks}"], ["Gloo tcp", "MPI shm"]),
    "mapping": (
        "shared memory, group.allocate",
        ["--processes={ranks}", "--memory=group"],
        ["Gloo tcp", "MPI shm"],
    ),
    "tcp": ("TCP", ["--processes={ranks}", "--transports=tcp"], ["Gloo tcp", "MPI tcp"]),
    "spark": ("Spark stage, one executor", ["--ranks={ranks}", "--compare"], []),
}

# The bare path, which small sizes are compared with.
ROUND_TRIPS = {"jvm": "jvm", "host": "host", "mapping": "host", "tcp": "tcp"}


def size(text):
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    return int(text[:-1]) * units[text[-1].lower()] if text[-1].lower() in units else int(text)


def arguments():
    parser = argparse.ArgumentParser(prog="comparison", description=__doc__)
    parser.add_argument("--ranks", type=int, default=2, help="how many ranks; at most as many as idle cores (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="the best run median of so many counts (default %(default)s)")
    parser.add_argument("--time", type=float, default=0.3, help="seconds for each size (default %(default)s)")
    parser.add_argument("--min-bytes", type=size, default=4)
    parser.add_argument("--max-bytes", type=size, default=16 << 20)
    parser.add_argument("--factor", type=int, default=4, help="from one size to the next (default %(default)s)")
    parser.add_argument("--paths", default=",".join(PATHS), help="of %(default)s")
    parser.add_argument("--operations", default=",".join(OPERATIONS), help="of %(default)s")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of ours; may be repeated")
    parser.add_argument("--quiet-load", type=float, default=None, metavar="L",
                        help="wait before each table until the load average of a minute is below L, for ten minutes at the most")
    parser.add_argument("--output", default="target/comparison", help="the folder of what is written (default %(default)s)")
    parser.add_argument("--install", action="store_true", help="install Gloo (PyTorch, from the network) into target/python first")
    chosen = parser.parse_args()
    for name, known in (("paths", PATHS), ("operations", OPERATIONS)):
        values = getattr(chosen, name).split(",")
        for value in values:
            if value not in known:
                parser.error(f"--{name}: {value} is none of {', '.join(known)}")
        setattr(chosen, name, values)
    if chosen.ranks < 2 or chosen.rounds < 1 or chosen.time <= 0 or chosen.factor < 2 or not 0 < chosen.min_bytes <= chosen.max_bytes:
        parser.error("--ranks must be 2 or more, --rounds 1 or more, --time more than 0, --factor 2 or more, sizes ascending")
    return chosen


def counts(operation, chosen):
    """As CollectivesBenchmark chooses them, for float32."""
    if operation == "barrier":
        return [0]
    parts = 1 if operation in ("all-reduce", "broadcast") else chosen.ranks
    found, bytes_ = [], chosen.min_bytes
    while bytes_ <= chosen.max_bytes:
        found.append(max(1, bytes_ // 4 // parts))
        bytes_ *= chosen.factor
    return sorted(set(found))


def ours(path, operation, chosen):
    """Median microseconds by implementation and count."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "results.json")
        options = [each.format(ranks=chosen.ranks) for each in PATHS[path][1]]
        command = [
            "examples/benchmark", *options, f"--operation={operation}", f"--json={file}", f"--time={int(chosen.time * 1e6)}us",
            f"--min-bytes={chosen.min_bytes}", f"--max-bytes={chosen.max_bytes}", f"--factor={chosen.factor}",
            *[f"--set={each}" for each in chosen.set],
        ]
        peers.run(command)
        with open(file, encoding="utf-8") as results:
            found = {}
            for each in json.load(results)["results"]:
                found.setdefault(each["implementation"], {})[each["count"]] = each["medianMicros"]
            return found


def table(path, operation, chosen, available):
    """Interleaved rounds of all implementations; the best median of each count."""
    peers.wait_for_quiet(chosen.quiet_load)
    before, best = os.getloadavg()[0], {}
    runners = [lambda: ours(path, operation, chosen)]
    for name in PATHS[path][2]:
        if name in available:
            peer = available[name]
            runners.append(lambda name=name, peer=peer: {
                name: peer(operation, chosen.ranks, chosen.time, counts(operation, chosen))})
    round_trips = []
    for round_ in range(chosen.rounds):
        if path in ROUND_TRIPS:
            round_trips.append(float(peers.run(["sh", "examples/comparison", "--round-trip", ROUND_TRIPS[path], str(chosen.time)])))
        print(f"{PATHS[path][0]}: {operation}, round {round_ + 1} of {chosen.rounds}", file=sys.stderr)
        for runner in list(runners):
            try:
                for name, medians in runner().items():
                    for count, micros in medians.items():
                        known = best.setdefault(name, {})
                        known[count] = min(micros, known.get(count, micros))
            except peers.Failed as failed:
                # Never a row that looks as if it had been measured.
                print(f"skipped from now on: {failed}", file=sys.stderr)
                runners.remove(runner)
    parts = 1 if operation in ("all-reduce", "broadcast") else chosen.ranks
    return {
        "path": PATHS[path][0],
        "operation": operation,
        "loadBefore": before,
        "loadAfter": os.getloadavg()[0],
        "roundTripMicros": statistics.median(round_trips) if round_trips else None,
        "rows": [
            {"bytes": 4 * count * parts, "count": count,
             "micros": {name: medians[count] for name, medians in best.items() if count in medians}}
            for count in counts(operation, chosen)
        ],
    }


def main():
    chosen = arguments()
    if chosen.install:
        peers.install_gloo()
    available = peers.available()
    os.makedirs(chosen.output, exist_ok=True)
    document = {
        "ranks": chosen.ranks,
        "rounds": chosen.rounds,
        "secondsPerSize": chosen.time,
        "machine": report.machine(),
        "versions": peers.versions(),
        "tables": [],
    }
    for path in chosen.paths:
        for operation in chosen.operations:
            if path == "spark" and operation not in ("all-reduce", "barrier"):
                continue
            measured = table(path, operation, chosen, available)
            document["tables"].append(measured)
            print("\n" + report.markdown(measured), flush=True)
            # After each table, so that an end before the last leaves what there is.
            report.write(document, chosen.output)
    plot = os.path.join(chosen.output, "comparison.png")
    peers.run([shutil.which("sh"), "examples/comparison", "--draw", os.path.join(chosen.output, "comparison.json"), plot])
    print(f"\nWritten: {chosen.output}/comparison.json, .md and .png", file=sys.stderr)


if __name__ == "__main__":
    main()
