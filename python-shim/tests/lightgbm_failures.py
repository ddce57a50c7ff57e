"""Trains with a rank that fails in one collective after the other; prints how many ways it ended.

python lightgbm_failures.py SEED
"""

import random
import sys

import lightgbm
import numpy as np

from lightgbm_ranks import PARAMS, FailingGroup, on_threads, part
from spark_collectives.lightgbm import train

KINDS = {
    "binary": {"objective": "binary"},
    "multiclass": {"objective": "multiclass", "num_class": 3},
    "l1": {"objective": "regression_l1"},
    "quantized": {"objective": "binary", "use_quantized_grad": True},
    "voting": {"objective": "binary", "tree_learner": "voting"},
    "bagging": {"objective": "binary", "bagging_fraction": 0.5, "bagging_freq": 1},
    "goss": {"objective": "binary", "data_sample_strategy": "goss"},
    "dart": {"objective": "binary", "boosting": "dart"},
    "forest": {
        "objective": "binary",
        "boosting": "rf",
        "bagging_fraction": 0.5,
        "bagging_freq": 1,
    },
}
ROUNDS = 3
#: Of the collectives of a training, so many fail, beside the first ones.
DRAWN, FIRST = 5, 3


def fit(more, failing):
    class Group(FailingGroup):
        pass

    Group.failing = failing
    calls = []

    def rank(group):
        numbers = np.random.default_rng(3)
        x = numbers.normal(size=(400, 5))
        y = np.floor(np.abs(x[:, 0] + x[:, 1] * x[:, 2])).clip(0, 2 if "num_class" in more else 1)
        data = lightgbm.Dataset(part(x, group.rank, group.size), part(y, group.rank, group.size))
        try:
            return train({**PARAMS, "num_leaves": 7, **more}, data, ROUNDS, group=group)
        finally:
            calls.append(group.calls)

    return on_threads(2, rank, Group), max(calls)


def main():
    draw = random.Random(int(sys.argv[1]))
    runs = 0
    for kind, more in KINDS.items():
        found, calls = fit(more, -1)
        assert all(isinstance(each, lightgbm.Booster) for each in found), (kind, found)
        chosen = {*range(1, FIRST + 1), *draw.sample(range(1, calls + 1), DRAWN), calls}
        for failing in sorted(chosen):
            found, _ = fit(more, failing)
            assert str(found[1]) == f"exchange {failing} failed", (kind, failing, found)
            assert isinstance(found[0], Exception), (kind, failing, found)
            runs += 1
    # The threads and the process can still be used.
    assert all(isinstance(each, lightgbm.Booster) for each in fit(KINDS["binary"], -1)[0])
    print(f"{runs} failures", flush=True)


if __name__ == "__main__":
    main()
