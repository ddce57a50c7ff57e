import os
import re
import shlex
import zipfile
from types import SimpleNamespace

import pytest

import spark_collectives as dist
from spark_collectives import _version, session
from spark_collectives.session import PLUGIN

JARS = ",".join([session.jar_path(), session.ml_jar_path()])


@pytest.fixture(autouse=True)
def no_jvm(monkeypatch):
    """Simulate a process that has not used Spark yet, whichever tests ran before."""
    monkeypatch.setattr(session, "_running_jvm", lambda: None)
    monkeypatch.setattr("pyspark.SparkContext._active_spark_context", None)
    monkeypatch.delenv("PYSPARK_SUBMIT_ARGS", raising=False)


def jvm(has_jar, version=None, **properties):
    """Create a JVM as spark-submit starts it, with a jar of a version."""
    loader = SimpleNamespace(getResource=lambda name: name if has_jar else None)
    thread = SimpleNamespace(getContextClassLoader=lambda: loader)
    package = SimpleNamespace(getImplementationVersion=lambda: version)
    plugin = SimpleNamespace(getPackage=lambda: package)
    return SimpleNamespace(
        java=SimpleNamespace(
            lang=SimpleNamespace(
                Class=SimpleNamespace(forName=lambda name, initialize, loader: plugin),
                Thread=SimpleNamespace(currentThread=lambda: thread),
                System=SimpleNamespace(getProperty=properties.get),
            )
        )
    )


class Builder:
    def __init__(self, **options):
        self._options = options

    def config(self, key, value):
        self._options[key] = value
        return self


def test_the_package_brings_the_plugins_jar():
    with zipfile.ZipFile(dist.jar_path()) as jar:
        assert PLUGIN.replace(".", "/") + ".class" in jar.namelist()


def test_a_builder_keeps_the_jars_and_plugins_that_it_has():
    options = {"spark.jars": "other.jar", "spark.plugins": "org.Other"}
    builder = dist.configure(dist.configure(Builder(**options)))
    assert builder._options["spark.jars"] == "other.jar," + JARS
    assert builder._options["spark.plugins"] == "org.Other," + PLUGIN


def test_the_values_of_the_configuration_file_are_kept(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.jars no.jar\nspark.plugins   org.First, org.Second\nspark.jars=a.jar\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    builder = dist.configure(Builder())
    assert builder._options["spark.jars"] == "a.jar," + JARS
    assert builder._options["spark.plugins"] == "org.First,org.Second," + PLUGIN
    builder = dist.configure(Builder(**{"spark.plugins": "org.Other"}))
    assert builder._options["spark.plugins"] == "org.Other," + PLUGIN


def test_a_line_of_the_configuration_file_may_go_on_in_the_next(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text(
        "# a comment ends with its line \\\nspark.jars  a.jar,\\\n   b.jar,\\\n\tc.jar\n"
        "spark.plugins org.Other\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    options = dist.configure(Builder())._options
    assert options["spark.jars"] == "a.jar,b.jar,c.jar," + JARS
    assert options["spark.plugins"] == "org.Other," + PLUGIN


def test_both_files_are_read_where_spark_reads_both(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text("spark.plugins org.Other\nspark.jars a.jar\n")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    file = tmp_path / "more.conf"
    file.write_text("spark.jars b.jar\n")
    for option, plugins in (("", PLUGIN), (" --load-spark-defaults", "org.Other," + PLUGIN)):
        monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", f"--properties-file {file}{option} pyspark-shell")
        options = dist.configure(Builder())._options
        assert options["spark.jars"] == "b.jar," + JARS
        assert options["spark.plugins"] == plugins


def test_the_values_of_the_configuration_file_of_spark_home_are_kept(tmp_path, monkeypatch):
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "spark-defaults.conf").write_text("spark.jars a.jar\n")
    monkeypatch.delenv("SPARK_CONF_DIR", raising=False)
    monkeypatch.setenv("SPARK_HOME", str(tmp_path))
    assert dist.configure(Builder())._options["spark.jars"] == "a.jar," + JARS


def test_the_options_for_the_jvm_that_pyspark_starts_are_kept_and_added_to(tmp_path, monkeypatch):
    file = tmp_path / "other.conf"
    file.write_text("spark.plugins org.OfFile\nspark.jars of-file.jar\n")
    before = f"--properties-file {file} --jars 'a b.jar,c.jar' --driver-memory 1g pyspark-shell"
    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", before)
    options = dist.configure(Builder())._options
    assert options["spark.jars"] == "a b.jar,c.jar," + JARS
    assert options["spark.plugins"] == "org.OfFile," + PLUGIN
    words = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
    assert words[:-3] == shlex.split(before)[:-1]
    assert words[-3:] == ["--jars", "a b.jar,c.jar," + JARS, "pyspark-shell"]

    monkeypatch.setenv("PYSPARK_SUBMIT_ARGS", "--conf spark.plugins=org.First pyspark-shell")
    options = dist.configure(Builder())._options
    assert options["spark.plugins"] == "org.First," + PLUGIN
    words = shlex.split(os.environ["PYSPARK_SUBMIT_ARGS"])
    assert words[-3:] == ["--conf", f"spark.plugins=org.First,{PLUGIN}", "pyspark-shell"]


def test_a_session_that_runs_without_the_plugin_is_an_error(monkeypatch):
    def running(plugins):
        conf = SimpleNamespace(get={"spark.plugins": plugins}.get)
        context = SimpleNamespace(getConf=lambda: conf)
        monkeypatch.setattr("pyspark.SparkContext._active_spark_context", context)

    running("org.Other")
    with pytest.raises(RuntimeError, match=r"already, without the plugin.* a new kernel"):
        dist.configure(Builder())
    running(f"org.Other,{PLUGIN}")
    assert dist.configure(Builder())._options["spark.plugins"] == PLUGIN


def test_the_values_of_spark_submit_are_kept(monkeypatch):
    running = jvm(True, **{"spark.jars": "a.jar", "spark.plugins": "org.First," + PLUGIN})
    monkeypatch.setattr(session, "_running_jvm", lambda: running)
    builder = dist.configure(Builder())
    assert builder._options["spark.jars"] == "a.jar," + JARS
    assert builder._options["spark.plugins"] == "org.First," + PLUGIN


def test_a_jvm_that_was_started_without_the_jar_is_an_error(monkeypatch):
    monkeypatch.setattr(session, "_running_jvm", lambda: jvm(False))
    with pytest.raises(RuntimeError, match=r"spark-submit --jars .*\.jar,.* a new kernel"):
        dist.configure(Builder())


def test_the_package_has_the_version_of_its_jar():
    with zipfile.ZipFile(dist.jar_path()) as jar:
        manifest = jar.read("META-INF/MANIFEST.MF").decode()
    version = re.search(r"^Implementation-Version: (\S+)", manifest, re.MULTILINE).group(1)
    assert dist.__version__ == _version.own() == _version.in_pythons_notation(version)


def test_a_jvm_with_the_jar_of_the_same_version_is_used(monkeypatch):
    monkeypatch.setattr(_version, "own", lambda: "0.1.0.dev0")
    monkeypatch.setattr(session, "_running_jvm", lambda: jvm(True, "0.1.0-SNAPSHOT"))
    assert dist.configure(Builder())._options["spark.plugins"] == PLUGIN


def test_a_jvm_with_the_jar_of_another_version_is_an_error(monkeypatch):
    monkeypatch.setattr(_version, "own", lambda: "0.1.0")
    monkeypatch.setattr(session, "_running_jvm", lambda: jvm(True, "0.2.0"))
    with pytest.raises(RuntimeError, match=r"JVM has the jar of version 0\.2\.0, .* 0\.1\.0: in"):
        dist.configure(Builder())


def test_a_rank_whose_executor_has_the_jar_of_another_version_gets_an_error(spark):
    def join(_rows):
        own = _version.own
        _version.own = lambda: "9.9"
        try:
            dist.init_process_group()
            yield "joined"
        except dist.BridgeError as e:
            yield str(e)
        finally:
            _version.own = own

    context = spark.sparkContext
    answer = context.parallelize(range(1), 1).barrier().mapPartitions(join).collect()
    assert re.match(r"The executor's JVM has the jar of version \S+, .* 9\.9: install", answer[0])
