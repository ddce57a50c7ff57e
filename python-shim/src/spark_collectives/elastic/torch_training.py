"""What torch's modules and optimizers need to be trained as replicas."""

from __future__ import annotations

import importlib
import os
from datetime import timedelta
from typing import Any, Callable, Dict, Optional

import torch
import torch.distributed as dist

from .manager import Manager


class DistributedDataParallel(torch.nn.parallel.DistributedDataParallel):  # type: ignore[misc]
    """torch's module of that name, whose gradients are averaged over the replicas of a step.

    They are reduced while the backward pass goes on. Call it between
    :meth:`Manager.start_quorum` and :meth:`Manager.should_commit`. Buffers that a forward pass
    changes, such as those of batch normalization, are each replica's own until it is healed.

    :param manager: of this replica
    :param module: on one device
    :param kwargs: as torch's class takes them, but no ``process_group``; ``static_graph`` and
        ``find_unused_parameters=False`` are refused
    :raises ValueError: for these
    """

    def __init__(self, manager: Manager, module: torch.nn.Module, **kwargs: Any) -> None:
        if kwargs.get("static_graph") or not kwargs.get("find_unused_parameters", True):
            raise ValueError(
                "static_graph=True and find_unused_parameters=False cannot be used: torch would "
                "order the gradients anew after the first step, and a replica that begins later "
                "would have them in another order than the others"
            )
        _join_alone()
        super().__init__(module, **{**kwargs, "find_unused_parameters": True})
        # torch refuses annotations other than its own, and knows none of them as text.
        self.register_comm_hook(manager, lambda manager, bucket: _reduced(manager, bucket))


def _reduced(manager: Manager, bucket: Any) -> Any:
    """Return a future of the mean of a bucket, which is also that of parameters unused here.

    torch knows of this replica alone which parameters were used, and would leave the gradients of
    the others as they are.
    """

    def spread(mean: Any) -> Any:
        value = mean.value()
        for parameter, gradient in zip(bucket.parameters(), bucket.gradients()):
            if parameter.grad is None:
                parameter.grad = gradient.clone()
            elif parameter.grad.data_ptr() != gradient.data_ptr():
                parameter.grad.copy_(gradient)
        return value

    return manager.allreduce(bucket.buffer()).get_future().then(spread)


def _join_alone() -> None:
    """Give torch a default group of this process alone, which its module needs.

    It is that of this task only: Spark may use the process for another one.
    """
    importlib.import_module("spark_collectives.torch")
    if dist.is_initialized():
        return
    # It connects to nobody, and must not depend on the name of the host.
    before = os.environ.get("GLOO_SOCKET_IFNAME")
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    try:
        dist.init_process_group(
            "gloo", store=dist.HashStore(), rank=0, world_size=1, timeout=timedelta(minutes=30)
        )
    finally:
        if before is None:
            del os.environ["GLOO_SOCKET_IFNAME"]
        else:
            os.environ["GLOO_SOCKET_IFNAME"] = before


class Optimizer(torch.optim.Optimizer):  # type: ignore[misc]
    """An optimizer whose steps are those of a replica.

    :meth:`zero_grad` begins a step, so call it before the forward pass; :meth:`step` ends it, and
    changes the parameters if it is committed. A step that was begun and never ended, as
    ``torch.amp.GradScaler`` does where gradients are infinite, is repeated by all replicas.

    :param manager: of this replica
    :param optim: the optimizer that changes the parameters
    """

    def __init__(self, manager: Manager, optim: torch.optim.Optimizer) -> None:
        # Not torch's own, whose parameters and state would be others.
        self.manager = manager
        self.optim = optim

    @property
    def param_groups(self) -> Any:
        """The groups of parameters of the optimizer."""
        return self.optim.param_groups

    @property
    def state(self) -> Any:
        """The state of the optimizer."""
        return self.optim.state

    @property
    def defaults(self) -> Any:
        """The defaults of the optimizer, which schedulers of the learning rate look at."""
        return self.optim.defaults

    def add_param_group(self, param_group: Dict[str, Any]) -> None:
        """Add a group of parameters to the optimizer."""
        self.optim.add_param_group(param_group)

    def state_dict(self) -> Dict[str, Any]:
        """Return the state of the optimizer."""
        return dict(self.optim.state_dict())

    def load_state_dict(self, state_dict: Dict[str, Any]) -> None:
        """Set the state of the optimizer."""
        self.optim.load_state_dict(state_dict)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Begin a step, which may replace the registered state, and clear the gradients."""
        if self.manager.is_participating():
            self.manager.report_error(RuntimeError("the optimizer left the step out"))
            self.manager.should_commit()
        self.manager.start_quorum()
        self.optim.zero_grad(set_to_none)

    def step(self, closure: Optional[Callable[[], Any]] = None) -> None:
        """End the step, and change the parameters if it is committed.

        :raises ValueError: for a closure, which would be called after the step's end
        """
        if closure is not None:
            raise ValueError("A closure cannot be used: the gradients of a step are reduced once")
        if self.manager.should_commit():
            self.optim.step()

    def __repr__(self) -> str:
        return f"Optimizer({self.optim!r})"
