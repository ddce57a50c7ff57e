"""The GPU that a task works on."""

from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch

import spark_collectives.torch
from spark_collectives import _task
from spark_collectives.torch.device_choice import ordinal

UUIDS = ["GPU-8f1c", "GPU-9a2b"]


def _ordinal(address, visible=None):
    return ordinal(address, visible, lambda: UUIDS)


def test_an_address_is_counted_among_the_gpus_that_the_process_sees():
    assert _ordinal("3") == 3
    assert _ordinal("3", "") == 3
    assert _ordinal("3", "2,3") == 1
    assert _ordinal("2", " 2 , 3") == 0


def test_an_address_may_be_a_uuid_or_its_beginning():
    assert _ordinal("GPU-9a2b") == 1
    assert _ordinal("GPU-9", "GPU-8f1c,GPU-9a2b") == 1


@pytest.mark.parametrize(
    ("address", "visible", "words"),
    [
        ("0", "2,3", "lets this process see only 2,3"),
        ("0", "GPU-8f1c,GPU-9a2b", "Let the discovery script print UUIDs too"),
        ("GPU-7", None, "this process sees only"),
    ],
)
def test_a_gpu_that_the_process_does_not_see_is_told(address, visible, words):
    with pytest.raises(RuntimeError, match=words):
        _ordinal(address, visible)


def _give(monkeypatch, resources):
    context = SimpleNamespace(
        resources=lambda: {
            name: SimpleNamespace(addresses=addresses) for name, addresses in resources.items()
        }
    )
    monkeypatch.setattr(_task, "_context", lambda: context)


def test_a_task_without_a_gpu_works_on_the_cpu(monkeypatch):
    assert spark_collectives.torch.device() == torch.device("cpu")
    _give(monkeypatch, {"fpga": ["f1"]})
    assert spark_collectives.torch.device() == torch.device("cpu")


def test_a_task_works_on_the_first_gpu_that_it_has(monkeypatch):
    _give(monkeypatch, {"gpu": ["5", "7"]})
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,5,7")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert spark_collectives.torch.device() == torch.device("cuda", 1)


def test_a_torch_without_cuda_is_told(monkeypatch):
    _give(monkeypatch, {"gpu": ["0"]})
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="install a build of torch for CUDA"):
        spark_collectives.torch.device()
