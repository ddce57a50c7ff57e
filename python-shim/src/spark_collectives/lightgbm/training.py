"""The training of one LightGBM model by the ranks of a barrier stage."""

from __future__ import annotations

import math
import socket
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple

from .. import _groups
from . import _bins, _datasets, _library, _lightgbm_parameters, _ranks
from ._metrics import GlobalMetrics
from ._model_checkpoint import ModelCheckpoint
from ._ranks import RankReport
from .network import Network

#: Where the bins come from.
_SHARED, _LOCAL = "shared", "local"


class _FailureCheck:
    """A callback of LightGBM that raises the failure of the network after the round it was in."""

    order = -math.inf
    before_iteration = False

    def __init__(self, network: Network) -> None:
        self._network = network

    def __call__(self, env: Any) -> None:
        self._network.check()


def train(
    params: Dict[str, Any],
    train_set: Any,
    num_boost_round: int = 100,
    valid_sets: Optional[Sequence[Any]] = None,
    valid_names: Optional[Sequence[str]] = None,
    feval: Any = None,
    init_model: Any = None,
    callbacks: Optional[List[Callable[[Any], Any]]] = None,
    *,
    bin_construction: str = _SHARED,
    checkpoint_rounds: int = 0,
    group: Any = None,
) -> Any:
    """Train one model on the rows of all ranks, as ``lightgbm.train`` does on those of one process.

    Every rank of a barrier stage calls it, with the same arguments but for the rows::

        def fit(rows):
            import lightgbm
            from spark_collectives.lightgbm import train

            data = lightgbm.Dataset(*arrays_of(rows))
            yield train({"objective": "binary"}, data).model_to_string()

    All ranks return the same model, a ``lightgbm.Booster`` of the installed package. Arguments not
    described here are those of ``lightgbm.train``. Blocks until the model is trained; each
    collective of the group has the group's timeout. A rank has one call at a time.

    :param params: ``tree_learner`` may be ``data``, the default, or ``voting``. ``num_machines``,
        ``num_threads`` (``spark.task.cpus``) and ``pre_partition`` are set here
    :param train_set: a ``lightgbm.Dataset`` of this rank's rows, not constructed yet, with labels
    :param valid_sets: Datasets of this rank's part of each validation set; the part may have no
        rows, and ``train_set`` itself is possible. Metrics are those of all ranks' rows, see
        ``docs/guide/lightgbm.md`` for which are exact
    :param bin_construction: ``"shared"``: bins come from a sample of all ranks' rows, and are made
        before the network is used, so that the failure of a rank cannot end the others' processes.
        ``"local"``: as over LightGBM's own sockets, with the same model byte for byte if the number
        of ranks is a power of two; each rank makes the bins of some columns from its rows, and if a
        rank fails in that moment, LightGBM may end the Python processes of the others
    :param checkpoint_rounds: after how many rounds the driver keeps the model, from which a later
        attempt of the stage goes on; 0 for never. Sampling of rows and columns and early stopping
        begin anew there, so the model may differ from that of a stage that did not fail
    :param group: the ranks; by default the world group of the barrier stage, which is joined
    :raises ModuleNotFoundError: on all ranks, if lightgbm is missing on one of them
    :raises RuntimeError: on all ranks, if they have different versions of it
    :raises ValueError: on all ranks, if one has no rows, or labels that are NaN, or negative
        weights, or a parameter that cannot be honoured
    :raises CollectiveError: if another rank fails, is killed, or does not come in time
    """
    member = _groups.init_process_group() if group is None else group
    prepared = prepare(
        member,
        params,
        train_set,
        num_boost_round,
        valid_sets or [],
        valid_names,
        init_model,
        bin_construction=bin_construction,
        checkpoint_rounds=checkpoint_rounds,
    )
    return prepared.train(feval, callbacks or [])


class Prepared(NamedTuple):
    """What the ranks agree on before they train."""

    group: Any
    params: Dict[str, Any]
    train_set: Any
    rounds: int
    valid_sets: Sequence[Any]
    valid_names: Optional[Sequence[str]]
    init_model: Any
    checkpoint: ModelCheckpoint

    def train(self, feval: Any, callbacks: Sequence[Callable[[Any], Any]]) -> Any:
        """Train, and return the model."""
        if self.rounds <= 0:
            return self.init_model
        names, present = _validation(self.train_set, self.valid_sets, self.valid_names)
        metrics = GlobalMetrics(self.group, dict(present), names)
        with Network(self.group) as network:
            return _library.load().train(
                self.params,
                self.train_set,
                self.rounds,
                valid_sets=[dataset for _, dataset in present] or None,
                valid_names=[name for name, _ in present] or None,
                feval=feval,
                init_model=self.init_model,
                callbacks=[_FailureCheck(network), metrics, *callbacks, self.checkpoint],
            )


def prepare(
    group: Any,
    params: Dict[str, Any],
    train_set: Any,
    rounds: int,
    valid_sets: Sequence[Any],
    valid_names: Optional[Sequence[str]],
    init_model: Any,
    *,
    bin_construction: str,
    checkpoint_rounds: int,
) -> Prepared:
    """Require arguments and rows with which all ranks can train, and make the bins.

    A collective. What it raises, it raises on all ranks that have the same parameters.
    """
    if bin_construction not in (_SHARED, _LOCAL):
        raise ValueError(
            f"bin_construction is {bin_construction!r}, and must be {_SHARED!r} or {_LOCAL!r}"
        )
    _ranks.require_library(group)
    made = _lightgbm_parameters.for_ranks(params, group.size, _threads())
    arguments = {
        "num_boost_round": rounds,
        "valid_names": _validation(train_set, valid_sets, valid_names)[0],
        "init_model": "no" if init_model is None else f"{_iterations(init_model)} iterations",
        "bin_construction": bin_construction,
        "checkpoint_rounds": checkpoint_rounds,
    }
    rows = _require_rows(group, made, train_set, valid_sets, arguments)
    checkpoint = ModelCheckpoint(group, checkpoint_rounds)
    rounds, init_model = _resumed(checkpoint, made, rounds, init_model)
    if rounds > 0:
        if bin_construction == _SHARED:
            if _bins.is_sampled(made, rows):
                # Else LightGBM drops the columns that cannot part min_data_in_leaf sampled rows.
                made.setdefault("feature_pre_filter", False)
            train_set.reference = _bins.reference(group, train_set, made, rows)
        else:
            # A rank that has failed by now is noticed here, and not where the bins are exchanged.
            group.barrier()
    return Prepared(group, made, train_set, rounds, valid_sets, valid_names, init_model, checkpoint)


def _threads() -> int:
    """Return the number of threads that the task of this rank may use."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 1 if context is None else int(context.cpus())


def _require_rows(
    group: Any,
    params: Dict[str, Any],
    train_set: Any,
    valid_sets: Sequence[Any],
    arguments: Dict[str, Any],
) -> List[int]:
    """Require rows and arguments that fit together on all ranks; return the rows of each."""
    data = train_set.data
    problems: List[str] = []
    rows = columns = 0
    if getattr(train_set, "_handle", None) is not None:
        problems.append(
            "the Dataset has been constructed already, with bins of this rank's rows: pass one "
            "that has not"
        )
    elif data is None or isinstance(data, (str, bytes)) or hasattr(data, "__fspath__"):
        problems.append(f"the Dataset must have rows in memory, and not {data!r}")
    else:
        rows, columns = _datasets.row_count(data), _datasets.column_count(data)
        problems += _datasets.problems(train_set)
        for i, valid_set in enumerate(valid_sets):
            if valid_set is not train_set and valid_set is not None:
                found = _datasets.problems(valid_set)
                problems += [f"validation set {i}: {each}" for each in found]
    settings = {key: _lightgbm_parameters.described(value) for key, value in params.items()}
    settings.update((key, str(value)) for key, value in arguments.items())
    settings.update(_datasets.settings(train_set))
    if arguments["bin_construction"] == _LOCAL:
        settings["categories"] = str(_datasets.categories(data))
    reports = _ranks.require_rows(
        group,
        RankReport(
            socket.gethostname(), _library.version(), rows, columns, settings, tuple(problems)
        ),
    )
    return [report.rows for report in reports]


def _resumed(
    checkpoint: ModelCheckpoint, params: Dict[str, Any], rounds: int, init_model: Any
) -> Tuple[int, Any]:
    """Return how many rounds are left, and the model that they go on from."""
    found = _library.parameter(params, "num_iterations")
    if found is not None:
        rounds = int(found)
        for name in _library.aliases("num_iterations"):
            params.pop(name, None)
    kept = checkpoint.restore()
    if kept is None:
        return rounds, init_model
    iterations, text = kept
    before = _iterations(init_model)
    return rounds - (iterations - before), _library.load().Booster(model_str=text)


def _iterations(model: Any) -> int:
    if model is None:
        return 0
    if not hasattr(model, "current_iteration"):
        model = _library.load().Booster(model_file=model)
    return int(model.current_iteration())


def _validation(
    train_set: Any, valid_sets: Sequence[Any], valid_names: Optional[Sequence[str]]
) -> Tuple[List[str], List[Tuple[str, Any]]]:
    """Return the names of the validation sets, and those of which this rank has rows."""
    names: List[str] = []
    present: List[Tuple[str, Any]] = []
    for i, dataset in enumerate(valid_sets):
        given = valid_names is not None and i < len(valid_names)
        own = "training" if dataset is train_set else f"valid_{i}"
        name = valid_names[i] if given and valid_names is not None else own
        names.append(name)
        if dataset is not None and _datasets.row_count(dataset.data) > 0:
            present.append((name, dataset))
    return names, present
