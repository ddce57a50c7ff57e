import json
import os
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

# The driver and the executors of a local cluster use the same Python, and an address that exists
# without a network.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
# For JVMs that live for seconds, the compiler's second tier costs more than it saves.
os.environ.setdefault(
    "SPARK_SUBMIT_OPTS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    '"-Dspark.executor.defaultJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"',
)

import spark_collectives as dist

TESTS = os.path.dirname(__file__)


def error_of_worker(text):
    """Return what a rank has raised, from the text of Spark's exception; None if none has."""
    _, found, raised = text.partition("Traceback (most recent call last):\n")
    lines = re.split(r"\n\tat |\n SQLSTATE: ", raised)[0].splitlines()
    # The frames of the stack are indented; what follows the last of them is the error.
    frames = [number for number, line in enumerate(lines) if line.startswith("  ")]
    return "\n".join(lines[frames[-1] + 1 :]).strip() if found and frames else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """End the summary's line of a failed test with what a rank has raised, not with Py4J's line."""
    report = yield
    error = call.excinfo and error_of_worker(str(call.excinfo.value))
    if error and getattr(report.longrepr, "reprcrash", None):
        report.longrepr.reprcrash.message = error
        report.sections.append(("what a rank has raised", error))
    return report


@pytest.fixture(scope="session")
def spark():
    """Start a session with two executors of two slots each; every rank has its own process."""
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local-cluster[2,2,1024]")
        .appName("spark_collectives tests")
        .config("spark.ui.port", "0")
        .config(
            "spark.metrics.conf.driver.sink.prometheusServlet.class",
            "org.apache.spark.metrics.sink.PrometheusServlet",
        )
        .config("spark.metrics.conf.driver.sink.prometheusServlet.path", "/metrics/prometheus")
        .config("spark.executorEnv.PYTHONPATH", TESTS)
        .config("spark.python.daemon.module", "preloading_daemon")
        .config("spark.sql.execution.arrow.pyspark.enabled", "true")
        .config("spark.task.reaper.enabled", "true")
        # A rank whose task is killed reports its error before it ends, even on a busy machine.
        .config("spark.python.task.killTimeout", "30s")
        .config("spark.collectives.store.timeout", "60s")
    )
    if has_connect():
        builder = builder.config(
            "spark.plugins", "org.apache.spark.sql.connect.SparkConnectPlugin"
        ).config("spark.connect.grpc.binding.port", "0")
    session = dist.configure(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    await_executors(session, 2)
    yield session
    session.stop()


def has_connect():
    """Return whether PySpark has a server of Spark Connect, as its package has since 4.0."""
    import pyspark

    return any(Path(pyspark.__file__).parent.glob("jars/spark-connect_*.jar"))


@pytest.fixture
def connect_client(spark):
    """Begin a program, with a session of its own of the Connect server in the JVM of the tests."""
    pytest.importorskip("grpc", reason="the client of Spark Connect needs grpcio")
    if not has_connect():
        pytest.skip("PySpark has a server of Spark Connect since 4.0")
    services = spark._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(services, "SparkConnectService$"), "MODULE$")
    address = f"sc://localhost:{service.localPort()}"
    # A client that finds the address of the session's JVM would use that one.
    kept = {
        key: value for key, value in os.environ.items() if not key.startswith(("PYSPARK_", "SPARK"))
    }
    begun = []

    def begin(program, *arguments):
        command = [sys.executable, os.path.join(TESTS, program), address, *arguments]
        pipe = subprocess.PIPE
        begun.append(subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=kept))
        return begun[-1]

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


def await_executors(session, count, seconds=60):
    """Wait until the executors have registered: a barrier stage does not."""
    deadline = time.monotonic() + seconds
    status = session.sparkContext._jsc.sc()
    while status.getExecutorMemoryStatus().size() < count + 1:
        assert time.monotonic() < deadline, f"{count} executors did not register"
        time.sleep(0.1)


@pytest.fixture
def ranks(spark):
    """Run a function of (rank, size, *args) as ranks, and return the results by rank."""

    def run(fn, size, *args):
        def task(_rows):
            dist.init_process_group(timeout=60)
            yield dist.get_rank(), fn(dist.get_rank(), dist.get_world_size(), *args)

        context = spark.sparkContext
        rows = context.parallelize(range(size), size).barrier().mapPartitions(task).collect()
        return [value for _, value in sorted(rows, key=lambda row: row[0])]

    return run


@pytest.fixture(scope="module")
def frames(spark):
    """Return the data of ``ml_cases`` by its name, each made and cached once."""
    from ml_cases import frame

    made = {}

    def named(data):
        if data not in made:
            made[data] = frame(spark, data)
        return made[data]

    yield named
    for each in made.values():
        each.unpersist()


def barrier_jobs(spark):
    """Count the jobs of ``BarrierStage``, by the place from which it submits them."""
    context = spark.sparkContext
    context._jsc.sc().listenerBus().waitUntilEmpty()
    url = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/jobs"
    with urllib.request.urlopen(url, timeout=60) as answer:
        return sum("WatchedJob" in job["name"] for job in json.load(answer))
