"""Connections to the driver's JVM for the library's own threads.

PySpark pins each thread of Python to a thread of the JVM, which has Spark's local properties, such
as the job group. In Zeppelin, and with ``PYSPARK_PIN_THREAD=false``, it does not: a call of any
thread takes the connection that was given back last, and each connection is a thread of the JVM. A
second thread could then exchange the connections, and the first one lose its job group.
"""

from __future__ import annotations

import collections
import contextlib
import threading
from typing import Any, Deque, Iterator

_replacing = threading.Lock()


class _IdleConnections:
    """The idle connections of a client of py4j; those of some threads are apart from the others."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared
        self._thread = threading.local()

    def _here(self) -> Any:
        return getattr(self._thread, "connections", self._shared)

    def pop(self) -> Any:
        return self._here().pop()

    def append(self, connection: Any) -> None:
        self._here().append(connection)

    def __len__(self) -> int:
        return len(self._here())

    @contextlib.contextmanager
    def apart(self) -> Iterator[None]:
        connections: Deque[Any] = collections.deque()
        self._thread.connections = connections
        try:
            yield
        finally:
            del self._thread.connections
            for connection in connections:
                connection.close()


@contextlib.contextmanager
def own_connections(gateway: Any) -> Iterator[None]:
    """Give the calling thread connections that no other thread uses, and close them at the end.

    Its first call then reaches a new thread of the JVM, without local properties, and so do all
    further ones. With PySpark's pinned threads it does nothing.
    """
    from py4j.clientserver import ClientServer

    if isinstance(gateway, ClientServer):
        yield
        return
    client = gateway._gateway_client
    with _replacing:
        if not isinstance(client.deque, _IdleConnections):
            client.deque = _IdleConnections(client.deque)
    with client.deque.apart():
        yield
