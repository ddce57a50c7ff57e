"""Where ranks run: on this machine as it is, or on two hosts made of it."""

import os
import signal
import subprocess
import sys
import time


class OneHost:
    """This machine."""

    device = "lo"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    @staticmethod
    def address(_):
        return "127.0.0.1"

    @staticmethod
    def command(_, command):
        return command


class TwoHosts:
    """Two hosts made of this machine, with a cable between them, for as long as the ``with`` block lasts. Linux, as root.

    Each is a network, a PID and a mount namespace with a /dev/shm of its own, as a Kubernetes pod is, and has half of the processors. So the
    ranks of one share memory, those of two have only the network, and no host takes the other's time.

    :param mbit: the bandwidth in each direction in Mbit/s, or None for that of the machine's memory
    """

    device = "cable"
    _START_SECONDS = 10

    def __init__(self, mbit=None):
        self.mbit = mbit
        self.names = [f"collectives-{os.getpid()}-{host}" for host in (0, 1)]
        processors = sorted(os.sched_getaffinity(0))
        half = max(1, len(processors) // 2)
        self.processors = [processors[:half], processors[-half:]]
        self.holders = []
        self.first_processes = []

    def __enter__(self):
        # End the block, so that nothing of the hosts is left.
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda number, _: sys.exit(f"ended by {signal.Signals(number).name}"))
        try:
            for name in self.names:
                self._ip("netns", "add", name)
            first, second = self.names
            self._ip("link", "add", self.device, "netns", first, "type", "veth", "peer", "name", self.device, "netns", second)
            for host, name in enumerate(self.names):
                self._ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", self.device)
                for device in ("lo", self.device):
                    self._ip("-n", name, "link", "set", device, "up")
                if self.mbit is not None:
                    # A burst is what passes at once; the queue takes what does not pass for 50 ms.
                    limit = f"tbf rate {self.mbit}mbit burst 256kb latency 50ms".split()
                    subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", self.device, "root", *limit], check=True)
                self.first_processes.append(self._start(name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self, name):
        """Starts the first process of a host, with which all others end; returns its PID. It reads until this process has ended."""
        holder = subprocess.Popen(
            ["ip", "netns", "exec", name, "unshare", "--pid", "--fork", "--kill-child", "--mount-proc",
             "sh", "-c", "mount -t tmpfs tmpfs /dev/shm && exec cat"], stdin=subprocess.PIPE)
        self.holders.append(holder)
        deadline = time.monotonic() + self._START_SECONDS
        while time.monotonic() < deadline and holder.poll() is None:
            with open(f"/proc/{holder.pid}/task/{holder.pid}/children", encoding="ascii") as children:
                first = children.read().split()
            if first and self._is_ready(first[0]):
                return first[0]
            time.sleep(0.01)
        raise RuntimeError(f"Host {name} did not start within {self._START_SECONDS} s; two hosts need Linux, root, ip and unshare.")

    @staticmethod
    def _is_ready(pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
            return comm.read().strip() == "cat"

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True)

    @staticmethod
    def address(host):
        """Returns the address of host 0 or 1."""
        return f"198.18.77.{host + 1}"

    def command(self, host, command):
        """Returns the command that runs a command on a host, in a child process: to end it, signal its process group."""
        processors = ",".join(map(str, self.processors[host]))
        namespaces = ["--net", "--mount", "--pid", "--wd=."]
        return ["taskset", "--cpu-list", processors, "nsenter", "--target", self.first_processes[host], *namespaces, *command]
