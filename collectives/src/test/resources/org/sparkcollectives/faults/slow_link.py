"""Links two network namespaces by a line with a delay, a bandwidth and losses, as packets meet them.

    slow_link.py NAMESPACE ADDRESS NAMESPACE ADDRESS

Each namespace gets a TUN device, and this process carries the packets between the two: Linux's own queueing discipline for this
(netem) is not in every kernel. It prints "ready", and then does what the lines of its input say, until the input ends:

    line MILLISECONDS MEGABITS LOSS   the delay and the bandwidth of each direction, and the share of packets that are lost
    cut                               all packets are lost from now on; no connection is reset
"""

import collections
import ctypes
import errno
import fcntl
import os
import random
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
DEVICE = "line0"
LARGEST_PACKET = 65536
# What a router would keep before it drops packets.
QUEUE_BYTES = 1 << 20
PACKETS_IN_A_ROW = 64


def enter(namespace):
    """Makes the open file's network that of this process."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(namespace.fileno(), 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def open_device(namespace, address):
    """Returns the descriptor of a new TUN device in a namespace."""
    with open("/proc/self/ns/net") as here, open(f"/run/netns/{namespace}") as there:
        enter(there)
        try:
            device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN | IFF_NO_PI))
            subprocess.run(["ip", "addr", "add", f"{address}/24", "dev", DEVICE], check=True)
            subprocess.run(["ip", "link", "set", DEVICE, "up"], check=True)
        finally:
            enter(here)
    return device


class Line:
    """What all packets have to pass."""

    delay = 0.0
    bytes_per_second = 125e6
    loss = 0.0
    is_cut = False

    def obey(self, words):
        if words[0] == "cut":
            self.is_cut = True
        else:
            milliseconds, megabits, loss = map(float, words[1:])
            self.delay = milliseconds / 1e3
            self.bytes_per_second = megabits * 125e3
            self.loss = loss
            self.is_cut = False


class Direction:
    """Carries packets from one device to the other."""

    def __init__(self, source, target, line):
        self.source = source
        self.target = target
        self.line = line
        self.under_way = collections.deque()
        self.idle_from = 0.0

    def take(self):
        """Reads what is there."""
        for _ in range(PACKETS_IN_A_ROW):
            try:
                packet = os.read(self.source, LARGEST_PACKET)
            except BlockingIOError:
                return
            now = time.monotonic()
            backlog = (self.idle_from - now) * self.line.bytes_per_second
            if self.line.is_cut or random.random() < self.line.loss or backlog > QUEUE_BYTES:
                continue
            self.idle_from = max(now, self.idle_from) + len(packet) / self.line.bytes_per_second
            self.under_way.append((self.idle_from + self.line.delay, packet))

    def deliver(self):
        """Writes what has arrived, and returns when the next packet will; None if there is none."""
        while self.under_way and self.under_way[0][0] <= time.monotonic():
            _, packet = self.under_way.popleft()
            if self.line.is_cut:
                continue
            try:
                os.write(self.target, packet)
            except OSError as error:
                if error.errno not in (errno.EAGAIN, errno.EIO):
                    raise
        return self.under_way[0][0] if self.under_way else None


def main():
    one = open_device(sys.argv[1], sys.argv[2])
    other = open_device(sys.argv[3], sys.argv[4])
    line = Line()
    directions = {one: Direction(one, other, line), other: Direction(other, one, line)}
    commands = sys.stdin.fileno()
    pending = b""
    print("ready", flush=True)
    while True:
        due = [when for when in (each.deliver() for each in directions.values()) if when is not None]
        patience = max(0.0, min(due) - time.monotonic()) if due else None
        readable, _, _ = select.select([*directions, commands], [], [], patience)
        for each in readable:
            if each != commands:
                directions[each].take()
                continue
            text = os.read(commands, 4096)
            if not text:
                return
            *lines, pending = (pending + text).split(b"\n")
            for command in lines:
                line.obey(command.decode().split())
                print("done", flush=True)


main()
