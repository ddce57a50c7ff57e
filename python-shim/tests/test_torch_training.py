"""DistributedDataParallel and FSDP on the backend "spark", against gloo and against one process."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch_training
from torch_ranks import IS_NEWEST, WITHOUT_GLOO, ranks_of_torch

HOOKS = ["allreduce_hook", "fp16_compress_hook", "bf16_compress_hook"]
SHARDED = ["fully_sharded_losses", "composably_sharded_losses"]

PLAIN = ("ddp_losses", ())
UNEVEN = ("ddp_of_uneven_inputs", ())
SPARSE = ("ddp_of_sparse_gradients", ())
POWER_SGD = ("ddp_losses_with_power_sgd", ())
HOOKED = [("ddp_losses", (hook,)) for hook in HOOKS]
FULLY = [(name, ()) for name in SHARDED]

#: The functions that run in one stage, by the number of ranks and the backend.
STAGES = {
    (1, "spark"): FULLY,
    (2, "spark"): [PLAIN, SPARSE, *HOOKED, POWER_SGD, *FULLY],
    (2, "gloo"): [PLAIN, SPARSE],
    (4, "spark"): [PLAIN, UNEVEN, *FULLY],
    (4, "gloo"): [PLAIN, UNEVEN],
}


@pytest.fixture(scope="module")
def trained(spark):
    """Run all trainings; return the result of each rank, by ranks, backend and function."""
    found = {}
    for (size, backend), wanted in STAGES.items():
        if backend == "gloo" and not IS_NEWEST:
            continue
        rows = ranks_of_torch(spark, torch_training.several, size, backend, (wanted,))
        for each in wanted:
            found[size, backend, each] = [row[each] for row in rows]
    return found


def of_gloo(trained, size, each):
    """Return the results of gloo's ranks; skip the test where gloo was not run."""
    if not IS_NEWEST:
        pytest.skip(WITHOUT_GLOO)
    return trained[size, "gloo", each]


def test_ddp_has_the_losses_of_gloo_step_by_step(trained):
    ours = trained[2, "spark", PLAIN]
    losses, weights = ours[0]
    assert len(losses) == 24
    assert losses[-1] < losses[0]
    assert weights == ours[1][1]
    # The sum of two addends does not depend on their order: the bits are the same.
    assert ours == of_gloo(trained, 2, PLAIN)


def test_power_sgd_waits_in_callbacks_for_further_collectives(trained):
    losses, others = trained[2, "spark", POWER_SGD]
    assert losses[-1] < losses[0]
    assert others == losses


def test_ddp_of_four_ranks_has_the_losses_of_gloo(trained):
    ours, gloos = trained[4, "spark", PLAIN], of_gloo(trained, 4, PLAIN)
    for (losses, weights), (expected, expected_weights) in zip(ours, gloos):
        assert losses == pytest.approx(expected, rel=1e-4)
        assert weights == pytest.approx(expected_weights, rel=1e-3, abs=1e-4)
        assert weights == ours[0][1]


@pytest.mark.parametrize("hooked", HOOKED, ids=HOOKS)
def test_ddp_accepts_the_communication_hooks_of_torch(trained, hooked):
    ours, plain = trained[2, "spark", hooked], trained[2, "spark", PLAIN]
    tolerance = 1e-6 if hooked[1] == ("allreduce_hook",) else 0.1
    assert ours[0][0] == pytest.approx(plain[0][0], rel=tolerance)
    assert ours[0][1] == ours[1][1]


def test_ddp_joins_ranks_of_uneven_inputs(trained):
    for mine, theirs in zip(trained[4, "spark", UNEVEN], of_gloo(trained, 4, UNEVEN)):
        assert mine == pytest.approx(theirs, rel=1e-6)


def test_ddp_sums_sparse_gradients(trained):
    assert trained[2, "spark", SPARSE] == of_gloo(trained, 2, SPARSE)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("sharded", FULLY, ids=SHARDED)
def test_fsdp_has_the_losses_of_one_process(trained, sharded, size):
    expected = torch_training.losses_of_one_process()
    for losses in trained[size, "spark", sharded]:
        if losses is None:
            pytest.skip("this version of torch has no fully_shard")
        assert losses == pytest.approx(expected, rel=1e-5)
