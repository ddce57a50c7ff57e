"""What this library is compared with. A peer that is not there is skipped, and that is said."""

import functools
import os
import re
import shutil
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "target/python/bin/python"
MPI_PROGRAM = "target/comparison/mpi_ranks"
LIMIT_SECONDS = 900


class Failed(Exception):
    """A program that did not do what it should; the message says which, and its last words."""


def run(command, **options):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_SECONDS, **options)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"{command[0]} has not ended within {LIMIT_SECONDS} s") from late
    if done.returncode != 0:
        raise Failed(f"{' '.join(command)} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def medians(text):
    """Lines of a count and microseconds."""
    lines = [line.split() for line in text.splitlines()]
    return {int(count): float(micros) for count, micros in lines}


def wait_for_quiet(load):
    deadline = time.monotonic() + 600
    while load is not None and os.getloadavg()[0] >= load and time.monotonic() < deadline:
        time.sleep(5)


def install_gloo():
    if not os.path.exists(PYTHON):
        run([sys.executable, "-m", "venv", "target/python"])
    index = ["--index-url", "https://download.pytorch.org/whl/cpu"]
    try:
        run([PYTHON, "-m", "pip", "install", "--retries", "1", "torch", *index])
    except Failed:
        print("PyTorch's own index is not reachable; installing from pip's", file=sys.stderr)
        run([PYTHON, "-m", "pip", "install", "torch"])


def available():
    """The peers that are there: functions of operation, ranks, seconds for a count and counts."""
    found = {}
    python = gloo_python()
    if python is None:
        print("Gloo is skipped: no Python here has torch; --install brings it", file=sys.stderr)
    else:
        found["Gloo tcp"] = lambda *what: gloo(python, *what)
    if shutil.which("mpirun") is None or shutil.which("mpicc") is None:
        print("Open MPI is skipped: no mpirun and mpicc on the PATH (Debian: openmpi-bin, libopenmpi-dev)", file=sys.stderr)
    else:
        os.makedirs(os.path.dirname(MPI_PROGRAM), exist_ok=True)
        run(["mpicc", "-O2", "-o", MPI_PROGRAM, os.path.join(HERE, "mpi_ranks.c")])
        found["MPI shm"] = lambda *what: mpi([shared_memory()], *what)
        found["MPI tcp"] = lambda *what: mpi(["self,tcp", "--mca", "btl_tcp_if_include", "lo"], *what)
    return found


def shared_memory():
    """Open MPI's transports within a host; the second has had another name since 5."""
    return "self,vader" if re.search(r"\) [1-4]\.", versions()["Open MPI"]) else "self,sm"


def gloo_python():
    for python in (PYTHON, sys.executable):
        if os.path.exists(python):
            if subprocess.run([python, "-c", "import torch.distributed"], capture_output=True).returncode == 0:
                return python
    return None


@functools.cache
def versions():
    python = gloo_python()
    return {
        "PyTorch": run([python, "-c", "import torch; print(torch.__version__)"]).strip() if python else None,
        "Open MPI": run(["mpirun", "--version"]).splitlines()[0] if shutil.which("mpirun") else None,
    }


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


def gloo(python, operation, ranks, seconds, counts):
    environment = dict(os.environ, WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(free_port()),
                       GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
    command = [python, os.path.join(HERE, "gloo_ranks.py"), operation, str(seconds), *map(str, counts)]
    others = [
        subprocess.Popen(command, env=dict(environment, RANK=str(rank)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for rank in range(1, ranks)
    ]
    try:
        return medians(run(command, env=dict(environment, RANK="0")))
    finally:
        for other in others:
            try:
                other.wait(10)
            except subprocess.TimeoutExpired:
                other.kill()


def mpi(btl, operation, ranks, seconds, counts):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return medians(run([
        "mpirun", *root, "--oversubscribe", "--bind-to", "none", "-np", str(ranks), "--mca", "pml", "ob1", "--mca", "btl", *btl,
        MPI_PROGRAM, operation, str(seconds), *map(str, counts),
    ]))
