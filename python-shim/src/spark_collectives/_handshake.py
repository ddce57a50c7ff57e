"""The handshake with the executor's JVM: each side proves that it knows the task's secret."""

from __future__ import annotations

import hashlib
import hmac
import os
import random
import socket
import struct
import time

from . import errors

MAGIC = 0x53435059
VERSION = 2
CHALLENGE = struct.Struct("<IHBx16s")

#: How long this process tries again while the JVM is too busy to take a connection.
CONNECT_SECONDS = 30.0

_HELLO = struct.Struct("<IHBxqi16s")
_NONCE_BYTES = 16
_PROOF_BYTES = 32
_HANDSHAKE_SECONDS = 10.0
_FIRST_PAUSE_SECONDS = 0.02
_LAST_PAUSE_SECONDS = 1.0


class _BusyError(Exception):
    """The JVM cannot take the connection now: too many others have just connected."""


def connect(host: str, port: int, secret: bytes, attempt: int, purpose: int) -> socket.socket:
    """Connect to the JVM and authenticate, trying again while the JVM is busy.

    :raises BridgeError: if the JVM cannot be reached, is of another release, or refuses
    """
    pause = _FIRST_PAUSE_SECONDS
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return _connect_once(host, port, secret, attempt, purpose)
        except _BusyError as e:
            if time.monotonic() + pause > deadline:
                raise errors.BridgeError(
                    f"The executor's JVM did not take a connection at {host}:{port} within "
                    f"{CONNECT_SECONDS:.0f} s: {e}"
                ) from e
        # A random pause: many processes may have been refused at the same time.
        time.sleep(pause * random.uniform(0.5, 1.0))
        pause = min(2 * pause, _LAST_PAUSE_SECONDS)


def _connect_once(host: str, port: int, secret: bytes, attempt: int, purpose: int) -> socket.socket:
    try:
        connected = socket.create_connection((host, port), timeout=_HANDSHAKE_SECONDS)
    except socket.timeout as e:
        raise _BusyError(f"it does not answer: {e}") from e
    except OSError as e:
        raise errors.BridgeError(
            f"The executor's JVM does not answer at {host}:{port}: {e}. If the task has just "
            "ended, this is a thread that outlived it"
        ) from e
    try:
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _authenticate(connected, secret, attempt, purpose)
    except BaseException:
        connected.close()
        raise
    return connected


def _authenticate(connected: socket.socket, secret: bytes, attempt: int, purpose: int) -> None:
    nonce = os.urandom(_NONCE_BYTES)
    hello = _HELLO.pack(MAGIC, VERSION, purpose, attempt, os.getpid(), nonce)
    _send(connected, hello)
    magic, version, status, theirs = CHALLENGE.unpack(_receive(connected, CHALLENGE.size))
    if magic != MAGIC or version != VERSION or status != 0:
        raise errors.BridgeError(
            f"The jar speaks version {version} of the bridge's protocol and this package "
            f"version {VERSION}: install the package and the jar of the same release"
        )
    _send(connected, hmac.new(secret, b"client" + nonce + theirs + hello, "sha256").digest())
    answer = _receive(connected, 1 + _PROOF_BYTES)
    proof = hmac.new(secret, b"server" + nonce + theirs + hello, hashlib.sha256).digest()
    if answer[0] != 0 or not hmac.compare_digest(answer[1:], proof):
        raise errors.BridgeError(
            "The executor's JVM refused this process: its task has ended, or another program "
            "listens on the port"
        )


def _send(connected: socket.socket, content: bytes) -> None:
    try:
        connected.sendall(content)
    except OSError as e:
        raise _BusyError(f"it closed the connection: {e}") from e


def _receive(connected: socket.socket, count: int) -> bytes:
    content = b""
    while len(content) < count:
        try:
            part = connected.recv(count - len(content))
        except OSError as e:
            raise _BusyError(f"it does not answer: {e}") from e
        if not part:
            raise _BusyError("it closed the connection before this process was authenticated")
        content += part
    return content
