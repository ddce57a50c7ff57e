"""The parameters of LightGBM that belong to the ranks, and not to the user."""

from __future__ import annotations

from typing import Any, Dict

from . import _library

#: Parameters with which LightGBM would open sockets of its own.
_OF_SOCKETS = ("machines", "machine_list_filename", "local_listen_port")

#: The values that LightGBM reads as true.
_TRUE = ("true", "+", "1")

_LEARNERS = {
    "serial": "data",
    "data": "data",
    "data_parallel": "data",
    "voting": "voting",
    "voting_parallel": "voting",
}


def for_ranks(params: Dict[str, Any], ranks: int, threads: int) -> Dict[str, Any]:
    """Return the parameters with which each of ``ranks`` ranks trains.

    :param threads: the threads that a rank may use, ``spark.task.cpus``
    :raises ValueError: if a parameter is given that cannot be honoured
    """
    for name in _OF_SOCKETS:
        if _library.parameter(params, name) not in (None, ""):
            raise ValueError(
                f"{name} is for LightGBM's own sockets, and the ranks use the collectives of "
                "their group: leave it out"
            )
    for alias in _library.aliases("linear_tree") & params.keys():
        if ranks > 1 and str(params[alias]).lower() in _TRUE:
            raise ValueError(
                f"{alias} is {params[alias]}, and LightGBM has linear trees in one process only: "
                "each rank would train a model of its own rows. Take one rank, or leave it out"
            )
    made = _library.without(params, "tree_learner")
    made["tree_learner"] = _learner(_library.parameter(params, "tree_learner"), ranks)
    for name, value, reason in (
        ("num_machines", ranks, "the number of ranks"),
        ("num_threads", threads, "spark.task.cpus"),
        ("pre_partition", True, "fixed, because each rank has rows of its own"),
    ):
        for alias in _library.aliases(name) & params.keys():
            given = params[alias]
            if given is not None and given != value:
                raise ValueError(f"{alias} is {given}, and must be {value}, {reason}: leave it out")
        made = _library.without(made, name)
        made[name] = value
    return made


def for_bins(params: Dict[str, Any]) -> Dict[str, Any]:
    """Return the parameters that the bins may depend on: an objective that is a function is not."""
    return {name: value for name, value in params.items() if not callable(value)}


def described(value: Any) -> str:
    """Return a value as text that is the same on all ranks: a function differs in its address."""
    return str(getattr(value, "__qualname__", type(value))) if callable(value) else str(value)


def _learner(given: Any, ranks: int) -> str:
    if given is None:
        given = "data"
    if given not in _LEARNERS:
        raise ValueError(
            f"tree_learner is {given}; possible are data and voting. "
            "LightGBM has no feature-parallel learner but over its own sockets"
        )
    return _LEARNERS[given] if ranks > 1 else "serial"
