"""The rows of a DataFrame, as a rank gets them: from columns to arrays."""

from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional, Sequence

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


class Rows:
    """The rows of a rank: arrays by the name of their column, all of one length."""

    def __init__(self, columns: Dict[str, Any]) -> None:
        self.columns = columns

    @property
    def count(self) -> int:
        """The number of rows."""
        return len(self.columns[FEATURES])

    @property
    def held_out(self) -> Any:
        """Which rows are not trained on, but evaluated, as booleans."""
        found = self.columns.get(VALIDATION)
        return np.zeros(self.count, bool) if found is None else found

    def get(self, name: str) -> Optional[Any]:
        """Return a column, or None if there is none of this name."""
        return self.columns.get(name)

    def where(self, chosen: Any) -> Rows:
        """Return some of the rows."""
        return Rows({name: values[chosen] for name, values in self.columns.items()})

    def queries(self) -> Any:
        """Return how many rows each query has; without queries, each row is one.

        :raises ValueError: if the rows of a query do not follow each other
        """
        values = self.columns.get(GROUP)
        if values is None:
            return np.ones(self.count, np.int64)
        begins = np.flatnonzero(
            np.r_[np.ones(min(1, len(values)), bool), values[1:] != values[:-1]]
        )
        if len(np.unique(values[begins])) < len(begins):
            raise ValueError(
                "The rows of a query do not follow each other: with repartition=False, bring each "
                "query into one partition, and sort within the partitions"
            )
        return np.diff(np.r_[begins, len(values)])


def read(batches: Iterable[Any]) -> Rows:
    """Read the rows of a rank from Arrow's batches.

    :raises ValueError: if features are null, or differ in their number
    """
    parts: Dict[str, List[Any]] = {}
    queries: List[Any] = []
    for batch in batches:
        if batch.num_rows == 0:
            continue
        found: Dict[str, Any] = {}
        for name, column in zip(batch.schema.names, batch.columns):
            if name == GROUP:
                queries.append(column)
            else:
                found[name] = _values(name, column)
        numbered = [name for name in found if name.startswith(f"{FEATURES}_")]
        if numbered:
            found[FEATURES] = np.column_stack([found.pop(name) for name in numbered])
        for name, values in found.items():
            parts.setdefault(name, []).append(values)
    if not parts:
        return Rows({FEATURES: np.empty((0, 0)), LABEL: np.empty(0)})
    _require_one_width(FEATURES, parts[FEATURES])
    _require_one_width(INIT_SCORE, parts.get(INIT_SCORE, []))
    columns = {name: np.concatenate(values) for name, values in parts.items()}
    if queries:
        columns[GROUP] = _numbered(queries)
    return Rows(columns)


def joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several together, whose queries have nothing to do with each other."""
    filled = [part for part in parts if part.count] or parts[:1]
    columns = {
        name: np.concatenate([part.columns[name] for part in filled]) for name in filled[0].columns
    }
    if GROUP in columns:
        begins = np.cumsum([0] + [len(part.columns[GROUP]) for part in filled])
        columns[GROUP] = np.concatenate(
            [part.columns[GROUP] + begin for part, begin in zip(filled, begins)]
        )
    return Rows(columns)


def _numbered(queries: List[Any]) -> Any:
    """Return a number for each value, from 0; null is a value, too, as in SQL's GROUP BY."""
    import pyarrow as pa

    encoded = pa.chunked_array(queries).dictionary_encode(null_encoding="encode")
    return np.concatenate([chunk.indices.to_numpy() for chunk in encoded.chunks]).astype(np.int64)


def _values(name: str, column: Any) -> Any:
    import pyarrow as pa

    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        return matrix(name, column)
    if pa.types.is_boolean(column.type):
        return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False), bool)
    # Nulls become NaN. In integers this would round others.
    assert pa.types.is_float64(column.type), f"{name} is of type {column.type}"
    return column.to_numpy(zero_copy_only=False)


def matrix(name: str, column: Any) -> Any:
    """Return Arrow's lists of numbers, all of one length, as the rows of a matrix."""
    if column.null_count:
        raise ValueError(f"{name} of {column.null_count:,} rows is null; a missing number is NaN")
    values = column.flatten().to_numpy(zero_copy_only=False)
    width, rest = divmod(len(values), len(column))
    if rest or (np.asarray(column.value_lengths()) != width).any():
        lengths = np.unique(np.asarray(column.value_lengths()))
        raise ValueError(
            f"{name} must be as many in each row, and there are {lengths[0]} in some rows and "
            f"{lengths[-1]} in others"
        )
    return values.reshape(len(column), width)


def _require_one_width(name: str, parts: List[Any]) -> None:
    widths = sorted({part.shape[1:] for part in parts})
    if len(widths) > 1:
        raise ValueError(
            f"{name} must be as many in each row, and there are {widths[0][0]} in some rows and "
            f"{widths[-1][0]} in others"
        )
