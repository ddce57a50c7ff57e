"""Where ranks run: on this machine as it is, or on hosts made of it."""

import os
import re
import signal
import subprocess
import sys
import time


class OneHost:
    """This machine."""

    count = 1
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


class Hosts:
    """Hosts made of this machine, each with a cable to the same switch, for as long as the ``with`` block lasts. Linux, as root.

    Each is a network, a PID and a mount namespace with a /dev/shm of its own, as a Kubernetes pod is, and has its share of the processors. So
    the ranks of one share memory, and those of two have only the network. The switch is a bridge in a network namespace of its own.

    :param count: 2 to 16
    :param mbit: the bandwidth of each cable in each direction in Mbit/s, or None for that of the machine's memory
    :param slow: that of the last host's cable, if it differs
    :param delay: milliseconds from one host to another
    :param loss: the percentage of packets that are lost between two hosts
    """

    FEWEST, MOST = 2, 16
    device = "cable"
    _START_SECONDS = 10
    _NAME = re.compile(r"^collectives-(\d+)-\w+", re.MULTILINE)

    def __init__(self, count=2, mbit=None, slow=None, delay=0, loss=0):
        if not self.FEWEST <= count <= self.MOST:
            raise ValueError(f"There can be {self.FEWEST} to {self.MOST} hosts, not {count}.")
        self.count, self.delay, self.loss = count, delay, loss
        self.rates = [mbit] * (count - 1) + [slow or mbit]
        self.names = [f"collectives-{os.getpid()}-{host}" for host in range(count)]
        self.switch = f"collectives-{os.getpid()}-switch"
        self.processors = self._shares(sorted(os.sched_getaffinity(0)), count)
        self.holders = []
        self.first_processes = []

    @staticmethod
    def _shares(processors, count):
        """The processors of each host: none has another's if there are enough."""
        if len(processors) < count:
            return [[processors[host % len(processors)]] for host in range(count)]
        each = len(processors) // count
        return [processors[host * each:(host + 1) * each] for host in range(count)]

    def __enter__(self):
        # End the block, so that nothing of the hosts is left.
        for each in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(each, lambda number, _: sys.exit(f"ended by {signal.Signals(number).name}"))
        self._remove_those_of_ended_processes()
        try:
            self._ip("netns", "add", self.switch)
            self._ip("-n", self.switch, "link", "add", "bridge", "type", "bridge")
            self._ip("-n", self.switch, "link", "set", "bridge", "up")
            for host, name in enumerate(self.names):
                self._connect(host, name)
                self.first_processes.append(self._start(name))
        except BaseException:
            self.__exit__()
            raise
        return self

    def _connect(self, host, name):
        port = f"port{host}"
        self._ip("netns", "add", name)
        self._ip("link", "add", self.device, "netns", name, "type", "veth", "peer", "name", port, "netns", self.switch)
        self._ip("-n", name, "addr", "add", f"{self.address(host)}/24", "dev", self.device)
        self._ip("-n", self.switch, "link", "set", port, "master", "bridge", "up")
        for device in ("lo", self.device):
            self._ip("-n", name, "link", "set", device, "up")
        self._disturb(name)
        self._limit(self.switch, port, self.rates[host], ["root"])

    def _disturb(self, name):
        """Delays and loses what a host sends, besides limiting it."""
        rate, parent = self.rates[self.names.index(name)], ["root"]
        disturbed = [*(["delay", f"{self.delay}ms"] if self.delay else []), *(["loss", f"{self.loss}%"] if self.loss else [])]
        if self.loss:
            # Otherwise up to 64 KiB are one packet here, as nowhere else.
            self._ip("-n", name, "link", "set", self.device, "gso_max_segs", "1")
        if disturbed:
            netem = ["root", "handle", "1:", "netem", *disturbed, "limit", "100000"]
            if self._tc(name, self.device, netem, check=False):
                parent = ["parent", "1:1", "handle", "2:"]
            elif self.delay:
                raise RuntimeError("A delay needs netem, which this kernel does not have (on some systems: a package of further modules).")
            else:
                self._drop(name)
        self._limit(name, self.device, rate, parent)

    def _drop(self, name):
        """Loses what a host receives, where the kernel has no netem."""
        share = round(self.loss * 1000)
        rules = f"""
            add table inet loss
            add chain inet loss received {{ type filter hook input priority 0; }}
            add rule inet loss received iifname "{self.device}" numgen random mod 100000 < {share} drop
            """
        try:
            subprocess.run(["ip", "netns", "exec", name, "nft", "-f", "-"], input=rules, text=True, check=True)
        except FileNotFoundError as none:
            raise RuntimeError("A loss needs netem, which this kernel does not have, or nft (Debian: nftables).") from none

    def _limit(self, name, device, mbit, parent):
        if mbit is not None:
            # A burst is what passes at once; the queue takes what does not pass for 50 ms.
            self._tc(name, device, [*parent, *f"tbf rate {mbit}mbit burst 256kb latency 50ms".split()])

    @staticmethod
    def _tc(name, device, words, check=True):
        errors = None if check else subprocess.DEVNULL
        return subprocess.run(["tc", "-n", name, "qdisc", "add", "dev", device, *words], stderr=errors, check=check).returncode == 0

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
        raise RuntimeError(f"Host {name} did not start within {self._START_SECONDS} s; hosts need Linux, root, ip and unshare.")

    @staticmethod
    def _is_ready(pid):
        with open(f"/proc/{pid}/comm", encoding="utf-8") as comm:
            return comm.read().strip() == "cat"

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.wait()
        for name in [*self.names, self.switch]:
            self._remove(name)

    @staticmethod
    def _remove(name):
        subprocess.run(["ip", "netns", "del", name], stderr=subprocess.DEVNULL)

    def _remove_those_of_ended_processes(self):
        listed = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        for found in self._NAME.finditer(listed):
            if not os.path.exists(f"/proc/{found[1]}"):
                self._remove(found[0])

    @staticmethod
    def _ip(*words):
        subprocess.run(["ip", *words], check=True)

    @staticmethod
    def address(host):
        """Returns the address of a host, from 0."""
        return f"198.18.77.{host + 1}"

    def command(self, host, command):
        """Returns the command that runs a command on a host, in a child process: to end it, signal its process group."""
        return [*self.network(host), "--mount", "--pid", "--wd=.", *command]

    def network(self, host):
        """Returns the words before a command that has a host's network and processors, and sees the processes of this machine, all hosts'."""
        processors = ",".join(map(str, self.processors[host]))
        return ["taskset", "--cpu-list", processors, "nsenter", "--target", self.first_processes[host], "--net"]

    @property
    def slowest(self):
        """The bandwidth of the slowest cable in Mbit/s; None without a limit."""
        return min(self.rates) if self.rates[0] else self.rates[-1]
