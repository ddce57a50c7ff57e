"""Runs other programs, and waits for what they do."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

#: A busy machine takes long to start JVMs.
SECONDS = 900


def run(*command, cwd, **variables):
    """Run a program that ends well; return what it has written.

    What it has started and left running ends with it.

    :param variables: of its environment, beside those of this process
    """
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        written = process.communicate(timeout=SECONDS)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == 0, written[-10_000:]
    return written


def eventually(what, seconds, condition):
    """Return what the condition returns, once that is true; else fail with what it says."""
    deadline = time.monotonic() + seconds
    while True:
        found = condition()
        if found:
            return found
        assert time.monotonic() < deadline, what()
        time.sleep(0.1)


def java_home():
    """Return the folder of the Java that runs Maven: a container does not see the PATH."""
    lines = run("java", "-XshowSettings:properties", "-version", cwd=Path.cwd()).splitlines()
    home = next(line for line in lines if line.strip().startswith("java.home ="))
    return Path(home.split("= ")[1])
