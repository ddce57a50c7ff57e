"""The loop that each rank of :func:`iterate` runs."""

from __future__ import annotations

import itertools
from typing import Any, Callable, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _groups, _rank_task
from ._rank_order_sum import RankOrderSum, agreed_shape
from ._snapshots import Snapshots
from ._state_broadcast import described, is_alike, is_plain, state_broadcast
from .errors import CollectiveError
from .process_group import ProcessGroup


class IterationError(RuntimeError):
    """A function of the user has failed on a rank.

    ``iteration`` is 0 if the rank failed while it loaded its rows.
    """

    def __init__(self, message: str, rank: int, iteration: int) -> None:
        super().__init__(message)
        self.rank = rank
        self.iteration = iteration

    def __reduce__(self) -> Tuple[Any, ...]:
        return IterationError, (str(self), self.rank, self.iteration)


class IterationResult(NamedTuple):
    """The result of :func:`iterate`.

    ``state`` is the last state. ``iterations`` is the number of iterations that led to it; those
    that were repeated after a failure count once. ``converged`` says whether ``stop`` has ended the
    loop, and not the number of iterations. ``losses`` has the loss of each iteration, and is empty
    without a loss function; its element ``i`` is the loss of the state before iteration ``i + 1``.
    """

    state: Any
    iterations: int
    converged: bool
    losses: List[float]


class Functions(NamedTuple):
    """The user's functions; the last three may be absent."""

    contribution: Callable[[Any, Any, int], Any]
    update: Callable[[Any, Any, int], Any]
    load: Optional[Callable[[Iterator[Any]], Any]]
    stop: Optional[Callable[[Any, Any, int], Any]]
    loss: Optional[Callable[[Any, Any, int], Any]]


class IterationLoop(NamedTuple):
    """The loop of all ranks; it is pickled with the functions."""

    initial: Any
    functions: Functions
    #: Turns the rows of a partition, of which there is at least one, into the rank's own data.
    collect: Callable[[Iterator[Any]], Any]
    #: Tells whether an element of the rows has any: batches may be empty.
    has_rows: Callable[[Any], bool]
    max_iterations: int
    #: 0 for no checkpoints.
    checkpoint_interval: int

    def run(self, rows: Iterator[Any]) -> Optional[IterationResult]:
        """Run the loop, and return the result on rank 0."""
        return _Rank(_groups.world(), self).run(rows)


class _Rank:
    def __init__(self, group: ProcessGroup, loop: IterationLoop) -> None:
        self._group = group
        self._loop = loop
        self._functions = loop.functions
        self._is_root = group.rank == 0
        self._losses: List[float] = []
        self._sum: Optional[RankOrderSum] = None
        self._snapshots = Snapshots(group)

    def run(self, rows: Iterator[Any]) -> Optional[IterationResult]:
        filled = itertools.dropwhile(lambda each: not self._loop.has_rows(each), rows)
        # Rows may be read from a shuffle or a file: this can fail, too.
        first = self._called("the loader of its rows", 0, next, filled, None)
        data = None
        has_rows = first is not None
        if has_rows:
            load = self._functions.load or self._loop.collect
            data = self._called("the loader of its rows", 0, load, itertools.chain([first], filled))
        state = self._loop.initial
        broadcast = state_broadcast(self._group, state)
        iteration, converged = 0, False
        if self._loop.checkpoint_interval:
            restored = self._snapshots.restore()
            if restored is not None:
                iteration, snapshot = restored
                if self._is_root:
                    state, self._losses = snapshot
                state = broadcast(state)
        while iteration < self._loop.max_iterations and not converged:
            iteration += 1
            total = self._total(self._contribution(state, data, iteration) if has_rows else None)
            if self._is_root:
                # The update may change an array in place.
                compares = self._functions.stop is not None and isinstance(state, np.ndarray)
                previous = state.copy() if compares else state
                state = self._updated(state, total, iteration)
                converged = self._is_converged(previous, state, iteration)
            if iteration < self._loop.max_iterations:
                received = broadcast(None if converged else state)
                converged = received is None
                if not converged:
                    state = received
                    self._keep(state, iteration)
        return IterationResult(state, iteration, converged, self._losses) if self._is_root else None

    def _keep(self, state: Any, iteration: int) -> None:
        interval = self._loop.checkpoint_interval
        if interval and iteration % interval == 0:
            snapshot = (state, self._losses) if self._is_root else None
            self._snapshots.save(iteration, snapshot)

    def _contribution(self, state: Any, data: Any, iteration: int) -> Any:
        where = "its contribution"
        own = self._called(where, iteration, self._functions.contribution, state, data, iteration)
        array = self._called(where, iteration, _numbers, own)
        if self._sum is not None and array.shape != self._sum.shape:
            raise self._failed(
                where,
                iteration,
                ValueError(
                    f"it has the shape {array.shape}, and {self._sum.shape} in the iterations "
                    "before. All must be of one shape"
                ),
            )
        return array

    def _total(self, own: Any) -> Any:
        if self._sum is None:
            shape = agreed_shape(self._group, None if own is None else own.shape)
            self._sum = RankOrderSum(self._group, shape)
        return self._sum(np.zeros(self._sum.shape) if own is None else own)

    def _updated(self, state: Any, total: Any, iteration: int) -> Any:
        shown = {}
        if self._functions.loss is not None:
            loss = self._called(
                "the loss", iteration, self._functions.loss, state, total, iteration
            )
            self._losses.append(self._called("the loss", iteration, float, loss))
            shown["loss"] = f"{self._losses[-1]:.6g}"
        where = "the update of the state"
        updated = self._called(where, iteration, self._functions.update, state, total, iteration)
        if updated is None:
            raise self._failed(where, iteration, TypeError("it returned None"))
        if is_plain(state) and not is_alike(state, updated):
            raise self._failed(
                where,
                iteration,
                ValueError(
                    f"it returned {described(updated)} for {described(state)}. A state that is "
                    "an array must keep its type and shape; put one that changes in a list"
                ),
            )
        _rank_task.report_progress(iteration, self._loop.max_iterations, shown)
        return updated

    def _is_converged(self, previous: Any, state: Any, iteration: int) -> bool:
        stop = self._functions.stop
        if stop is None:
            return False
        return bool(self._called("the stop condition", iteration, stop, previous, state, iteration))

    def _called(self, where: str, iteration: int, function: Callable[..., Any], *args: Any) -> Any:
        try:
            return function(*args)
        except CollectiveError:
            raise
        except Exception as e:
            raise self._failed(where, iteration, e) from e

    def _failed(self, where: str, iteration: int, cause: Exception) -> IterationError:
        when = f"in iteration {iteration}" if iteration else "before the first iteration"
        return IterationError(
            f"Rank {self._group.rank} failed {when}, in {where}: {type(cause).__name__}: {cause}",
            self._group.rank,
            iteration,
        )


def _numbers(contribution: Any) -> Any:
    return np.asarray(contribution, np.float64, order="C")
