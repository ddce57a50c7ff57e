"""Measures collectives of this library and its peers between hosts that are namespaces of this machine. Run by examples/hosts-benchmark.

"of the link" is the least time in which the slowest cable could carry what any algorithm must send, divided by the median time. Of each
1,514 bytes on the cable, 1,448 count.
"""

import argparse
import json
import os
import secrets
import signal
import statistics
import sys
import tempfile
import threading

import compare
import hosts as places
import peers
import report

OPERATIONS = ["all-reduce", "reduce-scatter", "all-gather"]
OURS = "ours"
PAYLOAD = 1448 / 1514
MAIN = "org.sparkcollectives.examples.benchmark.CollectivesBenchmark"


def arguments():
    parser = argparse.ArgumentParser(prog="hosts-benchmark", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=4, help="how many, 2 to 16 (default %(default)s)")
    parser.add_argument("--ranks-per-host", type=int, default=1, help="ranks of each host, each a process (default %(default)s)")
    parser.add_argument("--mbit", type=int, default=1000, help="the bandwidth of each host's cable in Mbit/s (default %(default)s)")
    parser.add_argument("--slow", type=int, metavar="MBIT", help="the bandwidth of the last host's cable, if it differs")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds from one host to another; needs netem (default %(default)s)")
    parser.add_argument("--loss", type=float, default=0, help="the percentage of lost packets; needs netem or nft (default %(default)s)")
    parser.add_argument("--encryption", action="store_true", help="ours with TLS; the peers have none")
    parser.add_argument("--operations", default=",".join(OPERATIONS), help="of " + ", ".join(compare.OPERATIONS) + " (default %(default)s)")
    parser.add_argument("--bytes", default="16m", help="sizes, such as 4,64k,16m (default %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="interleaved rounds, of which the best median counts (default %(default)s)")
    parser.add_argument("--time", type=float, default=2, help="seconds for each figure (default %(default)s)")
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--heap", default="512m", help="the heap of each rank of ours (default %(default)s)")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a setting of ours; may be repeated")
    parser.add_argument("--pause", type=float, default=0, metavar="SECONDS", help="the last rank of ours is stopped for so long, once")
    parser.add_argument("--descriptors", type=int, metavar="N", help="the most files that a rank of ours may have open")
    parser.add_argument("--output", default="target/hosts", help="the folder of what is written (default %(default)s)")
    chosen = parser.parse_args()
    chosen.operations = chosen.operations.split(",")
    unknown = [each for each in chosen.operations if each not in compare.OPERATIONS]
    if unknown:
        parser.error(f"--operations: {unknown[0]} is none of {', '.join(compare.OPERATIONS)}")
    chosen.bytes = [compare.size(each) for each in chosen.bytes.split(",")]
    if not places.Hosts.FEWEST <= chosen.hosts <= places.Hosts.MOST:
        parser.error(f"--hosts must be {places.Hosts.FEWEST} to {places.Hosts.MOST}")
    if chosen.ranks_per_host < 1 or chosen.rounds < 1 or chosen.time <= 0 or chosen.mbit < 1 or min(chosen.bytes) < 4:
        parser.error("--ranks-per-host, --rounds and --mbit must be 1 or more, --time more than 0, --bytes 4 or more")
    if not 0 <= chosen.loss < 100 or chosen.delay < 0 or chosen.pause < 0:
        parser.error("--loss must be 0 to 100, --delay and --pause 0 or more")
    if os.geteuid() != 0 or not sys.platform.startswith("linux"):
        parser.error("namespaces need Linux and root: start this with sudo")
    return chosen


def count_of(operation, bytes_, ranks):
    """The elements that the operation is called with, of float32."""
    return 0 if operation == "barrier" else max(1, bytes_ // 4 // (1 if operation in ("all-reduce", "broadcast") else ranks))


def least_micros(operation, bytes_, hosts, ranks_per_host, mbit):
    """The shortest time in which a host's cable can carry what any algorithm must send over it."""
    others = (hosts - 1) / hosts
    times = {"all-reduce": 2 * others, "broadcast": 1, "barrier": 0, "all-to-all": ranks_per_host * others}.get(operation, others)
    return times * bytes_ * 8 / (mbit * PAYLOAD)


class Ours:
    """Runs ranks of this library. A rank may be paused once, or have few descriptors."""

    def __init__(self, chosen, hosts):
        self.chosen, self.hosts = chosen, hosts

    def __call__(self, operation, bytes_):
        chosen = self.chosen
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "results.json")
            limit = ["prlimit", f"--nofile={chosen.descriptors}"] if chosen.descriptors else []
            tls = ["-Dspark.collectives.encryption=TLS"] if chosen.encryption else []
            # Without files of performance data: their names are process numbers, which hosts of one machine have several times.
            command = [
                *limit, os.environ["COLLECTIVES_JAVA"], "-XX:-UsePerfData", f"-Xmx{chosen.heap}", *tls,
                f"-Dspark.collectives.rendezvous.secret={secrets.token_hex()}", "-cp", os.environ["COLLECTIVES_CLASS_PATH"], MAIN, "--join=env://",
                f"--operation={operation}", f"--min-bytes={max(1, bytes_)}", f"--max-bytes={max(1, bytes_)}", f"--time={int(chosen.time * 1e6)}us",
                *[f"--set={each}" for each in chosen.set],
            ]
            ranks = chosen.hosts * chosen.ranks_per_host
            with Pause(chosen.pause, f"RANK={ranks - 1}", command[-1]):
                peers.run_ranks([[*command, f"--json={file}"]] + [command] * (ranks - 1), self.hosts)
            with open(file, encoding="utf-8") as results:
                found = json.load(results)["results"][-1]
            if found["wrongElements"]:
                raise peers.Failed(f"{found['wrongElements']} wrong elements of {operation}")
            return found["medianMicros"], found["cpuMicros"]


class Pause:
    """Stops the process of a rank for a while, some seconds after it has met the others."""

    _BEFORE_SECONDS = 5
    _ESTABLISHED = "01"

    def __init__(self, seconds, *words):
        self.seconds, self.words = seconds, [word.encode() for word in words]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        if self.seconds:
            self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.seconds:
            self.thread.join()

    def _run(self):
        pid = None
        while pid is None or not self._is_connected(pid):
            if self.ended.wait(0.5):
                return
            pid = next(self._processes(), None)
        if self.ended.wait(self._BEFORE_SECONDS):
            return
        os.kill(pid, signal.SIGSTOP)
        print(f"process {pid} is stopped for {self.seconds:g} s", file=sys.stderr)
        self.ended.wait(self.seconds)
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            pass

    def _is_connected(self, pid):
        """Whether the host of a process has connections to others besides the store's."""
        found = 0
        for table in ("tcp", "tcp6"):
            try:
                with open(f"/proc/{pid}/net/{table}", encoding="ascii") as lines:
                    found += sum(line.split()[3] == self._ESTABLISHED for line in list(lines)[1:])
            except OSError:
                # The process has ended, or there is no IPv6.
                pass
        return found > 1

    def _processes(self):
        """The Java processes whose command and environment have the words."""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
                    java = comm.read().strip() == "java"
                with open(f"/proc/{pid}/cmdline", "rb") as command, open(f"/proc/{pid}/environ", "rb") as environment:
                    known = (command.read() + b"\0" + environment.read()).split(b"\0")
            except OSError:
                continue
            if java and all(word in known for word in self.words):
                yield int(pid)
                return


def implementations(chosen, hosts):
    """Functions of operation and bytes that return the median time and the processor time of each rank, in microseconds; by name."""
    found = {OURS: Ours(chosen, hosts)}
    if chosen.alone:
        return found
    ranks = chosen.hosts * chosen.ranks_per_host

    def peer(run):
        def figures(operation, bytes_):
            count = count_of(operation, bytes_, ranks)
            return peers.figures(run(operation, ranks, chosen.time, [count]))[count]
        return figures

    python = peers.gloo_python()
    if python is None:
        print("Gloo is skipped: no Python here has torch; examples/comparison --install brings it", file=sys.stderr)
    else:
        found["Gloo"] = peer(lambda *what: peers.gloo(python, *what, hosts))
    if peers.build_mpi_program():
        found["Open MPI"] = peer(lambda *what: peers.mpi_on_hosts(hosts, *what))
    return found


def measure(chosen, hosts):
    """Interleaved rounds; the figures of each operation and size by name, of the round with the best median."""
    runners, rows = implementations(chosen, hosts), []
    for operation in chosen.operations:
        for bytes_ in [0] if operation == "barrier" else chosen.bytes:
            rounds, failures = {}, {}
            for round_ in range(chosen.rounds):
                print(f"{operation}, {report.size(bytes_)}, round {round_ + 1} of {chosen.rounds}", file=sys.stderr)
                for name, run in runners.items():
                    try:
                        rounds.setdefault(name, []).append(run(operation, bytes_))
                    except peers.Failed as failed:
                        # Never a row that looks as if it had been measured.
                        print(f"{name}: {failed}", file=sys.stderr)
                        failures[name] = str(failed)
            least = least_micros(operation, bytes_, chosen.hosts, chosen.ranks_per_host, hosts.slowest)
            figures = {}
            for name, runs in rounds.items():
                if runs:
                    micros, cpu = min(runs)
                    figures[name] = {
                        "micros": micros, "cpuMicros": cpu, "share": least / micros,
                        "allMicros": [each for each, _ in runs], "medianOfRounds": statistics.median(each for each, _ in runs),
                    }
            rows.append({"operation": operation, "bytes": bytes_, "figures": figures, "failures": failures})
            print(markdown([rows[-1]]), flush=True)
    return rows


def markdown(rows):
    lines = ["| operation | size | | best median | CPU of a rank | of the link | ours / it |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        own = row["figures"].get(OURS)
        for name, each in row["figures"].items():
            ratio = f"{own['micros'] / each['micros']:.2f}" if own and name != OURS else ""
            lines.append(
                f"| {row['operation']} | {report.size(row['bytes'])} | {name} | {report.micros(each['micros'])} | {report.micros(each['cpuMicros'])} "
                f"| {100 * each['share']:.0f} % | {ratio} |")
        lines += [f"| {row['operation']} | {report.size(row['bytes'])} | {name} | failed | | | |" for name in row["failures"]]
    return "\n".join(lines)


def main():
    chosen = arguments()
    os.makedirs(chosen.output, exist_ok=True)
    before = os.getloadavg()[0]
    with places.Hosts(chosen.hosts, chosen.mbit, chosen.slow, chosen.delay, chosen.loss) as hosts:
        rows = measure(chosen, hosts)
    about = report.machine()
    document = {
        **{name: value for name, value in vars(chosen).items() if name != "output"}, "process": os.getpid(), "machine": about, "versions": peers.versions(),
        "loadBefore": before, "loadAfter": os.getloadavg()[0], "rows": rows,
    }
    with open(os.path.join(chosen.output, "hosts.json"), "w", encoding="utf-8") as out:
        json.dump(document, out, indent=2)
    links = f"{chosen.mbit} Mbit/s" + (f" (the last {chosen.slow})" if chosen.slow else "")
    disturbed = (f", {chosen.delay:g} ms delay" if chosen.delay else "") + (f", {chosen.loss:g} % loss" if chosen.loss else "")
    print(
        f"\n{chosen.hosts} hosts with {chosen.ranks_per_host} ranks each, {links}{disturbed}{', ours with TLS' if chosen.encryption else ''}; best of "
        f"{chosen.rounds} interleaved rounds; {about['processors']} processors ({about['processor']}); load average {before:.1f} before, "
        f"{document['loadAfter']:.1f} after\n\n" + markdown(rows))
    return 1 if any(row["failures"].get(OURS) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
