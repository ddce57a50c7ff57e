"""Operations of the backend "spark" on tensors of another device than the CPU."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from torch.utils import backend_registration

if not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"):
    pytest.skip("this torch cannot have a device in Python", allow_module_level=True)

import torch_cases
import torch_device_cases
from torch_ranks import ranks_of_torch

SIZES = [1, 2, 4]
CASES = [*torch_cases.CASES, *torch_device_cases.CASES]


def _run_all(rank, size):
    with torch_device_cases.default_device("otherdevice"):
        return torch_cases.run_all(rank, size, CASES)


@pytest.fixture(scope="module")
def outcomes(spark):
    return {size: ranks_of_torch(spark, _run_all, size) for size in SIZES}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("case", [each.__name__ for each in CASES])
def test_an_operation_returns_on_a_device_what_it_returns_on_the_cpu(outcomes, case, size):
    for rank, failures in enumerate(outcomes[size]):
        assert case not in failures, f"rank {rank}: {failures[case]}"
