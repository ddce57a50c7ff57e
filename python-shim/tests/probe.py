"""Looks from a Python worker at what its executor's JVM holds."""

import os
import signal


def _parent(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("PPid:"):
                return int(line.split()[1])
    raise AssertionError(f"{pid} has no parent")


def jvm():
    """The process of the executor: the worker's parent is Spark's daemon."""
    pid = os.getpid()
    while True:
        pid = _parent(pid)
        with open(f"/proc/{pid}/comm") as comm:
            if comm.read().strip() == "java":
                return pid


def left_behind():
    """The bridge's threads, and the files and mappings of shared memory, that the JVM has."""
    pid = jvm()
    threads = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/comm") as comm:
                # The system keeps 15 characters of a name.
                threads += comm.read().startswith("collectives-pyt")
        except FileNotFoundError:
            continue
    files = 0
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            files += "spark-collectives-" in os.readlink(f"/proc/{pid}/fd/{descriptor}")
        except FileNotFoundError:
            continue
    with open(f"/proc/{pid}/maps") as maps:
        mappings = sum("spark-collectives-" in line for line in maps)
    return {
        "threads": threads,
        "files": files,
        "mappings": mappings,
        "kept by workers": kept_by_workers(),
    }


def kept_by_workers():
    """The mappings of shared memory that the executor's Python processes have, idle or not."""
    daemon = _parent(os.getpid())
    mappings = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if _parent(pid) == daemon:
                with open(f"/proc/{pid}/maps") as maps:
                    mappings += sum("spark-collectives-" in line for line in maps)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return mappings


def kill_jvm():
    os.kill(jvm(), signal.SIGKILL)
