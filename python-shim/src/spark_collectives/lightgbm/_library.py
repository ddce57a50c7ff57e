"""The user's ``lightgbm`` package. It is imported when a rank trains, and never earlier."""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Set


def load() -> Any:
    """Import ``lightgbm``.

    :raises ModuleNotFoundError: if it is not installed
    :raises OSError: if its library, or one that it needs such as libgomp, cannot be loaded
    """
    try:
        import lightgbm
    except ModuleNotFoundError as e:
        if e.name != "lightgbm":
            raise
        raise ModuleNotFoundError(
            "The package lightgbm is not installed: pip install lightgbm, in the same version on "
            "every executor",
            name="lightgbm",
        ) from None
    return lightgbm


def version() -> str:
    """Return the version of ``lightgbm``; raise as :func:`load` does."""
    return str(load().__version__)


def native() -> Any:
    """Return LightGBM's C library, as ``ctypes`` has loaded it."""
    return load().basic._LIB


def aliases(name: str) -> Set[str]:
    """Return all names of a parameter, its own included."""
    return set(load().basic._ConfigAliases.get(name))


def parameter_names() -> Dict[str, str]:
    """Return all names of all parameters; the value is the one that LightGBM itself uses."""
    aliases("")  # LightGBM asks its library when one is first needed.
    known: Dict[str, List[str]] = load().basic._ConfigAliases.aliases
    return {each: name for name, names in known.items() for each in (name, *names)}


def parameter(params: Dict[str, Any], name: str) -> Optional[Any]:
    """Return the value of a parameter by whichever of its names it is given, or None."""
    for each in [name, *sorted(aliases(name))]:
        if params.get(each) is not None:
            return params[each]
    return None


def without(params: Dict[str, Any], name: str) -> Dict[str, Any]:
    """Return the parameters without this one, by whichever of its names it is given."""
    names = aliases(name)
    return {key: value for key, value in params.items() if key not in names}


def evaluation(dataset: str, metric: str, value: float, maximize: bool) -> Any:
    """Create a result of an evaluation, as LightGBM's callbacks get it."""
    # Before LightGBM 4.7 it is a plain tuple.
    type_ = getattr(load().basic, "EvalResult", None)
    fields: List[Any] = [dataset, metric, value, maximize]
    return tuple(fields) if type_ is None else type_(*fields)
