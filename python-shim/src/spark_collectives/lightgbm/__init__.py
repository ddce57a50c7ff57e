"""Trains LightGBM models in the tasks of a barrier stage, without LightGBM's sockets.

:class:`LGBMClassifier`, :class:`LGBMRegressor` and :class:`LGBMRanker` are estimators of
``pyspark.ml``::

    from spark_collectives.lightgbm import LGBMClassifier

    model = LGBMClassifier(num_workers=4, n_estimators=100).fit(df)

In a stage of your own, each task calls :func:`train`, as ``lightgbm.train`` in one process::

    booster = train({"objective": "binary"}, lightgbm.Dataset(x, y), 100)

:class:`Network` gives LightGBM a process group as its network, for other loops. No port is
opened, a rank that is lost ends the others with an error that names it, and what ranks send is
encrypted as the group's messages are.

Needs the package ``lightgbm`` 4.0 or later, which is not installed with this one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .network import Network
from .training import train

if TYPE_CHECKING:
    from .estimators import LGBMClassifier, LGBMRanker, LGBMRegressor
    from .models import LGBMClassificationModel, LGBMRankerModel, LGBMRegressionModel

__all__ = [
    "LGBMClassificationModel",
    "LGBMClassifier",
    "LGBMRanker",
    "LGBMRankerModel",
    "LGBMRegressionModel",
    "LGBMRegressor",
    "Network",
    "train",
]


def __getattr__(name: str) -> Any:
    """Import pyspark.ml only where estimators and models are used, which ranks do not."""
    if name in __all__:
        from . import estimators, models

        return getattr(models if name.endswith("Model") else estimators, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
