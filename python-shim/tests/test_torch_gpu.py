"""The backend "spark" with the tensors of a GPU, which two ranks share.

`python tests/gpu_program.py` runs the same without pytest.
"""

import pytest

pytest.importorskip("torch", reason="torch is not installed: pip install spark-collectives[torch]")

import torch

import torch_gpu_ranks

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")


@pytest.fixture(scope="module")
def ranks(spark, tmp_path_factory):
    return torch_gpu_ranks.Ranks(spark, str(tmp_path_factory.mktemp("stacks")))


@pytest.mark.parametrize("check", torch_gpu_ranks.checks("cuda"))
def test_a_gpu(ranks, check):
    failures = ranks.failures(check, "cuda")
    assert not failures, "\n".join(failures)
