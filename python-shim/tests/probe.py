"""Functions that a Python worker calls to see the resources of its executor's JVM."""

import os
import re
import signal

#: The name of a file of shared memory; the jars of the package have names that begin alike.
_SHARED_MEMORY = re.compile(r"/spark-collectives-[0-9a-f]+( |$)")


def _parent(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("PPid:"):
                return int(line.split()[1])
    raise AssertionError(f"{pid} has no parent")


def jvm():
    """Return the process id of the executor; Spark's daemon is between it and the worker."""
    pid = os.getpid()
    while True:
        pid = _parent(pid)
        with open(f"/proc/{pid}/comm") as comm:
            if comm.read().strip() == "java":
                return pid


def _is_shared_memory(line):
    return _SHARED_MEMORY.search(line) is not None


def left_behind():
    """Return the numbers of the JVM's bridge threads, and files and mappings of shared memory."""
    pid = jvm()
    threads = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{thread}/comm") as comm:
                # Linux keeps 15 characters of a thread's name.
                threads += comm.read().startswith("collectives-pyt")
        except FileNotFoundError:
            continue
    files = 0
    for descriptor in os.listdir(f"/proc/{pid}/fd"):
        try:
            files += _is_shared_memory(os.readlink(f"/proc/{pid}/fd/{descriptor}"))
        except FileNotFoundError:
            continue
    with open(f"/proc/{pid}/maps") as maps:
        mappings = sum(map(_is_shared_memory, maps))
    return {
        "threads": threads,
        "files": files,
        "mappings": mappings,
        "kept by workers": kept_by_workers(),
    }


def kept_by_workers():
    """Return the number of mappings of shared memory in the executor's Python processes."""
    daemon = _parent(os.getpid())
    mappings = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if _parent(pid) == daemon:
                with open(f"/proc/{pid}/maps") as maps:
                    mappings += sum(map(_is_shared_memory, maps))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return mappings


def kill_jvm():
    os.kill(jvm(), signal.SIGKILL)
