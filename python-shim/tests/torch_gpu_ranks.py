"""Checks of the backend "spark" with tensors of a device, as ranks of a barrier stage."""

import faulthandler
import os
import threading
import traceback

SPARK = "spark"
NCCL = "cpu:spark,cuda:nccl"


def checks(device):
    """Return the names of the checks on a device."""
    import torch_cases
    import torch_device_cases
    import torch_gpu_cases

    modules = {"operation": torch_cases, "device": torch_device_cases}
    if device == "cuda":
        modules["gpu"] = torch_gpu_cases
    return [f"{kind} {case.__name__}" for kind, module in modules.items() for case in module.CASES]


def _case(check):
    import torch_cases
    import torch_device_cases
    import torch_gpu_cases

    kind, name = check.split()
    module = {"operation": torch_cases, "device": torch_device_cases, "gpu": torch_gpu_cases}[kind]
    return kind, next(each for each in module.CASES if each.__name__ == name)


def run(check, device, backend=SPARK):
    """Run a check as this rank; return None, or what failed."""
    import torch.distributed as dist

    import spark_collectives.torch  # noqa: F401
    from torch_device_cases import default_device

    kind, case = _case(check)
    dist.init_process_group(backend)
    try:
        rank, size = dist.get_rank(), dist.get_world_size()
        if kind == "gpu":
            case(rank, size)
        else:
            with default_device(device):
                case(rank, size)
        dist.barrier()
        return None
    except Exception:
        return traceback.format_exc()
    finally:
        dist.destroy_process_group()


class Ranks:
    """Runs checks on two ranks of a session; a rank that hangs is ended, and tells its stack."""

    def __init__(self, spark, folder, size=2, limit=90):
        self._spark = spark
        self._folder = folder
        self._size = size
        self._limit = limit

    def failures(self, check, device, backend=SPARK):
        """Run a check; return what failed, a text for each rank that failed."""
        folder, limit, size = self._folder, self._limit, self._size
        stacks = os.path.join(folder, check.replace(" ", "-"))

        def task(rows):
            (index,) = rows
            with open(f"{stacks}.{index}", "w") as file:
                faulthandler.dump_traceback_later(limit, exit=True, file=file)
                try:
                    yield run(check, device, backend)
                finally:
                    faulthandler.cancel_dump_traceback_later()

        found = []

        def job():
            try:
                rows = self._spark.sparkContext.parallelize(range(size), size)
                results = rows.barrier().mapPartitions(task).collect()
                found.extend(each for each in results if each is not None)
            except Exception as e:
                found.append(f"the job failed: {str(e)[:3000]}")

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
                found.append(f"rank {index} hung:\n{stack}")
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
