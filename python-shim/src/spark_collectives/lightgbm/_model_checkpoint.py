"""Checkpoints of a model in the driver, from which a later attempt of the stage goes on."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np

from .._checkpoint_failures import CheckpointFailures
from ..errors import CollectiveError

_PROGRESS = "lightgbm progress"


class ModelCheckpoint:
    """A callback of LightGBM that keeps the model in the driver each so many rounds.

    A model that cannot be kept or restored costs a line in the log, and never the training.

    :param rounds: how many rounds are between two checkpoints; 0 for none
    """

    #: After early stopping, whose last round needs no checkpoint.
    order = 1000
    before_iteration = False

    def __init__(self, group: Any, rounds: int) -> None:
        self._group = group
        self._rounds = rounds
        #: Where the model is that was kept last.
        self._slot = 1
        self._failures = CheckpointFailures(group, "rounds")

    def __call__(self, env: Any) -> None:
        done = env.iteration - env.begin_iteration + 1
        if self._rounds == 0 or done % self._rounds != 0 or env.iteration + 1 == env.end_iteration:
            return
        text = np.frombuffer(env.model.model_to_string().encode(), np.uint8)
        # Rank 0's is kept. The texts of a voting learner differ in the value of the root.
        size = np.array([text.nbytes], np.int64)
        self._group.broadcast(size, 0)
        if self._group.rank != 0:
            text = np.empty(int(size[0]), np.uint8)
        # The last model that was kept stays until the progress names the new one.
        slot = 1 - self._slot
        progress = np.array([env.iteration + 1, slot, text.nbytes], np.int64)
        try:
            self._group.checkpoint(_model(slot), [text], replicated=True)
            self._group.checkpoint(_PROGRESS, [progress], replicated=True)
            self._slot = slot
        except CollectiveError as error:
            self._failures.pass_over("kept", error)

    def restore(self) -> Optional[Tuple[int, str]]:
        """Return the number of iterations and the model that an earlier attempt has kept, if any.

        A collective; all ranks get the same.
        """
        if self._rounds == 0:
            return None
        try:
            return self._read()
        except CollectiveError as error:
            self._failures.pass_over("restored, and they begin anew", error)
            return None

    def _read(self) -> Optional[Tuple[int, str]]:
        progress = np.zeros(3, np.int64)
        if not self._group.restore(_PROGRESS, [progress]):
            return None
        iterations, self._slot, size = (int(each) for each in progress)
        text = np.empty(size, np.uint8)
        if not self._group.restore(_model(self._slot), [text]):
            return None
        return iterations, text.tobytes().decode()


def _model(slot: int) -> str:
    return f"lightgbm model {slot}"
