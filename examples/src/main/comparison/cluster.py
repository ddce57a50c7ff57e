"""Runs a Spark application on a standalone cluster of hosts, which are namespaces of this machine; see examples/hosts."""

import argparse
import os
import signal
import subprocess
import sys
import time

import hosts as places

MASTER_PORT = 7077
LIMIT_SECONDS = 60


class Cluster:
    """Spark's standalone cluster with a worker of one core on each host, for as long as the ``with`` block lasts."""

    def __init__(self, hosts, spark_home, memory):
        self.hosts, self.spark_home, self.memory = hosts, spark_home, memory
        self.processes = []
        self.url = f"spark://{hosts.address(0)}:{MASTER_PORT}"

    def __enter__(self):
        try:
            self._start(0, "master.Master", "--host", self.hosts.address(0), "--port", str(MASTER_PORT), "--webui-port", "0")
            for host in range(self.hosts.count):
                options = ["--host", self.hosts.address(host), "--cores", "1", "--memory", self.memory, "--webui-port", "0"]
                self._start(host, "worker.Worker", *options, self.url)
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, host, daemon, *options):
        command = [os.path.join(self.spark_home, "bin", "spark-class"), f"org.apache.spark.deploy.{daemon}", *options]
        self.processes.append(subprocess.Popen(
            self.hosts.command(host, command), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))

    def __exit__(self, *_):
        for process in reversed(self.processes):
            if self._lives(process):
                os.killpg(process.pid, signal.SIGTERM)
        deadline = time.monotonic() + LIMIT_SECONDS
        for process in self.processes:
            # The process itself only starts the one on the host, and ends before that.
            while self._lives(process) and time.monotonic() < deadline:
                time.sleep(0.05)
            if self._lives(process):
                os.killpg(process.pid, signal.SIGKILL)

    @staticmethod
    def _lives(process):
        process.poll()
        try:
            os.killpg(process.pid, 0)
            return True
        except ProcessLookupError:
            return False


def main():
    parser = argparse.ArgumentParser(
        prog="hosts", description="Runs a command on the first of several hosts, with Spark's standalone cluster on all of them.")
    parser.add_argument("--hosts", type=int, default=2, help="how many, 2 to 16 (default %(default)s)")
    parser.add_argument("--mbit", type=int, help="the bandwidth of each host's cable in Mbit/s (default: as fast as memory)")
    parser.add_argument("--delay", type=float, default=0, help="milliseconds from one host to another (default %(default)s)")
    parser.add_argument("--loss", type=float, default=0, help="the percentage of lost packets (default %(default)s)")
    parser.add_argument("--memory", default="2g", help="the memory of a worker (default %(default)s)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command; {master} stands for the URL of the cluster")
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("name a command")
    if not places.Hosts.FEWEST <= chosen.hosts <= places.Hosts.MOST:
        parser.error("--hosts must be 2 to 16")
    import pyspark

    home = os.path.dirname(pyspark.__file__)
    network = places.Hosts(chosen.hosts, chosen.mbit, delay=chosen.delay, loss=chosen.loss)
    with network as hosts, Cluster(hosts, home, chosen.memory) as cluster:
        environment = dict(os.environ, SPARK_LOCAL_IP=hosts.address(0))
        command = [word.replace("{master}", cluster.url) for word in chosen.command]
        return subprocess.call(hosts.command(0, command), env=environment)


if __name__ == "__main__":
    sys.exit(main())
