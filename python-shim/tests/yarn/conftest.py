"""Runs applications on YARN."""

import shutil
import sys
from pathlib import Path

import pytest

from processes import run
from yarn.cluster import HERE, Cluster, plugin_jar


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.yarn)


@pytest.fixture(scope="module")
def spark_home():
    import pyspark

    return Path(pyspark.__file__).parent


@pytest.fixture(scope="module")
def cluster(tmp_path_factory, spark_home):
    if not sys.platform.startswith("linux"):
        pytest.skip("the processes of containers are found in /proc")
    folder = tmp_path_factory.mktemp("yarn")
    running = Cluster(folder, spark_home)
    yield running
    running.close()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def program(tmp_path_factory, spark_home):
    """The jar of the ranks, which spark-submit is given."""
    folder = tmp_path_factory.mktemp("program")
    path = f"{spark_home}/jars/*:{plugin_jar()}"
    run("javac", "-cp", path, "-d", folder / "classes", HERE / "Ranks.java", cwd=folder)
    run("jar", "--create", "--file", "ranks.jar", "-C", "classes", ".", cwd=folder)
    return folder / "ranks.jar"
