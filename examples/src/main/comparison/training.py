"""Times steps of a training whose gradients this library averages, and PyTorch's DistributedDataParallel on Gloo; see docs/internals/measurements/training.md.

A step is a forward pass that takes no time and a backward pass that waits a while before each parameter has its gradient. Run by
examples/training-benchmark.
"""

import argparse
import json
import os
import secrets
import sys

import hosts as places
import peers
import report

PATHS = {"shm": "ours, shared memory", "tcp": "ours, TCP", "all": "ours"}
DDP = "DDP on Gloo, TCP"
HOOKS = ["none", "float16", "powersgd", "int8"]


def arguments():
    parser = argparse.ArgumentParser(prog="training-benchmark", description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2, help="how many ranks, each a process (default %(default)s)")
    parser.add_argument("--mebibytes", default="1,25,100", help="sizes of all gradients in MiB (default %(default)s)")
    parser.add_argument("--parameters", type=int, default=20, help="over how many parameters they are spread (default %(default)s)")
    parser.add_argument("--bucket", type=float, default=4, help="the MiB of a bucket, of both (default %(default)s)")
    parser.add_argument("--backward", type=float, default=20, help="milliseconds of a backward pass (default %(default)s)")
    parser.add_argument("--hook", choices=HOOKS, default="none", help="how gradients are compressed (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds, of which the best median counts (default %(default)s)")
    parser.add_argument("--time", type=float, default=2, help="seconds for each figure (default %(default)s)")
    parser.add_argument("--paths", help="of ours (default shm,tcp; with --link all)")
    parser.add_argument(
        "--link", type=int, metavar="MBIT",
        help="puts the ranks onto hosts made of namespaces, between which so many Mbit/s pass (Linux, as root)")
    parser.add_argument("--hosts", type=int, default=2, help="how many hosts, with --link (default %(default)s)")
    parser.add_argument("--output", default="target/training", help="the folder of what is written (default %(default)s)")
    parser.add_argument("--install", action="store_true", help="install Gloo (PyTorch, from the network) into target/python first")
    chosen = parser.parse_args()
    chosen.paths = (chosen.paths or ("all" if chosen.link else "shm,tcp")).split(",")
    chosen.mebibytes = [float(each) for each in chosen.mebibytes.split(",")]
    unknown = [each for each in chosen.paths if each not in PATHS]
    if unknown:
        parser.error(f"--paths: {unknown[0]} is none of {', '.join(PATHS)}")
    if chosen.link and "shm" in chosen.paths:
        parser.error("--link: ranks on several hosts share no memory; choose tcp or all")
    if chosen.ranks < 2 or chosen.rounds < 1 or chosen.time <= 0 or chosen.parameters < 1 or min(chosen.mebibytes) <= 0:
        parser.error("--ranks must be 2 or more, --rounds and --parameters 1 or more, --time and --mebibytes more than 0")
    return chosen


def steps(command, ranks, hosts, **environment):
    """Runs the ranks; returns what rank 0 has printed: milliseconds without communication, of nothing else, and of both."""
    return [float(each) for each in peers.run_ranks([command] * ranks, hosts, **environment).split()]


def implementations(chosen, hosts):
    """Functions of the MiB, by name."""
    def options(mebibytes):
        return [str(each) for each in (mebibytes, chosen.parameters, chosen.bucket, chosen.backward, chosen.time, chosen.hook)]

    # Without files of performance data: their names are process numbers, which two hosts of one machine have twice.
    java = [os.environ["COLLECTIVES_JAVA"], "-XX:-UsePerfData", f"-Dspark.collectives.rendezvous.secret={secrets.token_hex()}", "-cp",
            os.environ["COLLECTIVES_CLASS_PATH"], "org.sparkcollectives.examples.benchmark.TrainingRank"]
    found = {
        PATHS[path]: lambda mebibytes, path=path: steps([*java, path, *options(mebibytes)], chosen.ranks, hosts)
        for path in chosen.paths
    }
    python = peers.gloo_python()
    if chosen.hook == "powersgd" and max(chosen.mebibytes) > chosen.bucket:
        # Each bucket's all-reduces begin in callbacks, in an order that differs between ranks.
        print("DDP is skipped: its PowerSGD hangs on Gloo where gradients have several buckets", file=sys.stderr)
    elif chosen.hook == "int8":
        print("DDP is skipped: PyTorch has no such hook", file=sys.stderr)
    elif python is None:
        print("DDP is skipped: no Python here has torch; --install brings it", file=sys.stderr)
    else:
        script = os.path.join(peers.HERE, "ddp_rank.py")
        found[DDP] = lambda mebibytes: steps(
            [python, script, *options(mebibytes)], chosen.ranks, hosts, GLOO_SOCKET_IFNAME=hosts.device, OMP_NUM_THREADS="1")
    return found


def row(mebibytes, runs):
    """Figures of one size: of the round with the shortest step of each implementation."""
    figures = {}
    for name, rounds in runs.items():
        local, communication, both = min(rounds, key=lambda each: each[2])
        figures[name] = {
            "local": local,
            "communication": communication,
            "step": both,
            "hidden": 1 - (both - local) / communication,
        }
    return {"mebibytes": mebibytes, "figures": figures}


def markdown(rows):
    lines = [
        "| gradients | | backward alone | communication alone | both | hidden | step / DDP's |",
        "|---|---|---|---|---|---|---|",
    ]
    for each in rows:
        ddp = each["figures"].get(DDP)
        for name, found in each["figures"].items():
            ratio = f"{found['step'] / ddp['step']:.2f}" if ddp and name != DDP else ""
            lines.append(
                f"| {each['mebibytes']:g} MiB | {name} | {found['local']:.1f} ms | {found['communication']:.1f} ms | {found['step']:.1f} ms "
                f"| {max(0, 100 * found['hidden']):.0f} % | {ratio} |")
    return "\n".join(lines)


def main():
    chosen = arguments()
    if chosen.install:
        peers.install_gloo()
    os.makedirs(chosen.output, exist_ok=True)
    about, before, rows = report.machine(), os.getloadavg()[0], []
    with places.Hosts(chosen.hosts, chosen.link) if chosen.link else places.OneHost() as hosts:
        for mebibytes in chosen.mebibytes:
            runs = {}
            for round_ in range(chosen.rounds):
                print(f"{mebibytes:g} MiB, round {round_ + 1} of {chosen.rounds}", file=sys.stderr)
                for name, run in implementations(chosen, hosts).items():
                    runs.setdefault(name, []).append(run(mebibytes))
            rows.append(row(mebibytes, runs))
    document = {
        "ranks": chosen.ranks, "linkMbit": chosen.link, "hosts": chosen.hosts if chosen.link else 1, "hook": chosen.hook,
        "bucketMebibytes": chosen.bucket, "backwardMillis": chosen.backward,
        "parameters": chosen.parameters, "rounds": chosen.rounds, "secondsPerFigure": chosen.time, "machine": about,
        "versions": peers.versions(), "loadBefore": before, "loadAfter": os.getloadavg()[0], "rows": rows,
    }
    with open(os.path.join(chosen.output, "training.json"), "w", encoding="utf-8") as out:
        json.dump(document, out, indent=2)
    link = f", {chosen.link} Mbit/s between {chosen.hosts} hosts" if chosen.link else ""
    print(
        f"{chosen.ranks} ranks{link}, hook {chosen.hook}, buckets of {chosen.bucket:g} MiB, a backward pass of {chosen.backward:g} ms over "
        f"{chosen.parameters} parameters; best of {chosen.rounds} interleaved rounds; {about['processors']} processors "
        f"({about['processor']}); load average {before:.1f} before, {document['loadAfter']:.1f} after\n\n" + markdown(rows))


if __name__ == "__main__":
    main()
