"""The library's jars, and their installation in a SparkSession."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path
from typing import Any, Dict, List, Tuple

from . import _version

PLUGIN = "org.sparkcollectives.spark.CollectivesPlugin"

_KEYS = ("spark.jars", "spark.plugins")

#: The environment variable with options for the spark-submit that PySpark itself calls.
_ARGUMENTS = "PYSPARK_SUBMIT_ARGS"

#: The option of spark-submit to read Spark's own file beside that of ``--properties-file``.
_WITH_DEFAULTS = "--load-spark-defaults"


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
    """Add the jars and the plugin to a ``SparkSession.builder``; return the builder.

    ::

        spark = configure(SparkSession.builder.master("local-cluster[2,2,1024]")).getOrCreate()

    Adds the library's jars, with that of ``spark_collectives.ml``, to ``spark.jars``, and the
    plugin to ``spark.plugins``: to the builder's values, else to those of ``spark-submit``,
    ``PYSPARK_SUBMIT_ARGS`` or ``spark-defaults.conf``. Call it before Spark is used in this
    process.

    :raises RuntimeError: if Spark's JVM was started without the jar or with that of another
        release, or a session runs already without the plugin
    """
    _require_session_with_plugin()
    jvm = _running_jvm()
    if jvm is None:
        arguments, defaults = _settings_to_come()
    else:
        _require_plugin(jvm)
        arguments = {}
        defaults = {key: jvm.java.lang.System.getProperty(key) or "" for key in _KEYS}
    options = getattr(builder, "_options", {})
    for key, values in zip(_KEYS, ((jar_path(), ml_jar_path()), (PLUGIN,))):
        before = [each.strip() for each in options.get(key, defaults.get(key, "")).split(",")]
        others = [each for each in before if each and each not in values]
        whole = ",".join([*others, *values])
        builder = builder.config(key, whole)
        if key in arguments:
            _add_argument(key, whole)
    return builder


def _require_session_with_plugin() -> None:
    """Refuse a session that runs without the plugin: it would be used as it is."""
    try:
        from pyspark import SparkContext
    except ImportError:
        return
    context = SparkContext._active_spark_context
    if context is None or PLUGIN in (context.getConf().get("spark.plugins") or ""):
        return
    raise RuntimeError(
        "A Spark session runs already, without the plugin, which Spark loads only when a session "
        "begins: start a new process, in a notebook a new kernel, and call configure() there "
        "before the first use of Spark. If the JVM has the library's jar, it is enough to stop the "
        "session"
    )


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
            "Spark's JVM runs already, without the library's jar, and cannot be given it any more, "
            "not even by another session: start the program with spark-submit --jars "
            f"{jar_path()}, or start a new process, in a notebook a new kernel, and call "
            "configure() there before the first use of Spark"
        )
    plugin = jvm.java.lang.Class.forName(PLUGIN, False, loader)
    different = _version.difference(plugin.getPackage().getImplementationVersion(), "Spark's JVM")
    if different is not None:
        raise RuntimeError(different)


def _settings_to_come() -> Tuple[Dict[str, str], Dict[str, str]]:
    """Return the settings in PYSPARK_SUBMIT_ARGS, and these with those of Spark's own file.

    The JVM will be started with them; the builder's options replace them.
    """
    words = shlex.split(os.environ.get(_ARGUMENTS, ""))
    arguments, file = _read_arguments(words)
    files = [file] if file else [_defaults_file()]
    if file and _WITH_DEFAULTS in words:
        files.insert(0, _defaults_file())
    settings: Dict[str, str] = {}
    for each in files:
        settings.update(_read_settings(each))
    return arguments, {**settings, **arguments}


def _read_arguments(words: List[str]) -> Tuple[Dict[str, str], str]:
    """Return the settings among spark-submit's options, and the file of settings."""
    settings: Dict[str, str] = {}
    file, jars = "", ""
    for option, value in zip(words, [*words[1:], ""]):
        name, _, after = option.partition("=")
        value = after or value
        if name in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            settings[key] = setting
        elif name == "--jars":
            jars = value
        elif name == "--properties-file":
            file = value
    if jars:
        settings["spark.jars"] = jars
    return settings, file


def _add_argument(key: str, value: str) -> None:
    """Put a setting into PYSPARK_SUBMIT_ARGS, whose options win over the builder's in the JVM."""
    words = shlex.split(os.environ[_ARGUMENTS])
    option = ["--jars", value] if key == "spark.jars" else ["--conf", f"{key}={value}"]
    # The last word is the program, and of an option that is given twice the last one counts.
    os.environ[_ARGUMENTS] = shlex.join([*words[:-1], *option, *words[-1:]])


def _defaults_file() -> str:
    """Return the path of Spark's own configuration file, which need not exist."""
    folder = os.environ.get("SPARK_CONF_DIR")
    if folder is None:
        try:
            from pyspark.find_spark_home import _find_spark_home
        except ImportError:
            return ""
        folder = os.path.join(_find_spark_home(), "conf")
    return os.path.join(folder, "spark-defaults.conf")


def _read_settings(file: str) -> Dict[str, str]:
    """Read a file of settings; there are none if it cannot be read."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError:
        return {}
    lines: List[str] = []
    for line in text.splitlines():
        if lines and _goes_on(lines[-1]):
            lines[-1] = lines[-1][:-1] + line.lstrip()
        else:
            lines.append(line)
    # A key, and behind a space, "=" or ":" its value, as java.util.Properties reads them.
    setting = re.compile(r"[ \t]*([^\s#!=:]+)[ \t]*[=: \t][ \t]*(.*?)[ \t]*")
    found = (setting.fullmatch(line) for line in lines)
    return {match[1]: match[2] for match in found if match is not None}


def _goes_on(line: str) -> bool:
    """Return whether a line is no comment and ends with a backslash that is not escaped."""
    backslashes = len(line) - len(line.rstrip("\\"))
    return backslashes % 2 == 1 and not line.lstrip().startswith(("#", "!"))
