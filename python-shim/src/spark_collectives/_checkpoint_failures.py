"""What happens where a checkpoint cannot be kept or restored."""

from __future__ import annotations

import logging
from typing import Any

from .errors import CollectiveError

_log = logging.getLogger(__name__)


class CheckpointFailures:
    """Logs that a checkpoint cannot be kept or restored, once: it costs no more than a line.

    :param work: what goes on without it, such as ``"iterations"``
    """

    def __init__(self, group: Any, work: str) -> None:
        self._group = group
        self._work = work
        self._is_logged = False

    def pass_over(self, what: str, error: Exception) -> None:
        """Log the first failure on rank 0; raise one with which the group has failed."""
        if isinstance(error, CollectiveError) and type(error) is not CollectiveError:
            raise error
        if self._group.rank == 0 and not self._is_logged:
            _log.warning(
                "A checkpoint of the %s could not be %s. They go on: %s", self._work, what, error
            )
        self._is_logged = True
