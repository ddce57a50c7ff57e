"""The parameters of LightGBM: which there are, and which belong to the ranks."""

from __future__ import annotations

import difflib
from typing import Any, Dict, Iterable

from . import _library

#: Parameters with which LightGBM would open sockets of its own.
_OF_SOCKETS = ("machines", "machine_list_filename", "local_listen_port")

#: What LightGBM can do in one process only, and what would become of it.
_OF_ONE_PROCESS = {
    "linear_tree": (
        "linear trees in one process only: each rank would train a model of its own rows"
    ),
    "interaction_constraints": (
        "constraints of interactions in one process only: the ranks would run out of memory"
    ),
    "cegb_penalty_feature_coupled": (
        "penalties of features in one process only: the ranks would train different models"
    ),
    "cegb_penalty_feature_lazy": (
        "penalties of features in one process only: each rank would count its own rows"
    ),
}

#: The values with which these are not used.
_OFF = ("false", "-", "0", "", "[]", "()")

_LEARNERS = {
    "serial": "data",
    "data": "data",
    "data_parallel": "data",
    "voting": "voting",
    "voting_parallel": "voting",
}


def unknown(name: str, others: Iterable[str] = ()) -> str:
    """Return what is wrong with a name that LightGBM would ignore; nothing if it knows it.

    :param others: further names that are possible where this one was given
    """
    known = _library.parameter_names()
    if name in known:
        return ""
    snake = snake_case(name)
    # Of the names of one parameter the one that its documentation has.
    near = difflib.get_close_matches(snake, sorted({*known.values(), *others}), 1)
    near = near or [known[each] for each in difflib.get_close_matches(snake, sorted(known), 1)]
    hint = f". Did you mean {near[0]}?" if near else ""
    return f"LightGBM has no parameter {name}, and would ignore it{hint}"


def canonical(name: str) -> str:
    """Return the name that LightGBM itself uses for a parameter that it knows."""
    return _library.parameter_names()[name]


def snake_case(name: str) -> str:
    """Return a name in LightGBM's style: ``numLeaves`` is ``num_leaves``."""
    return "".join(f"_{each.lower()}" if each.isupper() else each for each in name).lstrip("_")


def require_known(params: Dict[str, Any]) -> None:
    """Require parameters that LightGBM has.

    :raises ValueError: if LightGBM would ignore one, which it does without a word
    """
    for name in params:
        problem = unknown(name)
        if problem:
            raise ValueError(problem)


def _require_one_name(params: Dict[str, Any]) -> None:
    """Require each parameter by one of its names: LightGBM would choose one.

    :raises ValueError: if one is given by two names, with different values
    """
    given: Dict[str, str] = {}
    for name, value in params.items():
        if value is None:
            continue
        other = given.setdefault(canonical(name), name)
        if described(params[other]) != described(value):
            raise ValueError(
                f"{other} is {params[other]} and {name} is {value}, and both are names of one "
                "parameter: leave one out"
            )


def for_ranks(params: Dict[str, Any], ranks: int, threads: int) -> Dict[str, Any]:
    """Return the parameters with which each of ``ranks`` ranks trains.

    :param threads: the threads that a rank may use, ``spark.task.cpus``
    :raises ValueError: if a parameter is given that cannot be honoured
    """
    require_known(params)
    for name in _OF_SOCKETS:
        if _library.parameter(params, name) not in (None, ""):
            raise ValueError(
                f"{name} is for LightGBM's own sockets, and the ranks use the collectives of "
                "their group: leave it out"
            )
    if ranks > 1:
        _require_distributed(params)
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
    _require_one_name(made)
    return made


def _require_distributed(params: Dict[str, Any]) -> None:
    """Refuse what LightGBM cannot do with more than one rank.

    :raises ValueError: if such a parameter is given
    """
    for name, why in _OF_ONE_PROCESS.items():
        for alias in sorted(_library.aliases(name) & params.keys()):
            value = params[alias]
            if value is None or str(value).lower() in _OFF:
                continue
            raise ValueError(
                f"{alias} is {value}, and LightGBM has {why}. Take one rank, or leave it out"
            )


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
