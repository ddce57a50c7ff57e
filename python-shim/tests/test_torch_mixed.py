"""Groups of torch with the backend "spark" beside another one."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

from torch.utils import backend_registration

import torch_mixed_cases
from torch_ranks import ranks_of_torch

pytestmark = pytest.mark.skipif(
    not hasattr(backend_registration, "_setup_privateuseone_for_python_backend"),
    reason="this torch cannot have a device in Python",
)


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("configuration", torch_mixed_cases.CONFIGURATIONS)
def test_tensors_go_to_the_backend_of_their_device(spark, configuration, size):
    run = torch_mixed_cases.all_of_a_mixed_group
    failures = ranks_of_torch(spark, run, size, arguments=(configuration,))
    assert failures == [None] * size, "\n".join(filter(None, failures))
