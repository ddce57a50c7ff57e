"""An application that gets the library by ``spark-submit --packages``."""

import os
import shutil
from pathlib import Path

import pytest

from publication.conftest import run

PROGRAM = Path(__file__).parent / "AllReduce.java"
GROUP = "org.sparkcollectives"


@pytest.fixture
def submit(publication, tmp_path):
    """Run the program in a cluster of two executors, with an empty Ivy cache."""

    def submitted(spark, *artifacts):
        plugin = publication.artifact("spark-collectives_2.13", ".jar")
        classes = tmp_path / "classes"
        classes.mkdir()
        path = f"{spark}/jars/*{os.pathsep}{plugin}"
        run("javac", "-cp", path, "-d", classes, PROGRAM, cwd=tmp_path)
        run("jar", "--create", "--file", "program.jar", "-C", classes, ".", cwd=tmp_path)
        coordinates = [f"{GROUP}:{artifact}:{publication.version}" for artifact in artifacts]
        said = run(
            spark / "bin/spark-submit",
            "--master",
            "local-cluster[2,2,1024]",
            "--packages",
            ",".join(coordinates),
            "--repositories",
            publication.repository.as_uri(),
            "--conf",
            f"spark.jars.ivy={tmp_path / 'ivy'}",
            "--conf",
            f"spark.plugins={GROUP}.spark.CollectivesPlugin",
            "--conf",
            "spark.ui.enabled=false",
            # A busy machine takes long to start executors.
            "--conf",
            "spark.collectives.preflight.timeout=5m",
            "--class",
            "AllReduce",
            "program.jar",
            cwd=tmp_path,
            SPARK_HOME=str(spark),
            SPARK_LOCAL_IP="127.0.0.1",
            # Ivy looks into the repository of the user's Maven first.
            SPARK_SUBMIT_OPTS=f"-Duser.home={tmp_path}",
        )
        results = dict(
            line.split("=", 1) for line in said.splitlines() if line.startswith("result.")
        )
        assert results == {
            "result.sums": "[10.0, 10.0, 10.0, 10.0]",
            "result.netty": "1",
            "result.core": "1",
            "result.version": publication.version,
        }, said[-10_000:]
        return {path.name for path in (tmp_path / "ivy/jars").iterdir()}

    yield submitted
    shutil.rmtree(tmp_path, ignore_errors=True)


def jar(publication, artifact="spark-collectives_2.13"):
    return f"{GROUP}_{artifact}-{publication.version}.jar"


def test_the_plugin_comes_alone(submit, publication, spark_4):
    assert submit(spark_4, "spark-collectives_2.13") == {jar(publication)}


def test_the_name_for_scala_2_12_brings_the_same_jar(submit, publication, spark_4):
    assert submit(spark_4, "spark-collectives_2.12") == {jar(publication)}


@pytest.mark.parametrize("suffix", ["_2.12", "_2.13"])
def test_spark_3_5_on_scala_2_12_runs_it_by_both_names(submit, publication, spark_3_5, suffix):
    assert submit(spark_3_5, "spark-collectives" + suffix) == {jar(publication)}


@pytest.mark.parametrize("suffix", ["", "_2.12"])
def test_the_estimators_bring_the_plugin_and_nothing_else(submit, publication, spark_4, suffix):
    # Who asks for the plugin too gets one copy of it.
    more = [f"spark-collectives{suffix}"] if suffix else []
    found = submit(spark_4, "spark-collectives-ml", *more)
    assert found == {jar(publication), jar(publication, "spark-collectives-ml")}


def test_the_gpu_module_comes_beside_it_with_its_bindings_only(submit, publication, spark_4):
    found = submit(spark_4, "spark-collectives_2.13", "spark-collectives-gpu")
    ours = {jar(publication), jar(publication, "spark-collectives-gpu")}
    assert found >= ours
    others = {name.split("-")[0] for name in found - ours}
    assert others == {"org.jcuda_jcuda", "net.java.dev.jna_jna"}
