"""What this library is compared with. A peer that is not there is skipped, and that is said."""

import functools
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

import hosts as places

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


def figures(text):
    """Lines of a count, a median time, and a processor time of each rank; both in microseconds."""
    lines = [line.split() for line in text.splitlines()]
    return {int(count): (float(micros), float(cpu)) for count, micros, cpu in lines}


def medians(text):
    """The median times of these lines."""
    return {count: micros for count, (micros, _) in figures(text).items()}


def run_ranks(commands, hosts, **environment):
    """Runs a command for each rank, on as many hosts as there are, neighbours together; each finds its place in the group in its environment.
    Returns what rank 0 prints."""
    ranks = len(commands)
    world = dict(os.environ, WORLD_SIZE=str(ranks), MASTER_ADDR=hosts.address(0), MASTER_PORT=str(free_port()), **environment)

    def place(rank):
        return hosts.command(rank * hosts.count // ranks, commands[rank]), dict(world, RANK=str(rank))

    others = []
    try:
        for rank in range(1, ranks):
            there, its = place(rank)
            others.append(subprocess.Popen(
                there, env=its, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))
        there, its = place(0)
        return run(there, env=its)
    finally:
        for other in others:
            try:
                other.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(other.pid, signal.SIGKILL)


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
        found["Gloo tcp"] = lambda *what: medians(gloo(python, *what))
    if build_mpi_program():
        found["MPI shm"] = lambda *what: medians(mpi([shared_memory()], *what))
        found["MPI tcp"] = lambda *what: medians(mpi(["self,tcp", "--mca", "btl_tcp_if_include", "lo"], *what))
    return found


def build_mpi_program():
    """Returns whether there is Open MPI, and says so if not."""
    if shutil.which("mpirun") is None or shutil.which("mpicc") is None:
        print("Open MPI is skipped: no mpirun and mpicc on the PATH (Debian: openmpi-bin, libopenmpi-dev)", file=sys.stderr)
        return False
    os.makedirs(os.path.dirname(MPI_PROGRAM), exist_ok=True)
    run(["mpicc", "-O2", "-o", MPI_PROGRAM, os.path.join(HERE, "mpi_ranks.c")])
    return True


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


def gloo(python, operation, ranks, seconds, counts, hosts=None):
    """What rank 0 of a Gloo group prints."""
    hosts = hosts or places.OneHost()
    command = [python, os.path.join(HERE, "gloo_ranks.py"), operation, str(seconds), *map(str, counts)]
    return run_ranks([command] * ranks, hosts, GLOO_SOCKET_IFNAME=hosts.device, OMP_NUM_THREADS="1")


def mpi(btl, operation, ranks, seconds, counts):
    """What rank 0 of an MPI program on this host prints."""
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return run([
        "mpirun", *root, "--oversubscribe", "--bind-to", "none", "-np", str(ranks), "--mca", "pml", "ob1", "--mca", "btl", *btl,
        MPI_PROGRAM, operation, str(seconds), *map(str, counts),
    ])


def mpi_on_hosts(hosts, operation, ranks, seconds, counts):
    """What rank 0 of an MPI program on several hosts prints. Ranks of one host share memory."""
    with tempfile.TemporaryDirectory() as folder:
        agent, names = os.path.join(folder, "agent"), os.path.join(folder, "hosts")
        # mpirun starts its daemons by this, as by ssh: with an address and a command. Each host has a name, by which MPI tells them apart.
        cases = "".join(
            f"{hosts.address(host)}) set -- {shlex.join(hosts.command(host, ['unshare', '--uts', 'sh', '-c']))} \"hostname host{host} && $*\" ;;\n"
            for host in range(hosts.count))
        with open(agent, "w", encoding="utf-8") as script:
            script.write(f'#!/bin/sh\nto=$1\nshift\ncase "$to" in\n{cases}*) exit 1 ;;\nesac\nexec "$@"\n')
        os.chmod(agent, 0o755)
        with open(names, "w", encoding="utf-8") as lines:
            lines.writelines(f"{hosts.address(host)} slots={ranks // hosts.count}\n" for host in range(hosts.count))
        root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
        return run([
            *hosts.network(0), "unshare", "--uts", "sh", "-c", 'hostname host0 && exec "$@"', "sh",
            "mpirun", *root, "--bind-to", "none", "-np", str(ranks), "--hostfile", names, "--mca", "plm_rsh_agent", agent, "--mca", "pml", "ob1",
            "--mca", "btl", f"{shared_memory()},tcp", "--mca", "btl_tcp_if_include", hosts.device, "--mca", "oob_tcp_if_include", hosts.device,
            os.path.abspath(MPI_PROGRAM), operation, str(seconds), *map(str, counts),
        ])
