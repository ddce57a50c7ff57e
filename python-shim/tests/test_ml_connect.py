"""Clients of Spark Connect whose fits run in barrier stages, without a change in their program."""

import json
import re
import time
import urllib.request

import numpy as np
import pytest

pytest.importorskip("grpc", reason="the client of Spark Connect needs grpcio")
pytest.importorskip("pyspark.ml.connect.readwrite", reason="Spark Connect fits since Spark 4.0")

#: Two clients and a server take minutes on a busy machine.
pytestmark = pytest.mark.parity

BACKEND = "org.sparkcollectives.ml.connect.CollectivesBackend"


def read(spark, path):
    with urllib.request.urlopen(spark.sparkContext.uiWebUrl + path, timeout=60) as answer:
        return json.load(answer)


def last_stage(spark):
    """Return the number of the newest stage. What Spark Connect does is named after its plan."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    jobs = read(spark, f"/api/v1/applications/{spark.sparkContext.applicationId}/jobs")
    return max((stage for job in jobs for stage in job["stageIds"]), default=-1)


def groups_after(spark, stage):
    """Return the groups of later stages, by what the driver was told of them until now."""
    names = [group["name"] for group in read(spark, "/collectives/json")["groups"]]
    return [name for name in names if int(re.search(r"/stage (\d+)", name).group(1)) > stage]


def printed_by(process):
    printed, errors = process.communicate(timeout=600)
    assert process.returncode == 0, errors[-5000:]
    return json.loads(printed.splitlines()[-1])


def test_a_setting_of_the_session_has_its_fits_run_in_barrier_stages(
    spark, connect_client, tmp_path
):
    before = last_stage(spark)
    # At the same time, on the same server.
    program = "connect_program.py"
    with_setting = connect_client(program, str(tmp_path / "with"), BACKEND)
    without = connect_client(program, str(tmp_path / "without"))
    have, want = printed_by(with_setting), printed_by(without)
    deadline = time.monotonic() + 60
    while len(groups_after(spark, before)) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    # One group for the logistic regression and one for k-means, of the session with the setting.
    assert len(groups_after(spark, before)) == 2
    assert have.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_allclose(have[name], value, 1e-9, err_msg=name)
    assert have["accuracy"] > 0.7


def test_a_fit_refuses_rows_with_the_error_of_sparks_own(connect_client):
    with_setting = connect_client("connect_errors.py", BACKEND)
    without = connect_client("connect_errors.py")
    have, want = printed_by(with_setting), printed_by(without)
    assert all("MUST" in message for _, message in want.values()), want
    assert have == want
