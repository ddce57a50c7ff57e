import zipfile

import spark_collectives as dist
from spark_collectives.session import PLUGIN


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
