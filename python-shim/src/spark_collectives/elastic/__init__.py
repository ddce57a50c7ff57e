"""Training that survives lost executors: replicas of a model, with the calls of torchft.

:func:`run` trains one replica for each partition, in an ordinary stage. When an executor is lost,
the other replicas repeat one step without it and go on; Spark starts the lost task again, which
receives the state of the others::

    from spark_collectives import elastic

    def train(manager, rows):
        batches, model = list(rows), {"weights": np.zeros(100)}
        manager.register_state_dict_fn("model", model.update, lambda: model)
        while manager.start_quorum() < 10_000:
            gradient = compute(model, batches[manager.current_step() % len(batches)])
            manager.allreduce(gradient).wait()
            if manager.should_commit():
                model["weights"] -= 0.1 * gradient
        return model

    model = elastic.run(rdd, train, min_replicas=2, checkpoint_interval=500)

With torch the module also has ``DistributedDataParallel(manager, module)`` and
``Optimizer(manager, optimizer)``, as torchft has.
"""

from __future__ import annotations

from typing import Any

from ..errors import RunOverError
from ._run import run
from .manager import AllReduceWork, Manager

__all__ = ["AllReduceWork", "Manager", "RunOverError", "run"]

_OF_TORCH = ("DistributedDataParallel", "Optimizer")


def __getattr__(name: str) -> Any:
    if name in _OF_TORCH:
        from . import torch_training

        return getattr(torch_training, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
