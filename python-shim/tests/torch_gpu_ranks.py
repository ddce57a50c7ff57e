"""Checks of the backend "spark" with tensors of a device, as ranks of a barrier stage."""

import faulthandler
import os
import threading
import traceback

#: The kinds of checks that take a GPU, and their groups: the backend, and whether it is bound.
GROUPS = {
    "gpu": ("spark", False),
    "gpu-bound": ("spark", True),
    "nccl": ("cpu:spark,cuda:nccl", False),
    "nccl-bound": ("cuda:nccl,cpu:spark", True),
    "nccl-alone": ("nccl", False),
}

#: Two ranks of one GPU are refused by NCCL unless it takes them for ranks of two hosts.
_OF_NCCL = {"NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": "1", "NCCL_MNNVL_ENABLE": "0"}


def _cases(kind):
    if kind == "operation":
        import torch_cases

        return torch_cases.CASES
    if kind == "device":
        import torch_device_cases

        return torch_device_cases.CASES
    import torch_gpu_cases
    import torch_nccl_cases

    return {
        "gpu": torch_gpu_cases.CASES,
        "gpu-bound": [torch_gpu_cases.ddp],
        "nccl": torch_nccl_cases.CASES,
        "nccl-bound": torch_nccl_cases.CASES,
        "nccl-alone": torch_nccl_cases.ALONE,
    }[kind]


def checks(device):
    """Return the names of the checks on a device."""
    kinds = ["operation", "device", *(GROUPS if device == "cuda" else ())]
    return [f"{kind} {case.__name__}" for kind in kinds for case in _cases(kind)]


def run(check, device):
    """Run a check as this rank; return None, or what failed."""
    import torch
    import torch.distributed as dist

    import spark_collectives
    import spark_collectives.torch
    from torch_device_cases import default_device

    kind, name = check.split()
    case = next(each for each in _cases(kind) if each.__name__ == name)
    backend, bound = GROUPS.get(kind, ("spark", False))
    options = {"device_id": torch.device("cuda", 0)} if bound else {}
    if kind in GROUPS:
        torch.cuda.set_device(0)
    if "nccl" in backend:
        own = spark_collectives.init_process_group().rank
        os.environ.update(_OF_NCCL, NCCL_HOSTID=f"rank{own}")
    dist.init_process_group(backend, **options)
    try:
        # Within the other one: an error of the end counts, too, and a check that fails aborts.
        try:
            rank, size = dist.get_rank(), dist.get_world_size()
            if kind in GROUPS:
                case(rank, size)
            else:
                with default_device(device):
                    case(rank, size)
            dist.barrier()
        finally:
            dist.destroy_process_group()
    except Exception:
        return traceback.format_exc()
    return None


class Ranks:
    """Runs checks on two ranks of a session; one that hangs is ended. It and one that crashes tell
    their stacks."""

    def __init__(self, spark, folder, size=2, limit=90):
        self._spark = spark
        self._folder = folder
        self._size = size
        self._limit = limit

    def failures(self, check, device):
        """Run a check; return what failed, a text for each rank that failed."""
        folder, limit, size = self._folder, self._limit, self._size
        stacks = os.path.join(folder, check.replace(" ", "-"))

        def task(rows):
            (index,) = rows
            with open(f"{stacks}.{index}", "w") as file:
                faulthandler.enable(file)
                faulthandler.dump_traceback_later(limit, exit=True, file=file)
                try:
                    yield run(check, device)
                finally:
                    faulthandler.cancel_dump_traceback_later()
                    faulthandler.disable()

        found = []

        def job():
            try:
                rows = self._spark.sparkContext.parallelize(range(size), size)
                results = rows.barrier().mapPartitions(task).collect()
                found.extend(each for each in results if each is not None)
            except Exception as e:
                # PySpark may fail to tell why: a RecursionError says that it could not.
                found.append(f"the job failed: {type(e).__name__}: {str(e)[:3000]}")

        thread = threading.Thread(target=job, daemon=True)
        thread.start()
        thread.join(limit + 60)
        if thread.is_alive():
            self._spark.sparkContext.cancelAllJobs()
            found.append(f"the job has not ended after {limit + 60} s")
        for index in range(size):
            with open(f"{stacks}.{index}", "a+") as file:
                file.seek(0)
                stack = file.read()
            if stack:
                found.append(f"rank {index} hung or crashed:\n{stack}")
        return found


def session(folder, size=2):
    """Start a session of executors on this machine, each with one rank's slot."""
    from pyspark.sql import SparkSession

    import spark_collectives

    tests = os.path.dirname(os.path.abspath(__file__))
    path = os.pathsep.join(filter(None, [tests, os.environ.get("PYTHONPATH")]))
    builder = (
        SparkSession.builder.master(f"local-cluster[{size},1,1024]")
        .appName("spark_collectives on a GPU")
        .config("spark.ui.enabled", "false")
        .config("spark.local.dir", folder)
        .config("spark.executorEnv.PYTHONPATH", path)
        .config("spark.collectives.timeout", "60s")
        .config("spark.collectives.store.timeout", "60s")
    )
    made = spark_collectives.configure(builder).getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made
