"""DistributedDataParallel and FSDP on the backend "spark", against gloo and against one process."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch_training
from torch_ranks import ranks_of_torch


def test_ddp_has_the_losses_of_gloo_step_by_step(spark):
    ours = ranks_of_torch(spark, torch_training.ddp_losses, 2, "spark")
    gloos = ranks_of_torch(spark, torch_training.ddp_losses, 2, "gloo")
    # Two addends have one sum, in whichever order: the same bits.
    assert ours == gloos
    losses, weights = ours[0]
    assert len(losses) == 24
    assert losses[-1] < losses[0]
    assert weights == ours[1][1]


def test_ddp_of_four_ranks_has_the_losses_of_gloo(spark):
    ours = ranks_of_torch(spark, torch_training.ddp_losses, 4, "spark")
    gloos = ranks_of_torch(spark, torch_training.ddp_losses, 4, "gloo")
    for (losses, weights), (expected, expected_weights) in zip(ours, gloos):
        assert losses == pytest.approx(expected, rel=1e-4)
        assert weights == pytest.approx(expected_weights, rel=1e-3, abs=1e-4)
        assert weights == ours[0][1]


@pytest.mark.parametrize("hook", ["allreduce_hook", "fp16_compress_hook", "bf16_compress_hook"])
def test_ddp_takes_hooks_of_torch(spark, hook):
    ours = ranks_of_torch(spark, torch_training.ddp_losses, 2, "spark", (hook,))
    plain = ranks_of_torch(spark, torch_training.ddp_losses, 2, "spark")
    tolerance = 1e-6 if hook == "allreduce_hook" else 0.1
    assert ours[0][0] == pytest.approx(plain[0][0], rel=tolerance)
    assert ours[0][1] == ours[1][1]


def test_ddp_joins_ranks_of_uneven_inputs(spark):
    ours = ranks_of_torch(spark, torch_training.ddp_of_uneven_inputs, 4, "spark")
    gloos = ranks_of_torch(spark, torch_training.ddp_of_uneven_inputs, 4, "gloo")
    for mine, theirs in zip(ours, gloos):
        assert mine == pytest.approx(theirs, rel=1e-6)


def test_ddp_sums_sparse_gradients(spark):
    ours = ranks_of_torch(spark, torch_training.ddp_of_sparse_gradients, 2, "spark")
    gloos = ranks_of_torch(spark, torch_training.ddp_of_sparse_gradients, 2, "gloo")
    assert ours == gloos


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("name", ["fully_sharded_losses", "composably_sharded_losses"])
def test_fsdp_has_the_losses_of_one_process(spark, name, size):
    expected = torch_training.losses_of_one_process()
    for losses in ranks_of_torch(spark, getattr(torch_training, name), size):
        if losses is None:
            pytest.skip("this version of torch has no fully_shard")
        assert losses == pytest.approx(expected, rel=1e-5)
