"""The GPU that a task works on."""

import os
from types import SimpleNamespace

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch

import spark_collectives.torch
from spark_collectives import _task
from spark_collectives.torch import device_choice, launch, rendezvous
from spark_collectives.torch.device_choice import ordinal, visible_as
from spark_collectives.torch.launch import Launch

UUIDS = ["GPU-8f1c", "GPU-9a2b"]


def _ordinal(address, visible=None):
    return ordinal(address, visible, lambda: UUIDS)


def test_an_address_is_counted_among_the_gpus_that_the_process_sees():
    assert _ordinal("3") == 3
    assert _ordinal("3", "2,3") == 1
    assert _ordinal("3", "2,3,-1,0") == 1
    assert _ordinal("2", " 2 , 3") == 0


def test_an_address_may_be_a_uuid_or_its_beginning():
    assert _ordinal("GPU-9a2b") == 1
    assert _ordinal("GPU-9", "GPU-8f1c,GPU-9a2b") == 1


@pytest.mark.parametrize(
    ("address", "visible", "words"),
    [
        ("0", "2,3", "lets this process see only 2,3"),
        # CUDA reads no further than to an entry that names no GPU.
        ("0", "2,-1,0", "lets this process see only 2,-1,0"),
        ("0", "2,,0", "lets this process see only 2,,0"),
        ("0", "-1", 'lets this process see none \\(it is "-1"\\)'),
        ("0", "", 'lets this process see none \\(it is ""\\)'),
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


@pytest.mark.parametrize(
    ("addresses", "visible", "entries"),
    [
        (["3"], None, ["3"]),
        ([" 3"], None, ["3"]),
        (["3"], "2,3,-1,0", ["3"]),
        (["3"], "2,3", ["3"]),
        (["0"], "3, 0", ["0"]),
        # The entries do not say which is the host's, so the discovery script counts them.
        (["1"], "GPU-8f1c,GPU-9a2b", ["GPU-9a2b"]),
        (["GPU-9a2b"], "GPU-8f1c,GPU-9a2b", ["GPU-9a2b"]),
        (["GPU-9"], "GPU-8f1c,GPU-9a2b", ["GPU-9a2b"]),
        (["GPU-9a2b"], "GPU-8,GPU-9", ["GPU-9"]),
        (["GPU-9a2b"], "0,1", ["GPU-9a2b"]),
        (["MIG-11/0"], None, ["MIG-11/0"]),
    ],
)
def test_a_process_is_to_see_the_gpus_of_its_task(addresses, visible, entries):
    assert visible_as(addresses, visible) == entries
    assert visible_as(addresses, visible, all_of_process=True) == entries


@pytest.mark.parametrize(
    ("addresses", "visible", "entries"),
    [
        (["0", "1"], "2,3", ["2", "3"]),
        (["1", "0"], "GPU-8f1c,GPU-9a2b", ["GPU-9a2b", "GPU-8f1c"]),
        (["2", "3"], "3,2", ["2", "3"]),
        # The discovery script lists the host's, of which the variable hides some.
        (["0", "1", "2", "3"], "2,3", ["2", "3"]),
        (["0", "1"], "0", ["0"]),
        (["GPU-8f1c", "GPU-9a2b"], "GPU-9a2b", ["GPU-9a2b"]),
    ],
)
def test_all_gpus_of_a_process_may_be_counted_from_0(addresses, visible, entries):
    assert visible_as(addresses, visible, all_of_process=True) == entries


@pytest.mark.parametrize("all_of_process", [False, True])
@pytest.mark.parametrize(
    ("addresses", "visible", "address"),
    [
        # One of them is an entry, and the other is not: by position both would be GPU 1.
        (["1", "2"], "1,3", "2"),
        (["7"], "2,3", "7"),
        (["2"], "GPU-8f1c,GPU-9a2b", "2"),
        (["GPU-7"], "GPU-8f1c,GPU-9a2b", "GPU-7"),
        (["7"], "2,-1,7", "7"),
    ],
)
def test_a_gpu_outside_of_those_that_are_visible_is_told(
    addresses, visible, address, all_of_process
):
    words = f"Spark has given GPU {address} .* lets this process see only {visible}"
    with pytest.raises(RuntimeError, match=words):
        visible_as(addresses, visible, all_of_process)


@pytest.mark.parametrize("all_of_process", [False, True])
@pytest.mark.parametrize("addresses", [["0"], ["0", "1"], ["GPU-8f1c"]])
@pytest.mark.parametrize("visible", ["", "-1", "-1,0"])
def test_a_variable_that_hides_all_gpus_is_told(addresses, visible, all_of_process):
    words = f"Spark has given GPU {addresses[0]} of the host to the task"
    with pytest.raises(RuntimeError, match=words):
        visible_as(addresses, visible, all_of_process)


def test_a_rank_for_which_no_gpu_is_visible_says_what_to_do(prepared):
    with pytest.raises(RuntimeError, match="leaves 1 of the driver's GPUs 0, 1 to 2 ranks: pass"):
        prepared(0, "0", True, True, ["0", "1"])


def test_a_task_of_several_does_not_take_its_address_for_a_position():
    with pytest.raises(RuntimeError, match="lets this process see only 1,2"):
        visible_as(["0"], "1,2")


@pytest.fixture
def prepared(monkeypatch):
    """Return what a process of ``TorchDistributor`` sees: its variable, and its device."""
    monkeypatch.setattr(Launch, "_variables", lambda *_: {})
    monkeypatch.setattr(rendezvous, "launched", lambda: None)
    monkeypatch.setattr(launch, "_backends", {})
    monkeypatch.setattr(device_choice, "_launched", None)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    def see(rank, visible, local, use_gpu, driver_gpus=()):
        environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
        monkeypatch.setattr(os, "environ", environment)
        program = Launch(print, (), {}, 2, local, use_gpu, driver_gpus)
        program._prepare(SimpleNamespace(rank=rank))
        return environment.get("CUDA_VISIBLE_DEVICES"), spark_collectives.torch.device()

    return see


CPU, FIRST, SECOND = torch.device("cpu"), torch.device("cuda", 0), torch.device("cuda", 1)


@pytest.mark.parametrize(
    ("local", "driver_gpus", "visible", "seen"),
    [
        (True, ["0", "1", "2"], None, [("0,1", FIRST), ("0,1", SECOND)]),
        (True, ["0", "1", "2"], "4,5,6", [("4,5", FIRST), ("4,5", SECOND)]),
        (True, ["5", "4"], "4,5,6", [("5,4", FIRST), ("5,4", SECOND)]),
        (True, ["0", "1"], "GPU-8,GPU-9", [("GPU-8,GPU-9", FIRST), ("GPU-8,GPU-9", SECOND)]),
        (False, ["0", "1", "2"], None, [("0", FIRST), ("1", FIRST)]),
        (False, ["0", "1"], "4,5,6", [("4", FIRST), ("5", FIRST)]),
        (False, ["0", "1"], "GPU-8,GPU-9", [("GPU-8", FIRST), ("GPU-9", FIRST)]),
    ],
)
def test_a_launched_rank_sees_gpus_of_the_driver(prepared, local, driver_gpus, visible, seen):
    for rank in range(2):
        assert prepared(rank, visible, local, True, driver_gpus) == seen[rank]


@pytest.mark.parametrize(
    ("address", "visible", "seen"),
    [
        ("3", None, "3"),
        ("3", "2,3", "3"),
        ("1", "GPU-8f1c,GPU-9a2b", "GPU-9a2b"),
        ("GPU-9a2b", "GPU-8f1c,GPU-9a2b", "GPU-9a2b"),
    ],
)
def test_a_launched_rank_sees_the_gpu_of_its_task(monkeypatch, prepared, address, visible, seen):
    _give(monkeypatch, {"gpu": [address]})
    assert prepared(1, visible, False, True) == (seen, FIRST)


@pytest.mark.parametrize(("local", "seen"), [(True, "2,3"), (False, "")])
def test_a_launched_rank_without_use_gpu_works_on_the_cpu(monkeypatch, prepared, local, seen):
    _give(monkeypatch, {"gpu": ["3"]})
    assert prepared(1, "2,3", local, False) == (seen, CPU)
