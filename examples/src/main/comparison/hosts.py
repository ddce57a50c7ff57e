"""Where ranks run: on this machine as it is, or on two hosts made of it."""

import os
import signal
import subprocess
import sys


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
    """Two network namespaces with a cable between them, for as long as the ``with`` block lasts. Linux, as root.

    They have networks of their own, but the machine's processes and /dev/shm: what runs there must be told not to share memory.

    :param mbit: the bandwidth in each direction in Mbit/s, or None for that of the machine's memory
    """

    device = "cable"

    def __init__(self, mbit=None):
        self.mbit = mbit
        self.names = [f"collectives-{os.getpid()}-{host}" for host in (0, 1)]

    def __enter__(self):
        # Ends the block, so that nothing of the hosts is left.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("terminated"))
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
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
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
        """Returns the command that runs a command on a host."""
        return ["ip", "netns", "exec", self.names[host], *command]
