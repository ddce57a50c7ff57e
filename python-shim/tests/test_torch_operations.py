"""Every operation of torch.distributed on the backend "spark", on real workers."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch_cases
from torch_ranks import ranks_of_torch

SIZES = [1, 2, 4]


@pytest.fixture(scope="module")
def outcomes(spark):
    return {size: ranks_of_torch(spark, torch_cases.run_all, size) for size in SIZES}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", [each.__name__ for each in torch_cases.CASES])
def test_an_operation_returns_what_the_tensors_of_all_ranks_give(outcomes, case, size):
    for rank, failures in enumerate(outcomes[size]):
        assert case not in failures, f"rank {rank}: {failures[case]}"
