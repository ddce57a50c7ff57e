"""The rows of a LightGBM Dataset that has not been constructed yet."""

from __future__ import annotations

from typing import Any, Dict, List, Optional

import numpy as np


def row_count(data: Any) -> int:
    """Return the number of rows of whatever LightGBM takes as data."""
    if hasattr(data, "shape"):
        return int(data.shape[0])
    if hasattr(data, "num_rows"):
        return int(data.num_rows)
    return sum(len(each) for each in data) if isinstance(data, list) else len(data)


def column_count(data: Any) -> int:
    """Return the number of columns, or 0 if it cannot be seen."""
    if hasattr(data, "shape") and len(data.shape) == 2:
        return int(data.shape[1])
    return int(getattr(data, "num_columns", 0))


def problems(dataset: Any, needs_label: bool = True) -> List[str]:
    """Return what is wrong with the labels, weights and groups of a Dataset."""
    rows = row_count(dataset.data)
    found = _of_column("label", dataset.label, rows)
    if dataset.label is None and needs_label:
        found.append("there are no labels")
    if dataset.weight is not None:
        found += _of_column("weight", dataset.weight, rows)
        negative = int((_numbers(dataset.weight) < 0).sum())
        if negative:
            found.append(f"{negative:,} weights are negative")
    if dataset.init_score is not None:
        unusable = int((~np.isfinite(_numbers(dataset.init_score))).sum())
        if unusable:
            found.append(f"{unusable:,} values of init_score are NaN or infinite")
    if dataset.group is not None:
        sizes = _numbers(dataset.group)
        if (sizes <= 0).any() or sizes.sum() != rows:
            found.append(
                f"the sizes of the groups must be positive and add up to the {rows:,} rows, and "
                f"they add up to {int(sizes.sum()):,}"
            )
    return found


def _of_column(name: str, values: Any, rows: int) -> List[str]:
    if values is None:
        return []
    numbers = _numbers(values)
    if len(numbers) != rows:
        return [f"there are {len(numbers):,} values of {name} for {rows:,} rows"]
    infinite = ~np.isfinite(numbers)
    if infinite.any():
        return [
            f"{int(infinite.sum()):,} values of {name} are NaN or infinite, the first in row "
            f"{int(infinite.argmax()):,} of the rank"
        ]
    return []


def _numbers(values: Any) -> Any:
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    return np.asarray(values, np.float64).reshape(-1)


def settings(dataset: Any) -> Dict[str, str]:
    """Return, as text, what the Datasets of all ranks must have alike.

    Without it LightGBM would call other collectives on one rank than on another, or sum up
    histograms of other bins.
    """
    return {
        "init_score": "no" if dataset.init_score is None else "yes",
        "group": "no" if dataset.group is None else "yes",
        "categorical_feature": str(dataset.categorical_feature),
        "names of columns": str(_column_names(dataset.data)),
    }


def _column_names(data: Any) -> Any:
    if hasattr(data, "iloc"):
        return [str(name) for name in data.columns]
    return getattr(data, "column_names", None)


def taken(data: Any, rows: Any) -> Any:
    """Return some rows of the data, given by their numbers, as data of the same kind.

    :raises TypeError: if rows of this kind of data cannot be taken
    """
    if hasattr(data, "iloc"):
        return data.iloc[rows]
    if isinstance(data, np.ndarray):
        return data[rows]
    if hasattr(data, "tocsr"):
        return data.tocsr()[rows]
    if hasattr(data, "num_rows"):
        return data.take(rows)
    raise TypeError(
        f"Bins cannot be made from a {type(data).__name__}: pass a numpy array, a DataFrame of "
        "pandas, a sparse matrix of scipy or a Table of pyarrow, or bin_construction='local'"
    )


def joined(parts: List[Any]) -> Any:
    """Return the rows of data of one kind together."""
    first = parts[0]
    if hasattr(first, "iloc"):
        return _joined_frames(parts)
    if hasattr(first, "tocsr"):
        import scipy.sparse

        return scipy.sparse.vstack(parts, format="csr")
    if hasattr(first, "num_rows"):
        import pyarrow as pa

        return pa.concat_tables(parts)
    return np.concatenate(parts)


def _joined_frames(parts: List[Any]) -> Any:
    """Join frames so that a categorical column has the categories of all of them."""
    import pandas as pd

    whole = pd.concat(parts, ignore_index=True)
    for name in parts[0].columns:
        if isinstance(parts[0][name].dtype, pd.CategoricalDtype):
            columns = [part[name] for part in parts]
            whole[name] = pd.api.types.union_categoricals(columns, sort_categories=True)
    return whole


def categories(data: Any) -> Optional[str]:
    """Return the categories of the categorical columns of a frame, as text."""
    if not hasattr(data, "iloc"):
        return None
    import pandas as pd

    return str(
        [
            (name, list(data[name].cat.categories))
            for name in data.columns
            if isinstance(data[name].dtype, pd.CategoricalDtype)
        ]
    )
