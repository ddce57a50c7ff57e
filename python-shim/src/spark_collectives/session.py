"""How a SparkSession gets the library."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PLUGIN = "org.sparkcollectives.spark.CollectivesPlugin"


def jar_path() -> str:
    """Give the path of the library's jar, which this package brings."""
    jars = sorted((Path(__file__).parent / "jars").glob("spark-collectives*.jar"))
    if not jars:
        raise FileNotFoundError(
            "This copy of spark_collectives has no jar, because it was not made by the project's "
            "build: run ./mvnw package in a clone of the repository, or set spark.jars yourself"
        )
    return str(jars[-1])


def configure(builder: Any) -> Any:
    """Set ``spark.jars`` and ``spark.plugins`` of a ``SparkSession.builder``; return it.

    Both are added to what the builder has, and must be set before the session begins: Spark loads
    plugins only then.

    >>> spark = configure(SparkSession.builder.master("local-cluster[2,2,1024]")).getOrCreate()
    """
    options = getattr(builder, "_options", {})
    for key, value in (("spark.jars", jar_path()), ("spark.plugins", PLUGIN)):
        before = [each for each in options.get(key, "").split(",") if each and each != value]
        builder = builder.config(key, ",".join([*before, value]))
    return builder
