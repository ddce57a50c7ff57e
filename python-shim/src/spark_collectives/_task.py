"""The Spark task that this process runs, and its connections to the executor's JVM."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, List, Optional, Protocol

from . import _codes, _connection, _version, errors
from ._connection import Connection
from ._numbering import Numbering

_HOST = "spark.collectives.python.host"
_PORT = "spark.collectives.python.port"
_SECRET = "spark.collectives.python.secret"
_SECRET_FILE = "spark.collectives.python.secretFile"
_STORE_TIMEOUT = "spark.collectives.python.storeTimeout"
_NAN_CHECK = "spark.collectives.python.nanCheck"
_DEBUG = "spark.collectives.python.debug"
_JAR_VERSION = "spark.collectives.python.jarVersion"

#: The run whose replica a task is. Executors and workers know the tasks of replicas by it.
RUN = "spark.collectives.python.run"

_lock = threading.Lock()
_current: Optional[Task] = None
_forked = False


class Memory(Protocol):
    """Memory of a task, which the end of the task releases."""

    def close(self) -> None:
        """Release it."""


class Pending(Protocol):
    """The works of a group whose end nobody has seen yet."""

    def settle(self) -> None:
        """Notice those that have ended, so that their arrays have their results."""

    def wait(self) -> None:
        """Wait for all of them, as long as each may take."""


class Task:
    """The connections of one task attempt. Spark reuses Python processes: each task has its own."""

    def __init__(
        self,
        attempt: int,
        host: str,
        port: int,
        secret: bytes,
        wait: float,
        nan_check: bool = False,
    ) -> None:
        self.attempt = attempt
        self.can_map = True
        #: The task's world group, once it has joined. This module does not know the type.
        self.world: Any = None
        #: The group that it joined; another than the world group once that is a shrunk one.
        self.joined: Any = None
        self.numbering = Numbering()
        #: The timeout of the JVM's store, in seconds.
        self.store_wait = wait
        #: Whether the JVM refuses operations on arrays with a NaN.
        self.nan_check = nan_check
        self._host = host
        self._port = port
        self._secret = secret
        self._closed = False
        #: Whether the program has destroyed its groups; the task goes on.
        self.left = False
        self._local = threading.local()
        self._connections: weakref.WeakSet[Connection] = weakref.WeakSet()
        #: The memory of all groups of the task.
        self.pools: weakref.WeakSet[Memory] = weakref.WeakSet()
        #: The works of all groups of the task.
        self.pending: weakref.WeakSet[Pending] = weakref.WeakSet()
        self._liveness = self._connect(_codes.LIVENESS)
        self._watch = threading.Thread(
            target=self._await_end, name="collectives-liveness", daemon=True
        )
        self._watch.start()

    def _await_end(self) -> None:
        """Release all memory when the task ends: Spark may keep the process for another task."""
        self._liveness.await_end()
        self.forget("The executor's JVM has ended, or the task has")
        self._free()

    def await_end(self, seconds: float) -> None:
        """Wait until the task has ended, at most for some seconds."""
        self._watch.join(seconds)

    def _connect(self, purpose: int) -> Connection:
        connection = _connection.connect(
            self._host, self._port, self._secret, self.attempt, purpose
        )
        self._connections.add(connection)
        return connection

    def connection(self) -> Connection:
        """Return the calling thread's own connection."""
        found: Optional[Connection] = getattr(self._local, "connection", None)
        if found is None or self.left:
            self._require_open()
            found = self._connect(_codes.CALLS)
            if self._closed:
                # The task was closed meanwhile, perhaps before this connection was in the set.
                found.close("The task has ended")
            self._local.connection = found
        return found

    def _require_open(self) -> None:
        if self._closed:
            raise errors.GroupClosedError(
                "The groups of this task were destroyed, or the task has ended"
            )

    def settle(self) -> None:
        """Let the works of all groups that have ended have their results."""
        for works in snapshot(self.pending):
            works.settle()

    def wait(self) -> None:
        """Wait for the works of all groups, as long as each may take."""
        for works in snapshot(self.pending):
            works.wait()

    def close(self) -> None:
        """Tell the JVM that the process has left its groups, and close all connections."""
        self.left = True
        self._liveness.leave()
        self.forget("The groups of this task were destroyed")
        self._free()

    def _free(self) -> None:
        for pool in snapshot(self.pools):
            pool.close()

    def forget(self, why: str) -> None:
        """Close the connections without a message to the JVM.

        The task has ended, or the connections belong to a parent process.
        Takes no lock: in a forked process, a thread that does not exist may hold it.
        """
        self._closed = True
        for connection in snapshot(self._connections):
            connection.close(why)


def snapshot(references: weakref.WeakSet[Any]) -> List[Any]:
    """Return the current members of a set to which other threads may add."""
    while True:
        try:
            return list(references)
        except RuntimeError:
            # Another thread has added a member.
            continue


def _context() -> Any:
    try:
        from pyspark import TaskContext
    except ImportError:
        return None
    return TaskContext.get()


def attempt() -> Optional[int]:
    """Return the id of the attempt of the task that this process runs; None outside of a task."""
    context = _context()
    return None if context is None else int(context.taskAttemptId())


def debug_setting() -> str:
    """Return the name of the debug level that Spark's settings say; OFF outside of a task."""
    context = _context()
    return (None if context is None else context.getLocalProperty(_DEBUG)) or "OFF"


def current() -> Optional[Task]:
    """Return the current task if it has connected, else None."""
    task = _current
    if task is None:
        return None
    context = _context()
    if context is not None and context.taskAttemptId() != task.attempt:
        return None
    return task


def connect() -> Task:
    """Return the current task, and connect it if it has not connected yet."""
    global _current
    context = _context()
    if context is None:
        raise RuntimeError(
            "init_process_group() must be called inside a Spark task, and this is the driver or a "
            "process that the task started: call it in the function of "
            "rdd.barrier().mapPartitions(...), df.mapInArrow(..., barrier=True) or "
            "spark_collectives.run(...)"
        )
    if _forked:
        raise RuntimeError(
            "This process was forked from a rank; only the rank itself can use its groups"
        )
    attempt = context.taskAttemptId()
    with _lock:
        if _current is not None and _current.attempt == attempt:
            if not _current._closed:
                return _current
            if not _current.left:
                raise errors.GroupClosedError("The task has ended, or its executor's JVM")
        elif _current is not None:
            # An earlier task of this process; the JVM has closed its connections.
            _current.close()
            _current = None
        _current = Task(attempt, *_address(context))
        return _current


def further_connection() -> Connection:
    """Open a connection for the current task that may outlive its groups, or be used in a fork.

    :raises RuntimeError: if the process runs no task whose executor offers groups
    """
    context = _context()
    if context is None:
        raise RuntimeError("This process does not work for a Spark task")
    host, port, secret, *_ = _address(context)
    return _connection.connect(host, port, secret, context.taskAttemptId())


def _address(context: Any) -> tuple[str, int, bytes, float, bool]:
    port = context.getLocalProperty(_PORT)
    if port is None:
        raise RuntimeError(_why_not(context))
    different = _version.difference(context.getLocalProperty(_JAR_VERSION), "The executor's JVM")
    if different is not None:
        raise errors.BridgeError(different)
    return (
        context.getLocalProperty(_HOST),
        int(port),
        bytes.fromhex(_secret(context)),
        int(context.getLocalProperty(_STORE_TIMEOUT)) / 1000.0,
        context.getLocalProperty(_NAN_CHECK) == "true",
    )


def _secret(context: Any) -> str:
    # With a local master, whose local properties are in Spark's event log.
    file = context.getLocalProperty(_SECRET_FILE)
    if file is None:
        return str(context.getLocalProperty(_SECRET))
    try:
        with open(file, encoding="ascii") as secret:
            return secret.read()
    except OSError as e:
        raise errors.BridgeError(
            f"The secret of this task cannot be read from {file}: {e}. With a local master a "
            "Python worker must run as the user of its JVM, and see its folder spark.local.dir"
        ) from e


def _why_not(context: Any) -> str:
    try:
        from pyspark import BarrierTaskContext

        if context.getLocalProperty(RUN) is None:
            BarrierTaskContext.get()
    except Exception:
        return (
            "This task is not in a barrier stage, so its ranks need not run at the same time: "
            "write rdd.barrier().mapPartitions(...), or mapInArrow(..., barrier=True)"
        )
    return (
        "The executor does not offer groups to Python tasks: start the SparkSession with the jar, "
        "as spark_collectives.configure(SparkSession.builder) does, which sets spark.jars and "
        "spark.plugins=org.sparkcollectives.spark.CollectivesPlugin; with Spark Connect, start the "
        "server with both. And leave spark.collectives.python.enabled at true"
    )


def _after_fork() -> None:
    global _current, _forked
    task = _current
    if task is not None:
        # Of an earlier task nothing is left, and the fork may join the group of the task that runs.
        _forked = _forked or current() is task
        _current = None
        task.forget("This process was forked from a rank")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
