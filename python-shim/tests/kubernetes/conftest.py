"""Runs applications on Kubernetes."""

import os
import shutil
from pathlib import Path

import pytest

from kubernetes.cluster import MINIKUBE, Cluster, plugin_jars
from kubernetes.machine import HERE, MissingError, check, mock_jars
from processes import run


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.kubernetes)


@pytest.fixture(scope="session")
def spark_home():
    import pyspark

    return Path(pyspark.__file__).parent


@pytest.fixture(scope="session")
def classes(tmp_path_factory, spark_home):
    """Return the class path of the cluster without Spark."""
    folder = tmp_path_factory.mktemp("minikube")
    try:
        check()
        jars = mock_jars(spark_home, folder)
    except MissingError as e:
        if os.environ.get("COLLECTIVES_REQUIRED"):
            raise
        pytest.skip(str(e))
    sources = sorted(MINIKUBE.glob("*.java"))
    path = f"{jars}:{spark_home}/jars/*"
    run("javac", "-proc:none", "-cp", path, "-d", folder / "classes", *sources, cwd=folder)
    return f"{folder}/classes:{jars}"


@pytest.fixture(scope="session")
def program(tmp_path_factory, spark_home, classes):
    """Return the jar of the ranks, which the image has."""
    folder = tmp_path_factory.mktemp("program")
    path = ":".join([f"{spark_home}/jars/*", *map(str, plugin_jars())])
    run("javac", "-cp", path, "-d", folder / "classes", HERE / "Ranks.java", cwd=folder)
    run("jar", "--create", "--file", "ranks.jar", "-C", "classes", ".", cwd=folder)
    return folder / "ranks.jar"


@pytest.fixture(scope="module")
def start(tmp_path_factory, spark_home, classes, program):
    """Start a cluster with nodes that have room for so many pods each."""
    started = []

    def start_one(*rooms, **options):
        folder = tmp_path_factory.mktemp("kubernetes")
        words = ",".join(map(str, rooms))
        cluster = Cluster(folder, spark_home, classes, program, words, **options)
        started.append(cluster)
        return cluster

    yield start_one
    for cluster in started:
        cluster.close()
        shutil.rmtree(cluster.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(start):
    return start(4, 4)
