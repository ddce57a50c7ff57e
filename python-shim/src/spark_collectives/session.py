"""The library's jars, and their installation in a SparkSession."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Dict

from . import _version

PLUGIN = "org.sparkcollectives.spark.CollectivesPlugin"

_KEYS = ("spark.jars", "spark.plugins")


def jar_path() -> str:
    """Return the path of the library's jar, which is part of this package."""
    return _jar("spark-collectives_2.13.jar")


def ml_jar_path() -> str:
    """Return the path of the jar with the estimators of Spark ML, which needs the library's."""
    return _jar("spark-collectives-ml.jar")


def _jar(name: str) -> str:
    path = Path(__file__).parent / "jars" / name
    if not path.is_file():
        raise FileNotFoundError(
            f"This copy of spark_collectives has no {name}, because it was not made by the "
            "project's build: run ./mvnw package in a clone of the repository, or set spark.jars "
            "yourself"
        )
    return str(path)


def configure(builder: Any) -> Any:
    """Set ``spark.jars`` and ``spark.plugins`` of a ``SparkSession.builder``; return the builder.

    The jars are the library's and that of :mod:`spark_collectives.ml`. They and the plugin are
    added to the builder's values or, if it has none, to those of ``spark-defaults.conf`` or
    ``spark-submit``. Call it before the session begins: Spark loads plugins only then.

    :raises RuntimeError: if Spark's JVM runs already, as under ``spark-submit``, and was started
        without the jar, which cannot be added any more, or with the jar of another release

    >>> spark = configure(SparkSession.builder.master("local-cluster[2,2,1024]")).getOrCreate()
    """
    jvm = _running_jvm()
    if jvm is None:
        defaults = _defaults_of_file()
    else:
        _require_plugin(jvm)
        defaults = {key: jvm.java.lang.System.getProperty(key) or "" for key in _KEYS}
    options = getattr(builder, "_options", {})
    for key, values in zip(_KEYS, ((jar_path(), ml_jar_path()), (PLUGIN,))):
        before = [each.strip() for each in options.get(key, defaults.get(key, "")).split(",")]
        others = [each for each in before if each and each not in values]
        builder = builder.config(key, ",".join([*others, *values]))
    return builder


def _running_jvm() -> Any:
    """Return Spark's JVM if it runs already: spark-submit starts it before the program."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return None
    if SparkContext._jvm is None and "PYSPARK_GATEWAY_PORT" in os.environ:
        SparkContext._ensure_initialized()
    return SparkContext._jvm


def _require_plugin(jvm: Any) -> None:
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    if loader.getResource(PLUGIN.replace(".", "/") + ".class") is None:
        raise RuntimeError(
            "Spark's JVM runs already, without the library's jar, and cannot be given it any more: "
            f"start it with spark-submit --jars {jar_path()} --conf spark.plugins={PLUGIN}, or "
            "call configure() before the first use of Spark in this process"
        )
    plugin = jvm.java.lang.Class.forName(PLUGIN, False, loader)
    different = _version.difference(plugin.getPackage().getImplementationVersion(), "Spark's JVM")
    if different is not None:
        raise RuntimeError(different)


def _defaults_of_file() -> Dict[str, str]:
    """Read the settings of Spark's own configuration file, which the builder's options replace."""
    folder = os.environ.get("SPARK_CONF_DIR")
    if folder is None and "SPARK_HOME" in os.environ:
        folder = os.path.join(os.environ["SPARK_HOME"], "conf")
    if folder is None:
        return {}
    try:
        text = Path(folder, "spark-defaults.conf").read_text(encoding="utf-8")
    except OSError:
        return {}
    # A key, and behind a space, "=" or ":" its value, as java.util.Properties reads them.
    found = re.findall(r"^[ \t]*([^\s#!=:]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*$", text, re.MULTILINE)
    return dict(found)
