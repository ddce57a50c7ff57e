import zipfile
from types import SimpleNamespace

import pytest

import spark_collectives as dist
from spark_collectives import session
from spark_collectives.session import PLUGIN


@pytest.fixture(autouse=True)
def no_jvm(monkeypatch):
    """Simulate a process that has not used Spark yet, whichever tests ran before."""
    monkeypatch.setattr(session, "_running_jvm", lambda: None)


def jvm(has_jar, **properties):
    """Create a JVM as spark-submit starts it."""
    loader = SimpleNamespace(getResource=lambda name: name if has_jar else None)
    thread = SimpleNamespace(getContextClassLoader=lambda: loader)
    return SimpleNamespace(
        java=SimpleNamespace(
            lang=SimpleNamespace(
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
    assert builder._options["spark.jars"] == "other.jar," + dist.jar_path()
    assert builder._options["spark.plugins"] == "org.Other," + PLUGIN


def test_the_values_of_the_configuration_file_are_kept(tmp_path, monkeypatch):
    (tmp_path / "spark-defaults.conf").write_text(
        "# spark.jars no.jar\nspark.plugins   org.First, org.Second\nspark.jars=a.jar\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    builder = dist.configure(Builder())
    assert builder._options["spark.jars"] == "a.jar," + dist.jar_path()
    assert builder._options["spark.plugins"] == "org.First,org.Second," + PLUGIN
    builder = dist.configure(Builder(**{"spark.plugins": "org.Other"}))
    assert builder._options["spark.plugins"] == "org.Other," + PLUGIN


def test_the_values_of_spark_submit_are_kept(monkeypatch):
    running = jvm(True, **{"spark.jars": "a.jar", "spark.plugins": "org.First," + PLUGIN})
    monkeypatch.setattr(session, "_running_jvm", lambda: running)
    builder = dist.configure(Builder())
    assert builder._options["spark.jars"] == "a.jar," + dist.jar_path()
    assert builder._options["spark.plugins"] == "org.First," + PLUGIN


def test_a_jvm_that_was_started_without_the_jar_is_an_error(monkeypatch):
    monkeypatch.setattr(session, "_running_jvm", lambda: jvm(False))
    with pytest.raises(RuntimeError, match=r"start it with spark-submit --jars .*\.jar --conf"):
        dist.configure(Builder())
