"""Runs a Spark application on a standalone cluster of two hosts, which are namespaces of this machine; see examples/two-hosts."""

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
    """Spark's standalone cluster with a worker of one core on each of two hosts, for as long as the ``with`` block lasts."""

    def __init__(self, hosts, spark_home, memory):
        self.hosts, self.spark_home, self.memory = hosts, spark_home, memory
        self.processes = []
        self.url = f"spark://{hosts.address(0)}:{MASTER_PORT}"

    def __enter__(self):
        try:
            self._start(0, "master.Master", "--host", self.hosts.address(0), "--port", str(MASTER_PORT), "--webui-port", "0")
            for host in (0, 1):
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
        prog="two-hosts", description="Runs a command on the first of two hosts, with Spark's standalone cluster on both of them.")
    parser.add_argument("--mbit", type=int, help="the bandwidth between the hosts in Mbit/s (default: as fast as memory)")
    parser.add_argument("--memory", default="2g", help="the memory of a worker (default %(default)s)")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command; {master} stands for the URL of the cluster")
    chosen = parser.parse_args()
    if not chosen.command:
        parser.error("name a command")
    import pyspark

    with places.TwoHosts(chosen.mbit) as hosts, Cluster(hosts, os.path.dirname(pyspark.__file__), chosen.memory) as cluster:
        environment = dict(os.environ, SPARK_LOCAL_IP=hosts.address(0))
        command = [word.replace("{master}", cluster.url) for word in chosen.command]
        return subprocess.call(hosts.command(0, command), env=environment)


if __name__ == "__main__":
    sys.exit(main())
