"""The columns of a DataFrame that ranks get, with the types in which they get them."""

from __future__ import annotations

from typing import Any, List, Sequence

from ._rows import FEATURES, GROUP, INIT_SCORE, LABEL, VALIDATION, WEIGHT


def features(dataset: Any, single: str, several: Sequence[str]) -> List[Any]:
    """Return the columns of the features: one array, or a number for each of several columns.

    :raises TypeError: if the column is neither a Vector nor an array of numbers, or if one of
        several is no number
    """
    from pyspark.ml.functions import vector_to_array
    from pyspark.ml.linalg import VectorUDT
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType

    if several:
        _require_numbers("the features", several, _types(dataset, several))
        return [
            F.col(name).cast("double").alias(f"{FEATURES}_{i}") for i, name in enumerate(several)
        ]
    (type_,) = _types(dataset, [single])
    if isinstance(type_, VectorUDT):
        return [vector_to_array(F.col(single)).alias(FEATURES)]
    if isinstance(type_, ArrayType) and _is_number(type_.elementType):
        return [F.col(single).cast("array<double>").alias(FEATURES)]
    raise TypeError(
        f"Column {single} is of type {type_.simpleString()}, and the features must be a Vector or "
        "an array of numbers; or name several numeric columns: features_col=['a', 'b']"
    )


def label(dataset: Any, name: str) -> Any:
    """Return the column of the labels; raise TypeError if they are no numbers."""
    return _number(dataset, name, "labels").alias(LABEL)


def weight(dataset: Any, name: str) -> Any:
    """Return the column of the weights; raise TypeError if they are no numbers."""
    return _number(dataset, name, "weights").alias(WEIGHT)


def init_score(dataset: Any, name: str) -> Any:
    """Return the column of the initial scores: a number, or an array with one for each class."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType

    (type_,) = _types(dataset, [name])
    if isinstance(type_, ArrayType) and _is_number(type_.elementType):
        return F.col(name).cast("array<double>").alias(INIT_SCORE)
    return _number(dataset, name, "initial scores").alias(INIT_SCORE)


def validation(dataset: Any, name: str) -> Any:
    """Return the column that says which rows are held out; raise TypeError if it is no boolean."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import BooleanType

    (type_,) = _types(dataset, [name])
    if not isinstance(type_, BooleanType):
        raise TypeError(
            f"Column {name} is of type {type_.simpleString()}, and whether a row is held out must "
            f"be a boolean, for example F.col('{name}') > 0"
        )
    return F.col(name).alias(VALIDATION)


def query(dataset: Any, name: str) -> Any:
    """Return the column of the queries, of its own type: two are equal if they are so in SQL.

    :raises TypeError: if the type is nested
    """
    from pyspark.sql import functions as F
    from pyspark.sql.types import DoubleType, FloatType

    (type_,) = _types(dataset, [name])
    if type_.typeName() not in _QUERIES:
        raise TypeError(
            f"Column {name} is of type {type_.simpleString()}, and a query must be a number, a "
            "string, a boolean, a date or the like: take one of its fields"
        )
    column = F.col(name)
    if isinstance(type_, (DoubleType, FloatType)):
        # For SQL 0.0 and -0.0 are equal; their sum is 0.0.
        column = column + F.lit(0.0)
    return column.alias(GROUP)


#: The names of the types of a query.
_QUERIES = (
    *("byte", "short", "integer", "long", "float", "double", "decimal"),
    *("string", "char", "varchar", "binary", "boolean", "date", "timestamp", "timestamp_ntz"),
)


def _number(dataset: Any, name: str, what: str) -> Any:
    from pyspark.sql import functions as F

    _require_numbers(what, [name], _types(dataset, [name]))
    return F.col(name).cast("double")


def _types(dataset: Any, names: Sequence[str]) -> List[Any]:
    """Return the types of columns; Spark names those that are missing, and similar ones."""
    from pyspark.sql import functions as F

    fields = dataset.select(*[F.col(name) for name in names]).schema.fields
    return [field.dataType for field in fields]


def _require_numbers(what: str, names: Sequence[str], types: Sequence[Any]) -> None:
    for name, type_ in zip(names, types):
        if not _is_number(type_):
            raise TypeError(
                f"Column {name} is of type {type_.simpleString()}, and {what} must be numbers: "
                "index strings, for example with StringIndexer, or cast the column"
            )


def _is_number(type_: Any) -> bool:
    from pyspark.sql.types import BooleanType, NumericType

    return isinstance(type_, (NumericType, BooleanType))
