"""The names that a user gives: each is known, or refused with the nearest that is."""

import numpy as np
import pytest

import spark_collectives as dist
from spark_collectives import _backends, _names

KNOWN = ["rank", "world_size", "SUM", "größe"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("rnk", "rank"), ("wold_size", "world_size"), ("sum", "SUM"), ("grösse", "größe")],
)
def test_a_misspelt_name_has_the_name_that_was_meant(name, meant):
    assert _names.question(name, KNOWN) == f". Did you mean {meant}?"


@pytest.mark.parametrize("name", ["", "x", "speed"])
def test_a_name_that_is_near_none_has_none(name):
    assert _names.question(name, KNOWN) == ""


@pytest.mark.parametrize(
    ("backend", "text"),
    [
        ("sprak", "no backend named .sprak.. Did you mean spark"),
        ("cpu:glo", "Did you mean gloo"),
        ("cup:gloo", "cannot be used"),
        ("nccl", "cannot be used"),
    ],
)
def test_a_backend_that_does_not_exist_is_refused(backend, text):
    with pytest.raises(ValueError, match=text):
        _backends.checked(backend)


@pytest.mark.parametrize("backend", ["spark", "SPARK", "gloo", "cpu:gloo", "netty", "fake", None])
def test_a_backend_that_may_exist_is_left_to_the_jvm(backend):
    _backends.checked(backend)


@pytest.mark.parametrize("value", ["DETIAL", "detail "])
def test_a_debug_level_of_the_environment_is_refused_with_the_nearest(monkeypatch, value):
    monkeypatch.setenv("TORCH_DISTRIBUTED_DEBUG", value)
    with pytest.raises(ValueError, match="Did you mean DETAIL"):
        dist.get_debug_level()


def test_a_reduction_that_is_none_is_refused_with_the_nearest(ranks):
    def refused(rank, size):
        errors = []
        for op in ("ReduceOp.SUMM", "sum", 0, np.add):
            for call in (
                lambda op: dist.all_reduce(np.ones(1), op),
                lambda op: dist.all_reduce(np.ones(1 << 22), op),
                lambda op: dist.reduce(np.ones(1), 0, op),
                lambda op: dist.reduce_scatter(np.ones(1), [np.ones(1)] * size, op),
                lambda op: dist.all_reduce_coalesced([np.ones(1)], op),
            ):
                with pytest.raises(TypeError, match="must be a ReduceOp") as raised:
                    call(op)
                errors.append(str(raised.value))
        return errors

    for errors in ranks(refused, 2):
        assert all("Did you mean SUM?" in each for each in errors[:10])


def test_a_backend_that_the_jvm_does_not_know_is_refused_with_the_nearest(ranks):
    def refused(rank, size):
        with pytest.raises(ValueError, match="Did you mean netty") as raised:
            dist.new_group(backend="nety")
        return str(raised.value)

    ranks(refused, 2)


@pytest.mark.parametrize("argument", ["rnk", "wold_size"])
def test_an_argument_of_torchs_url_is_refused_with_the_nearest(argument):
    pytest.importorskip("torch", reason="torch is not installed")
    from spark_collectives.torch import rendezvous

    with pytest.raises(ValueError, match=f"unknown argument {argument}. Did you mean"):
        next(rendezvous._spark(f"spark://?{argument}=0"))
