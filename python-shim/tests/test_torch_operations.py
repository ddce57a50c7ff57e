"""Every operation of torch.distributed on the backend "spark", on real workers."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch_cases
from torch_ranks import ranks_of_torch


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("case", [each.__name__ for each in torch_cases.CASES])
def test_gives_what_all_ranks_have_together(spark, case, size):
    ranks_of_torch(spark, getattr(torch_cases, case), size)
