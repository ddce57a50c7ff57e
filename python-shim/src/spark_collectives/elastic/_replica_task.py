"""The task that trains a replica."""

from __future__ import annotations

from typing import Any, Callable, Iterator, Optional, Tuple

from .._rank_task import RankTask
from ..errors import RunOverError, StoreError
from .manager import Manager


class ReplicaTask(RankTask):
    """The task that trains each replica; it is pickled with the function.

    Its result is whether the function has returned, and what: one that comes too late has none.

    :param train: called with the replica's manager and the rows of its partition
    :param elastic_run: identifies the run whose replicas these are
    :param reports: to whom they report; None if to nobody
    """

    def __init__(
        self,
        train: Callable[[Manager, Iterator[Any]], Any],
        elastic_run: str,
        checkpoint_interval: int,
        reports: Optional[str],
        echo: bool,
    ) -> None:
        super().__init__(self._train, reports, echo)
        self._function = train
        self._elastic_run = elastic_run
        self._checkpoint_interval = checkpoint_interval

    def _join(self) -> None:
        pass

    def _train(self, rows: Iterator[Any]) -> Tuple[bool, Any]:
        try:
            manager = Manager._begin(self._elastic_run, self._checkpoint_interval)
            return True, self._function(manager, rows)
        except RunOverError:
            return False, None

    def _is_reported(self, error: BaseException) -> bool:
        # The store refuses a task in whose place another has begun: the run goes on.
        return not isinstance(error, StoreError)
