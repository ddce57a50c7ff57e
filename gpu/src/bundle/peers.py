"""Compares all-reduces of tensors on one GPU: this library beside torch.distributed, over NCCL and by way of the host.

run.sh peers calls it; see docs/internals/measurements/gpu.md. All ranks share the GPU. Rounds of the two take turns; of each the best median counts.
With NCCL each rank says that it is a host of its own, so that NCCL accepts that they share a GPU: what that measures is the cost of a
call and sockets, not NVLink.
"""

import os
import socket
import subprocess
import sys
import time

BACKENDS = {"nccl": "nccl", "netty": "gloo"}
SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20, 256 << 20]
ROUNDS = 3
LIMIT_SECONDS = 120


def count_of(size):
    return max(10, min(2000, (256 << 20) // size))


def run(command, ranks, port):
    """Run the ranks; return the microseconds that rank 0 has printed, by size."""
    processes = []
    for rank in range(ranks):
        environment = dict(os.environ, RANK=str(rank), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        environment.update(NCCL_HOSTID=f"rank{rank}", NCCL_SOCKET_IFNAME="lo", NCCL_IB_DISABLE="1", NCCL_MNNVL_ENABLE="0")
        environment.update(GLOO_SOCKET_IFNAME="lo", OMP_NUM_THREADS="1")
        own = [each.replace("RANK", str(rank)) for each in command]
        output = subprocess.PIPE if rank == 0 else subprocess.DEVNULL
        processes.append(subprocess.Popen(own, env=environment, stdout=output, stderr=subprocess.DEVNULL, text=True))
    try:
        text = processes[0].communicate(timeout=LIMIT_SECONDS)[0]
    finally:
        for process in processes:
            process.kill()
    return {int(line.split()[0]): float(line.split()[1]) for line in text.splitlines()}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def compare(java, backend, ranks, sizes):
    figures = [f"{size}:{count_of(size)}" for size in sizes]
    best = [{}, {}]
    for _ in range(ROUNDS):
        port = free_port()
        ours = [*java, "org.sparkcollectives.gpu.benchmark.WorldBenchmark", "RANK", str(ranks), str(port), backend, *figures]
        theirs = [sys.executable, os.path.abspath(__file__), "rank", BACKENDS[backend], *figures]
        for command, found in zip((ours, theirs), best):
            for size, micros in run(command, ranks, free_port() if command is theirs else port).items():
                found[size] = min(micros, found.get(size, micros))
    name = f"torch, {BACKENDS[backend]}"
    print(f"\nAll-reduce of float32 on one GPU, {ranks} rank{'s' if ranks > 1 else ''}: cuda:{backend} beside {name}")
    print(f"{'bytes':>12} {'ours us':>12} {name + ' us':>18} {'times as fast':>14}", flush=True)
    for size in sizes:
        ours, theirs = best[0].get(size), best[1].get(size)
        if ours and theirs:
            print(f"{size:12,} {ours:12.1f} {theirs:18.1f} {theirs / ours:14.2f}", flush=True)
        else:
            print(f"{size:12,} {ours or 'failed':>12} {theirs or 'failed':>18}", flush=True)


def torch_rank(backend, figures):
    import torch
    import torch.distributed as dist

    torch.cuda.set_device(0)
    dist.init_process_group(backend)
    for figure in figures:
        size, count = map(int, figure.split(":"))
        tensor = torch.zeros(size // 4, device="cuda")
        micros = []
        for i in range(-count, count):
            begin = time.perf_counter()
            dist.all_reduce(tensor)
            torch.cuda.synchronize()
            if i >= 0:
                micros.append((time.perf_counter() - begin) * 1e6)
        if dist.get_rank() == 0:
            print(size, f"{sorted(micros)[count // 2]:.2f}", flush=True)
        del tensor
    dist.barrier()
    dist.destroy_process_group()


def main():
    if sys.argv[1] == "rank":
        torch_rank(sys.argv[2], sys.argv[3:])
        return
    java = sys.argv[1:-1]
    quick = sys.argv[-1] == "quick"
    for backend in BACKENDS:
        for ranks in (1, 2, 4):
            compare(java, backend, ranks, SIZES[:2] if quick else SIZES)


if __name__ == "__main__":
    main()
