"""What ``TorchDistributor`` runs on each rank, in a process of its own."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import runpy
import socket
import sys
import tempfile
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple, Union

import torch
import torch.distributed as dist

from .. import distributed
from ..process_group import ProcessGroup
from . import context, device_choice, private, rendezvous

_MIXED = "cpu:spark,cuda:nccl"

#: The variables by which PySpark's ``_get_spark_partition_data_loader`` finds the rows.
_ROWS = "SPARK_PARTITION_ARROW_DATA_FILE"
_SCHEMA = "SPARK_DATAFRAME_SCHEMA_FILE"

#: What the names of backends mean for the default group of this process; by default, themselves.
_backends: Dict[str, str] = {}


def backend_of(name: str) -> str:
    """Return the backend that a user of the default group means by a name."""
    return _backends.get(name, name)


@dataclasses.dataclass(frozen=True)
class Launch:
    """A function or a script with its arguments, and what the ranks' processes are to be like.

    :param driver_gpus: the GPUs of the driver's machine, where all ranks are; none if each task has
        its own, or none is used
    :param schema: of the DataFrame on whose partitions the ranks train, if there is one
    """

    main: Union[Callable[..., Any], str]
    args: Tuple[Any, ...]
    kwargs: Dict[str, Any]
    processes: int
    local: bool
    use_gpu: bool
    driver_gpus: Sequence[str] = ()
    schema: Optional[str] = None

    @contextlib.contextmanager
    def receive(self, rows: Iterator[Any]) -> Iterator[Dict[str, str]]:
        """Keep the rows of the rank's partition in a file; yield the variables that name it."""
        # What an earlier task of this worker has left ends here, where its threads are.
        dist.is_initialized()
        private.end_compute_threads()
        if self.use_gpu and torch.cuda.is_initialized():
            raise RuntimeError(
                "An earlier task of this Python worker has used CUDA, which a process that is "
                "forked from it cannot do again: set spark.python.worker.reuse=false"
            )
        if self.schema is None:
            for _ in rows:
                pass
            yield {}
            return
        from pyspark import SparkFiles

        with tempfile.TemporaryDirectory(dir=SparkFiles.getRootDirectory()) as folder:
            path, schema = os.path.join(folder, "rows.arrow"), os.path.join(folder, "schema.json")
            with open(schema, "w", encoding="utf-8") as file:
                file.write(self.schema)
            yield {_ROWS: path, _SCHEMA: schema} if _write(rows, path) else {}

    def __call__(self, received: Dict[str, str]) -> Any:
        """Run on the rank that this process is; return the result of rank 0, else None."""
        world = distributed.world()
        if self.schema is not None:
            self._require_rows(world, received)
        os.environ.update(received)
        self._prepare(world)
        if isinstance(self.main, str):
            _run_script(self.main, self.args)
            return None
        result = self.main(*self.args, **self.kwargs)
        return result if world.rank == 0 else None

    def _require_rows(self, world: ProcessGroup, received: Dict[str, str]) -> None:
        if world.size != self.processes:
            raise ValueError(
                f"num_processes is {self.processes}, and the DataFrame has {world.size} "
                f"partitions: they must be the same, as after repartition({self.processes})"
            )
        if not received:
            raise ValueError(
                f"The partition of rank {world.rank} has no rows: repartition the DataFrame so "
                "that each has some"
            )

    def _prepare(self, world: ProcessGroup) -> None:
        """Set what a process of torchrun has, before the function is called."""
        os.environ.update(self._variables(world))
        rendezvous.launched()
        gpus = self._gpus(world.rank)
        if gpus is not None:
            os.environ[device_choice.VISIBLE] = ",".join(gpus)
        local_rank = world.rank if self.local else 0
        device_choice.launched(local_rank if self.use_gpu else None)
        _backends.update(gloo="spark", nccl=_MIXED, undefined=_MIXED if self.use_gpu else "spark")

    def _variables(self, world: ProcessGroup) -> Dict[str, str]:
        rank, size = str(world.rank), str(world.size)
        # As with PySpark: without local_mode each task counts as a node with one process.
        node, nodes = ("0", "1") if self.local else (rank, size)
        local_rank, local_size = (rank, size) if self.local else ("0", "1")
        host, port = _master(world)
        return {
            "RANK": rank,
            "WORLD_SIZE": size,
            "LOCAL_RANK": local_rank,
            "LOCAL_WORLD_SIZE": local_size,
            "NODE_RANK": node,
            "GROUP_RANK": node,
            "GROUP_WORLD_SIZE": nodes,
            "ROLE_NAME": "default",
            "ROLE_RANK": rank,
            "ROLE_WORLD_SIZE": size,
            "MASTER_ADDR": host,
            "MASTER_PORT": port,
            "TORCHELASTIC_RUN_ID": world.name,
            "TORCHELASTIC_RESTART_COUNT": "0",
            "TORCHELASTIC_MAX_RESTARTS": "0",
        }

    def _gpus(self, rank: int) -> Optional[List[str]]:
        """Return the GPUs that CUDA is to see; None for those that it sees anyway."""
        if not self.use_gpu:
            return None if self.local else []
        visible = os.environ.get(device_choice.VISIBLE)
        if self.driver_gpus:
            found = device_choice.visible_as(self.driver_gpus, visible, all_of_process=True)
            if len(found) < self.processes:
                raise RuntimeError(
                    f"{device_choice.VISIBLE} is {visible}, which leaves {len(found)} of the "
                    f"driver's GPUs {', '.join(self.driver_gpus)} to {self.processes} ranks: "
                    f"pass num_processes={len(found)}, or let it name more"
                )
            return found[: self.processes] if self.local else [found[rank]]
        addresses = context.gpu_addresses()
        if not addresses:
            raise RuntimeError(
                f"Spark has given no GPU to the task of rank {rank}: set "
                "spark.executor.resource.gpu.amount and a discovery script, or pass use_gpu=False"
            )
        return device_choice.visible_as(addresses, visible)


def _master(world: ProcessGroup) -> Tuple[str, str]:
    """Return the host of rank 0 and a port that was free there, the same on all ranks."""
    store = world.store()
    if world.rank == 0:
        host = context.host()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family) as free:
            free.bind(("", 0))
            store.set("launch/master", f"{host} {free.getsockname()[1]}")
    host, port = store.get("launch/master").decode().split()
    return host, port


def _write(rows: Iterator[Any], path: str) -> int:
    """Write batches of rows to a file; return the number of rows."""
    import pyarrow as pa

    count = 0
    writer: Any = None
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(open(path, "wb"))
        for batch in rows:
            if writer is None:
                writer = stack.enter_context(pa.ipc.new_stream(file, batch.schema))
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _run_script(path: str, args: Sequence[Any]) -> None:
    """Run a script as ``python path args`` does."""
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"There is no {path} on the host {socket.gethostname()}, where a rank is: give a path "
            "that all ranks' hosts have"
        )
    sys.argv = [path, *map(str, args)]
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as e:
        if e.code not in (None, 0):
            raise
