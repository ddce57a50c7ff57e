"""PyTorch's own tests of ``torch.distributed``, on a backend, by the ranks of a barrier stage.

The tests are those of ``DistributedTest`` in torch's wheel. PyTorch runs each of them in processes
of its own; here each rank is a task, in a process that Spark forks for it. In the folder above::

    python -m pytorch_suite --full --table ../../docs/reference/pytorch-suite.md
"""

#: The number of ranks, as in PyTorch's runs of the tests.
RANKS = 4

#: The backend whose outcomes are compared with ours.
CONTROL = "gloo"

OURS = "spark"
