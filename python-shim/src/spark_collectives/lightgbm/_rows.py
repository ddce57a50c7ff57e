"""The rows of a DataFrame, as a rank gets them: from columns to arrays."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional

import numpy as np

#: The names of the columns in which ranks get their rows.
FEATURES, LABEL, WEIGHT, GROUP, INIT_SCORE, VALIDATION = (
    "features",
    "label",
    "weight",
    "group",
    "init_score",
    "validation",
)


def feature_expressions(schema: Any, single: str, several: List[str]) -> List[Any]:
    """Return the columns of the features: one array, or a number for each of several columns.

    :raises TypeError: if the column is neither a Vector nor an array
    """
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType

    if several:
        return [
            F.col(name).cast("double").alias(f"{FEATURES}_{i}") for i, name in enumerate(several)
        ]
    type_ = schema[single].dataType
    if isinstance(type_, VectorUDT):
        return [vector_to_array(F.col(single)).alias(FEATURES)]
    if isinstance(type_, ArrayType):
        return [F.col(single).cast("array<double>").alias(FEATURES)]
    raise TypeError(
        f"Column {single} is of type {type_.simpleString()}, and the features must be a Vector or "
        "an array of numbers; or name several numeric columns: features_col=['a', 'b']"
    )


def number_or_array(schema: Any, name: str) -> Any:
    """Return a column of initial scores: a number, or an array with one for each class."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType

    array = isinstance(schema[name].dataType, ArrayType)
    return F.col(name).cast("array<double>" if array else "double").alias(INIT_SCORE)


class Rows:
    """The rows of a rank: arrays by the name of their column, all of one length."""

    def __init__(self, columns: Dict[str, Any]) -> None:
        self.columns = columns

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.columns[FEATURES])

    def get(self, name: str) -> Optional[Any]:
        """Return a column, or None if there is none of this name."""
        return self.columns.get(name)

    def where(self, chosen: Any) -> Rows:
        """Return some of the rows."""
        return Rows({name: values[chosen] for name, values in self.columns.items()})


def read(batches: Iterable[Any]) -> Rows:
    """Read the rows of a rank from Arrow's batches.

    :raises ValueError: if features are null, or differ in their number
    """
    parts: Dict[str, List[Any]] = {}
    numbered: List[str] = []
    for batch in batches:
        found: Dict[str, Any] = {}
        for name, column in zip(batch.schema.names, batch.columns):
            found[name] = _values(name, column)
        numbered = [name for name in found if name.startswith(f"{FEATURES}_")]
        if numbered:
            found[FEATURES] = np.column_stack([found.pop(name) for name in numbered])
        for name, values in found.items():
            parts.setdefault(name, []).append(values)
    if not parts:
        return Rows({FEATURES: np.empty((0, 0)), LABEL: np.empty(0)})
    _require_one_width(parts[FEATURES])
    return Rows({name: np.concatenate(values) for name, values in parts.items()})


def _values(name: str, column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return matrix(name, column)
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), bool)
    return column.to_numpy(zero_copy_only=False)


def matrix(name: str, column: Any) -> Any:
    """Return Arrow's lists of numbers, all of one length, as the rows of a matrix."""
    if column.null_count:
        raise ValueError(f"{name} of {column.null_count:,} rows is null; a missing number is NaN")
    values = column.flatten().to_numpy(zero_copy_only=False)
    if len(column) == 0:
        return np.empty((0, 0))
    width, rest = divmod(len(values), len(column))
    if rest or (np.asarray(column.value_lengths()) != width).any():
        lengths = np.unique(np.asarray(column.value_lengths()))
        raise ValueError(
            f"{name} must be as many in each row, and there are {lengths[0]} in some rows and "
            f"{lengths[-1]} in others"
        )
    return values.reshape(len(column), width)


def _require_one_width(parts: List[Any]) -> None:
    widths = sorted({part.shape[1] for part in parts})
    if len(widths) > 1:
        raise ValueError(
            f"{FEATURES} must be as many in each row, and there are {widths[0]} in some rows and "
            f"{widths[-1]} in others"
        )
