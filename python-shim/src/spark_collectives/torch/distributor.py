"""PySpark's ``TorchDistributor``, over this library's groups."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, List, Union

from .._display import Display
from .._job import is_remote, require_jar
from .._own_process import OwnProcessTask
from ..runner import partitions, run_on_rows
from .launch import Launch

_GPUS_OF_TASK = "spark.task.resource.gpu.amount"


class TorchDistributor:
    """Trains with PyTorch as PySpark's ``TorchDistributor`` does: only the import changes.

    ::

        from spark_collectives.torch import TorchDistributor

        def train(learning_rate):
            import torch.distributed as dist

            dist.init_process_group("gloo")
            ...
            dist.destroy_process_group()
            return model

        model = TorchDistributor(2, local_mode=False, use_gpu=False).run(train, 1e-3)

    Each rank is a task of a barrier stage, and the function runs in a process of its own there,
    with the environment variables that ``torchrun`` sets: ``RANK``, ``WORLD_SIZE``, ``LOCAL_RANK``,
    ``MASTER_ADDR`` and the others. As with PySpark, ``LOCAL_RANK`` is the rank with ``local_mode``,
    and 0 without, where each task counts as a node. What ranks print appears here, as with
    :func:`spark_collectives.run`.

    The default group is on this library's backend, also where a function, Lightning or Accelerate
    names torch's: ``init_process_group("gloo")`` makes a group of ``"spark"``, ``"nccl"`` one of
    ``"cpu:spark,cuda:nccl"``, and a call without a backend the latter with ``use_gpu``, else the
    former; ``get_backend()`` says which. The ranks meet through the driver. For torch's own backend
    name the device too, ``"cpu:gloo"`` or ``"cuda:nccl"``. ``new_group`` takes names as they are.

    :param num_processes: the number of ranks, each of which needs a slot
    :param local_mode: whether the ranks run on the driver's machine. They are tasks of the session,
        so its master must be ``local[n]`` or ``local-cluster``
    :param use_gpu: whether each rank has a GPU. With ``local_mode`` the ranks see the first GPUs of
        the driver, one for each, and ``LOCAL_RANK`` is the number of theirs; without, a rank sees
        only its own, and ``spark.task.resource.gpu.amount`` must be 1. It is the ``device()`` of
        this module. A ``CUDA_VISIBLE_DEVICES`` that is set before limits which they may be
    :param _ssl_conf: the setting that, if ``true``, allows NCCL, which does not encrypt, between
        machines despite ``spark.ssl.enabled``
    :raises RuntimeError: if there is no session, or it has not what ``local_mode`` or ``use_gpu``
        needs
    :raises ValueError: if ``num_processes`` is less than 1
    """

    def __init__(
        self,
        num_processes: int = 1,
        local_mode: bool = True,
        use_gpu: bool = True,
        _ssl_conf: str = "pytorch.spark.distributor.ignoreSsl",
    ) -> None:
        from pyspark.sql import SparkSession

        if num_processes < 1:
            raise ValueError(f"There must be at least one process, not {num_processes}")
        self.spark = SparkSession.active()
        self.num_processes = num_processes
        self.local_mode = local_mode
        self.use_gpu = use_gpu
        self._driver_gpus: List[str] = []
        if local_mode:
            self._require_local()
        if use_gpu:
            # On one machine NCCL sends nothing over the network.
            if not local_mode:
                self._require_encryption_or(_ssl_conf)
            self._find_gpus()

    def run(self, train_object: Union[Callable[..., Any], str], *args: Any, **kwargs: Any) -> Any:
        """Run a function on all ranks, and return the result of rank 0; or run a script.

        When a rank fails, all stop, and its exception is raised here as
        :func:`spark_collectives.run` does. Blocks until all ranks have ended.

        :param train_object: the function; or the path of a script, which must be there on the hosts
            of all ranks, and runs as the main program
        :param args: of the function; or of the script's command line, as text
        :param kwargs: of the function
        :return: what the function has returned on rank 0; None for a script
        :raises RuntimeError: if the session lacks the library's jar, or fewer slots are free than
            there are ranks
        :raises ValueError: for a script with ``kwargs``
        """
        if isinstance(train_object, str):
            if kwargs:
                raise ValueError(
                    f"A script has no arguments by name, and {', '.join(kwargs)} was given: write "
                    f'run("{train_object}", "--{next(iter(kwargs))}=...")'
                )
            if self.local_mode:
                train_object = os.path.abspath(train_object)
        elif not callable(train_object):
            raise TypeError(
                f"It must be a function or the path of a script, not {type(train_object).__name__}"
            )
        rows = partitions(self.spark, self.num_processes)
        return self._run(rows, self._launch(train_object, args, kwargs))

    def _train_on_dataframe(
        self,
        train_function: Callable[..., Any],
        spark_dataframe: Any,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Run a function on the partitions of a DataFrame, and return the result of rank 0.

        Each partition is a rank, and has rows. The function reads them by
        ``pyspark.ml.torch.distributor._get_spark_partition_data_loader``.

        :raises ValueError: with ``local_mode``, for a partition without rows, or if there are
            not ``num_processes`` partitions
        """
        if self.local_mode:
            raise ValueError("A DataFrame's rows are in tasks: pass local_mode=False")
        if not is_remote(self.spark):
            require_jar(self.spark.sparkContext)
        launch = self._launch(train_function, args, kwargs, spark_dataframe.schema.json())
        return self._run(spark_dataframe, launch)

    def _launch(self, main: Any, args: Any, kwargs: Any, schema: Any = None) -> Launch:
        return Launch(
            main,
            args,
            kwargs,
            self.num_processes,
            self.local_mode,
            self.use_gpu,
            self._driver_gpus,
            schema,
        )

    def _run(self, rows: Any, launch: Launch) -> Any:
        display = Display(self.num_processes, None)
        return run_on_rows(self.spark, rows, launch, display, kind=OwnProcessTask)[0]

    def _setting(self, name: str, default: str) -> str:
        return str(self.spark.conf.get(name, default))

    def _require_local(self) -> None:
        master = self._setting("spark.master", "")
        if is_remote(self.spark) or not master.startswith("local"):
            where = "Spark Connect" if is_remote(self.spark) else master
            raise RuntimeError(
                "local_mode trains on the driver's machine, and the tasks of this session "
                f"({where}) run elsewhere: pass local_mode=False, or begin the session with the "
                f"master local[{self.num_processes}]"
            )

    def _require_encryption_or(self, setting: str) -> None:
        if self._setting("spark.ssl.enabled", "false").lower() != "true":
            return
        if self._setting(setting, "false").lower() != "true":
            raise RuntimeError(
                "spark.ssl.enabled asks for encryption, and NCCL, which connects the GPUs, does "
                f"not encrypt: pass use_gpu=False, or set {setting}=true to train all the same"
            )

    def _find_gpus(self) -> None:
        """Require a GPU for each rank."""
        in_driver = self._setting("spark.master", "").split("[")[0] == "local"
        if is_remote(self.spark) or not (self.local_mode or in_driver):
            amount = self._setting(_GPUS_OF_TASK, "0")
            if amount != "1":
                raise RuntimeError(
                    f"A rank is a task with one GPU, and {_GPUS_OF_TASK} is {amount}: set it to 1, "
                    "or pass use_gpu=False"
                )
            return
        resources = self.spark.sparkContext.resources
        self._driver_gpus = list(resources["gpu"].addresses) if "gpu" in resources else []
        if not self._driver_gpus:
            raise RuntimeError(
                "The driver has no GPUs: begin the session with spark.driver.resource.gpu.amount "
                "and spark.driver.resource.gpu.discoveryScript, or pass use_gpu=False"
            )
        if len(self._driver_gpus) < self.num_processes:
            warnings.warn(
                f"num_processes is {len(self._driver_gpus)} and not {self.num_processes}: the "
                "driver has no more GPUs",
                stacklevel=3,
            )
            self.num_processes = len(self._driver_gpus)
