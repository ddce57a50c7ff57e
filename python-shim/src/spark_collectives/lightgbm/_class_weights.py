"""The weights of classes, as LightGBM's classifier for scikit-learn has them."""

from __future__ import annotations

from typing import Any, Dict, Sequence, Union

import numpy as np

from ._ranks import gathered

BALANCED = "balanced"

#: A weight for each label, or :data:`BALANCED`: classes weigh the same with all their rows.
ClassWeight = Union[str, Dict[float, float]]


def of_rows(group: Any, given: ClassWeight, classes: Sequence[float], numbers: Any) -> Any:
    """Return the weights of this rank's rows to train on. A collective.

    :param classes: the labels
    :param numbers: of each row the number of its class
    :raises ValueError: on all ranks, if a weight is that of a label that does not exist
    """
    if given != BALANCED:
        weights = np.ones(len(classes))
        for label, weight in dict(given).items():  # type: ignore[arg-type]
            if label not in classes:
                found = ", ".join(f"{each:g}" for each in classes[:10])
                raise ValueError(
                    f"class_weight has a weight for {label:g}, which is no label: those are {found}"
                    + (", ..." if len(classes) > 10 else "")
                )
            weights[list(classes).index(label)] = weight
        return weights[numbers]
    counts = np.sum(gathered(group, np.bincount(numbers, minlength=len(classes))), axis=0)
    # A class that has held-out rows only does not count.
    trained = np.count_nonzero(counts)
    return (counts.sum() / (trained * np.maximum(counts, 1).astype(np.float64)))[numbers]
