"""``TorchDistributor``: functions and scripts as users have written them for PySpark's."""

import json
import time
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch

import spark_collectives
from spark_collectives.torch import TorchDistributor
from spark_collectives.torch.launch import Launch

pytestmark = pytest.mark.usefixtures("spark")


def distributor(size=2, local_mode=False):
    return TorchDistributor(size, local_mode=local_mode, use_gpu=False)


@pytest.mark.parametrize("local_mode", [True, False])
def test_a_function_written_for_pysparks_class_trains(local_mode):
    def train(learning_rate, steps):
        import threading

        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel

        dist.init_process_group(backend="gloo")
        torch.manual_seed(3)
        model = DistributedDataParallel(torch.nn.Linear(2, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate)
        for _ in range(steps):
            optimizer.zero_grad()
            model(torch.full((4, 2), float(dist.get_rank()))).sum().backward()
            optimizer.step()
        rank = dist.get_rank()
        dist.destroy_process_group()
        # What the other ranks return is not needed, and need not be pickled.
        return model.module.weight.tolist() if rank == 0 else threading.Lock()

    (weights,) = distributor(2, local_mode).run(train, 0.1, steps=2)
    torch.manual_seed(3)
    (first,) = torch.nn.Linear(2, 1).weight.tolist()
    assert weights == pytest.approx([each - 0.4 for each in first])


NAMES = ["RANK", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "WORLD_SIZE", "MASTER_PORT"]


@pytest.mark.parametrize("local_mode", [True, False])
def test_ranks_have_the_variables_of_torchrun(local_mode):
    def look(names):
        import os

        import torch.distributed as dist

        assert dist.is_torchelastic_launched()
        # As Lightning and Accelerate do.
        dist.init_process_group(
            "gloo", rank=int(os.environ["RANK"]), world_size=int(os.environ["WORLD_SIZE"])
        )
        found = [None] * dist.get_world_size()
        dist.all_gather_object(found, [os.environ[each] for each in names])
        return found

    found = distributor(3, local_mode).run(look, NAMES)
    assert len({values.pop() for values in found}) == 1
    for rank, values in enumerate(found):
        node = [rank, 3, 0] if local_mode else [0, 1, rank]
        assert values == list(map(str, [rank, *node, 3]))


def test_ranks_have_the_environment_that_the_session_began_with(monkeypatch, tmp_path):
    def look():
        import os

        return os.environ.get("SET_LATER"), os.getcwd()

    monkeypatch.setenv("SET_LATER", "1")
    monkeypatch.chdir(tmp_path)
    variable, folder = distributor(1, local_mode=True).run(look)
    assert variable is None
    assert folder != str(tmp_path)


def test_the_default_group_is_on_this_backend_unless_torchs_is_named_with_its_device():
    def backends():
        import os

        import torch
        import torch.distributed as dist

        import spark_collectives

        spark_collectives.set_timeout(77)
        seen = []
        for name in ("gloo", None, "spark", "cpu:gloo"):
            dist.init_process_group(name)
            seen.append((dist.get_backend(), type(dist.group.WORLD).__name__))
            tensor = torch.ones(1)
            dist.all_reduce(tensor)
            assert tensor.item() == 2.0
            if name == "gloo":
                assert dist.group.WORLD._timeout == 77.0
                other = dist.new_group(backend="gloo")
                seen.append((dist.get_backend(other), type(other).__name__))
                dist.all_reduce(tensor, group=other)
            dist.destroy_process_group()
        address, port = os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"]
        dist.init_process_group(
            "gloo",
            init_method=f"tcp://{address}:{port}",
            rank=int(os.environ["RANK"]),
            world_size=int(os.environ["WORLD_SIZE"]),
        )
        dist.barrier()
        return seen

    ours = ("spark", "SparkProcessGroup")
    gloo, with_device = ("gloo", "ProcessGroup"), ("cpu:gloo", "ProcessGroup")
    assert distributor().run(backends) == [ours, gloo, ours, ours, with_device]


def test_a_run_begins_with_nothing_that_an_earlier_one_has_left(spark):
    def leave_a_group(_rows):
        import torch
        import torch.distributed as dist

        import spark_collectives.torch  # noqa: F401

        dist.init_process_group("spark")
        # With threads, for which a forked process would wait.
        torch.set_num_threads(2)
        torch.ones(1000, 1000).add(1)
        yield dist.get_rank()

    def draw():
        import os

        import numpy as np
        import torch
        import torch.distributed as dist

        torch.set_num_threads(2)
        torch.ones(1000, 1000).add(1)
        left = torch.get_default_dtype() is torch.float64 or "LEFT" in os.environ
        torch.set_default_dtype(torch.float64)
        os.environ["LEFT"] = "this"
        dist.init_process_group("gloo")
        drawn = [None, None]
        dist.all_gather_object(drawn, (left, np.random.rand()))
        return drawn

    rows = spark.sparkContext.parallelize(range(4), 4)
    rows.barrier().mapPartitions(leave_a_group).collect()
    drawn = [each for _ in range(2) for each in distributor().run(draw)]
    assert not any(left for left, _ in drawn)
    assert len({number for _, number in drawn}) == 4


def test_the_exception_of_a_rank_is_raised_and_what_it_printed_appears(capsys):
    def fail():
        import torch
        import torch.distributed as dist

        dist.init_process_group("gloo")
        print(f"hello from {dist.get_rank()}")
        if dist.get_rank() == 1:
            raise LookupError("no such shard")
        dist.all_reduce(torch.ones(1))

    with pytest.raises(LookupError, match="no such shard") as error:
        distributor(3).run(fail)
    assert "in fail" in str(error.value.__cause__)
    assert "[rank 1] hello from 1\n" in capsys.readouterr().out


def test_the_end_of_a_ranks_process_says_which_and_how():
    def vanish():
        import os
        import signal

        import torch.distributed as dist

        dist.init_process_group("gloo")
        if dist.get_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        dist.barrier()

    with pytest.raises(RuntimeError, match="The process of rank 1 was ended by SIGKILL"):
        distributor().run(vanish)


def test_a_ranks_process_ends_with_its_worker(tmp_path):
    def lose_the_worker(folder):
        import os
        import signal
        import time

        import torch.distributed as dist

        dist.init_process_group("gloo")
        with open(f"{folder}/{dist.get_rank()}", "w") as file:
            file.write(str(os.getpid()))
        dist.barrier()
        if dist.get_rank() == 1:
            # As Spark does to the worker of a task that it kills.
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(600)
        dist.barrier()

    with pytest.raises(Exception, match=r"rank 1|exited unexpectedly"):
        distributor().run(lose_the_worker, str(tmp_path))
    deadline = time.monotonic() + 60
    for rank in range(2):
        process = Path("/proc", (tmp_path / str(rank)).read_text())
        while process.exists() and "zombie" not in (process / "status").read_text():
            assert time.monotonic() < deadline, f"the process of rank {rank} is still there"
            time.sleep(0.05)


SCRIPT = """
import argparse
import json

import torch
import torch.distributed as dist

import beside


class Model(torch.nn.Linear):
    pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("folder")
    arguments = parser.parse_args()
    dist.init_process_group("gloo")
    tensor = torch.tensor(arguments.learning_rate)
    dist.all_reduce(tensor)
    if dist.get_rank() == 0:
        torch.save(Model(1, 1), f"{arguments.folder}/model.pt")
        with open(f"{arguments.folder}/result.json", "w") as file:
            json.dump([tensor.item(), beside.NAME], file)
    raise SystemExit(beside.CODE)


if __name__ == "__main__":
    main()
"""


@pytest.fixture
def script(tmp_path):
    """Write a script that ends with an exit code, and return its path."""

    def write(code):
        (tmp_path / "beside.py").write_text(f"NAME = 'beside'\nCODE = {code}\n")
        (tmp_path / "train.py").write_text(SCRIPT)
        return str(tmp_path / "train.py")

    return write


@pytest.mark.parametrize("local_mode", [True, False])
def test_a_script_runs_with_its_arguments(script, tmp_path, monkeypatch, local_mode):
    path = script(0)
    if local_mode:
        monkeypatch.chdir(tmp_path)
        path = "train.py"
    ran = distributor(2, local_mode).run(path, "--learning-rate=0.25", tmp_path)
    assert ran is None
    assert json.loads((tmp_path / "result.json").read_text()) == [0.5, "beside"]


def test_a_script_that_fails_or_is_not_there_raises_an_error(script, tmp_path):
    with pytest.raises(spark_collectives.RankFailedError, match="SystemExit: 3"):
        distributor().run(script(3), "--learning-rate", 1, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no /nowhere/train.py on the host"):
        distributor().run("/nowhere/train.py")


def test_trains_on_the_partitions_of_a_dataframe(spark):
    pytest.importorskip("pyarrow")

    def train(count, batch_size):
        import torch
        import torch.distributed as dist
        from pyspark.ml.torch.distributor import _get_spark_partition_data_loader

        dist.init_process_group("gloo")
        batches = list(_get_spark_partition_data_loader(count, batch_size))
        total = torch.stack([values.sum() for _, values in batches]).sum()
        dist.all_reduce(total)
        return len(batches), total.item()

    def rows(count):
        return spark.range(0, count, 1, 2).selectExpr("id", "double(id) AS value")

    frame = rows(16)
    assert distributor()._train_on_dataframe(train, frame, 8, batch_size=4) == (2, 120.0)
    with pytest.raises(ValueError, match="num_processes is 3, and the DataFrame has 2 partitions"):
        distributor(3)._train_on_dataframe(train, frame, 8, 4)
    with pytest.raises(ValueError, match="The partition of rank 0 has no rows"):
        distributor()._train_on_dataframe(train, rows(1), 8, 4)
    with pytest.raises(ValueError, match="local_mode=False"):
        distributor(local_mode=True)._train_on_dataframe(train, frame, 8, 4)


def test_refuses_what_cannot_be_run(spark):
    with pytest.raises(ValueError, match="at least one process, not 0"):
        TorchDistributor(0)
    with pytest.raises(TypeError, match="use_gpus"):
        TorchDistributor(2, use_gpus=False)
    with pytest.raises(TypeError, match="a function or the path of a script, not int"):
        distributor().run(3)
    with pytest.raises(ValueError, match=r'run\("train.py", "--steps=..."\)'):
        distributor().run("train.py", steps=3)
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set("spark.collectives.preflight.timeout", "0s")
    try:
        with pytest.raises(RuntimeError, match="100 partitions"):
            distributor(100).run(print)
    finally:
        conf.remove("spark.collectives.preflight.timeout")


def test_needs_a_session_and_a_local_one_for_local_mode(monkeypatch):
    from pyspark.sql import SparkSession

    settings = {"spark.master": "yarn"}
    with monkeypatch.context() as patch:
        patch.setattr(TorchDistributor, "_setting", lambda _, name, default: settings[name])
        with pytest.raises(RuntimeError, match=r"this session \(yarn\) run elsewhere"):
            distributor(local_mode=True)
    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda _: None))
    monkeypatch.setattr(SparkSession, "_instantiatedSession", None)
    with pytest.raises(RuntimeError, match="session"):
        distributor()


def test_needs_a_gpu_for_each_rank_and_no_encryption_of_nccl(monkeypatch):
    with pytest.raises(RuntimeError, match="The driver has no GPUs"):
        TorchDistributor(2)
    settings = {"spark.master": "yarn", "spark.task.resource.gpu.amount": "2"}
    monkeypatch.setattr(
        TorchDistributor, "_setting", lambda _, name, default: settings.get(name, default)
    )
    with pytest.raises(RuntimeError, match=r"spark.task.resource.gpu.amount is 2"):
        TorchDistributor(2, local_mode=False)
    settings["spark.task.resource.gpu.amount"] = "1"
    TorchDistributor(2, local_mode=False)
    settings["spark.ssl.enabled"] = "true"
    with pytest.raises(RuntimeError, match=r"set pytorch.spark.distributor.ignoreSsl=true"):
        TorchDistributor(2, local_mode=False)
    distributor()
    monkeypatch.setattr(TorchDistributor, "_find_gpus", lambda _: None)
    settings["spark.master"] = "local[2]"
    TorchDistributor(2, local_mode=True)
    settings["my.setting"] = "true"
    TorchDistributor(2, False, True, "my.setting")


@pytest.mark.parametrize(
    ("local_mode", "seen"),
    [(True, [["4,6", 0], ["4,6", 1]]), (False, [["4", 0], ["6", 0]])],
)
def test_ranks_work_on_the_gpus_of_the_driver(local_mode, seen):
    def look():
        import os

        import torch
        import torch.distributed as dist

        import spark_collectives.torch

        # As on a host with GPUs, which this one need not have.
        torch.cuda.is_available = lambda: True
        device = spark_collectives.torch.device()
        assert device.type == "cuda"
        dist.init_process_group("gloo")
        found = [None, None]
        dist.all_gather_object(found, [os.environ["CUDA_VISIBLE_DEVICES"], device.index])
        return found

    ours = distributor(2, local_mode)
    ours.use_gpu, ours._driver_gpus = True, ["4", "6", "7"]
    assert ours.run(look) == seen


def test_refuses_a_worker_that_has_used_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_initialized", lambda: True)
    with Launch(print, (), {}, 1, False, use_gpu=False).receive(iter(())) as received:
        assert received == {}
    launch = Launch(print, (), {}, 1, False, use_gpu=True)
    with pytest.raises(RuntimeError, match=r"worker\.reuse=false"), launch.receive(iter(())):
        pass


@pytest.mark.parametrize("local_mode", [True, False])
def test_lightning_trains_as_it_is(local_mode, tmp_path):
    pytest.importorskip("lightning", reason="lightning is not installed")

    def train(devices, nodes, folder):
        import lightning
        import torch
        from torch.utils.data import DataLoader, TensorDataset

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(1, 1)

            def training_step(self, batch):
                inputs, targets = batch
                return torch.nn.functional.mse_loss(self.layer(inputs), targets)

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), lr=0.1)

        numbers = torch.arange(16.0).reshape(16, 1) / 16
        trainer = lightning.Trainer(
            accelerator="cpu",
            devices=devices,
            num_nodes=nodes,
            strategy="ddp",
            max_epochs=20,
            default_root_dir=folder,
            logger=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
        )
        trainer.fit(model := Model(), DataLoader(TensorDataset(numbers, 2 * numbers), batch_size=4))
        loss = torch.nn.functional.mse_loss(model.layer(numbers), 2 * numbers)
        return trainer.world_size, trainer.global_step, loss.item()

    devices, nodes = (2, 1) if local_mode else (1, 2)
    ran = distributor(2, local_mode).run(train, devices, nodes, str(tmp_path))
    assert ran[:2] == (2, 40)
    assert ran[2] < 0.2


def test_accelerate_trains_as_it_is():
    pytest.importorskip("accelerate", reason="accelerate is not installed")

    def train():
        import torch
        from accelerate import Accelerator
        from torch.utils.data import DataLoader, TensorDataset

        accelerator = Accelerator(cpu=True)
        torch.manual_seed(1)
        model = torch.nn.Linear(1, 1)
        numbers = torch.arange(16.0).reshape(16, 1) / 16
        model, optimizer, batches = accelerator.prepare(
            model,
            torch.optim.SGD(model.parameters(), lr=0.1),
            DataLoader(TensorDataset(numbers, 2 * numbers), batch_size=4),
        )
        steps = 0
        for _ in range(20):
            for inputs, targets in batches:
                optimizer.zero_grad()
                accelerator.backward(torch.nn.functional.mse_loss(model(inputs), targets))
                optimizer.step()
                steps += 1
        ranks = accelerator.gather(torch.tensor([accelerator.process_index]))
        loss = torch.nn.functional.mse_loss(model(numbers), 2 * numbers)
        return accelerator.num_processes, ranks.tolist(), steps, loss.item()

    # It keeps its state in the process, where the second run must not find it.
    for _ in range(2):
        *ran, loss = distributor().run(train)
        assert ran == [2, [0, 1], 40]
        assert loss < 0.2
