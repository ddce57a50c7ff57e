"""Barrier stages on YARN, whose containers are processes of this machine."""

import os
import re
import signal

import pytest

from yarn.cluster import HERE


def check_exchange(rows, paths):
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    assert [row[2] for row in rows] == ["10.0"] * 4
    containers = [row[1] for row in rows]
    assert sorted(map(containers.count, set(containers))) == [2, 2], "two ranks in each"
    assert all(row[3] == " ".join(containers) for row in rows), "the objects that were exchanged"
    assert [row[4] for row in rows] == [paths] * 4


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_containers_of_a_node_share_memory(cluster, program, tmp_path, mode):
    application = cluster.submit(
        tmp_path, "--class", "Ranks", program, tmp_path, "exchange", mode=mode
    )
    # One rank in the same container, and two in the other one.
    check_exchange(application.rows(), paths="1 2 0")
    application.await_end()


def test_ranks_encrypt_where_spark_does(cluster, program, tmp_path):
    application = cluster.submit(
        tmp_path,
        "--class",
        "Ranks",
        program,
        tmp_path,
        "exchange",
        mode="cluster",
        spark_authenticate="true",
        spark_network_crypto_enabled="true",
        spark_collectives_transports="heap,tcp",
        spark_collectives_port="29600",
        spark_collectives_port_maxRetries="100",
    )
    rows = application.rows()
    check_exchange(rows, paths="1 0 2")
    assert "encrypts with TLS" in rows[0][5], rows
    application.await_end()


def kill_a_container(application):
    """Kill the container of rank 3 while all ranks reduce."""
    process, executor, container = application.read("victim").split()
    # The check for processes that are left finds those that are there.
    assert process in application.cluster.containers()
    os.kill(int(process), signal.SIGKILL)
    failures = [application.folder / f"failure-{rank}" for rank in range(4)]
    return executor, container, failures


def lost(executor):
    return re.compile(
        rf"because rank \d \([^)]*, executor {executor}, task \d+\) lost its (executor|connection)"
    )


def check_failures(application, executor, failures):
    found = [path.read_text() for path in failures if path.exists()]
    assert len(found) == 2, f"two ranks survive: {found}\n{application.said()}"
    assert all(lost(executor).search(failure) for failure in found), found


def test_survivors_and_the_job_name_the_killed_container(cluster, program, tmp_path):
    application = cluster.submit(tmp_path, "--class", "Ranks", program, tmp_path, "until killed")
    executor, _, failures = kill_a_container(application)
    said = application.await_end(fails=True)
    check_failures(application, executor, failures)
    # Spark's own report of the container may come before that of a rank.
    error = said.rsplit("Exception in thread", 1)[1]
    by_spark = f"(executor {executor} exited" in error and "137" in error
    assert by_spark or lost(executor).search(error), said


def test_a_stage_is_retried_in_a_new_container(cluster, program, tmp_path):
    application = cluster.submit(
        tmp_path, "--class", "Ranks", program, tmp_path, "until killed, again", mode="cluster"
    )
    executor, container, failures = kill_a_container(application)
    rows = application.rows()
    check_failures(application, executor, failures)
    application.await_end()
    assert sorted(rank for rank, _ in rows) == ["0", "1", "2", "3"]
    containers = {name for _, name in rows}
    assert len(containers) == 2
    assert container not in containers


def test_python_ranks_meet(cluster, tmp_path):
    application = cluster.submit(tmp_path, HERE / "python_ranks.py", tmp_path, mode="cluster")
    rows = application.rows()
    assert [row[:2] for row in rows] == [[str(rank), "10.0"] for rank in range(4)]
    containers = [row[2].split() for row in rows]
    assert all(each == containers[0] for each in containers)
    assert len(set(containers[0])) == 2
    application.await_end()


def test_dynamic_allocation_is_refused_with_the_settings_to_give(cluster, program, tmp_path):
    application = cluster.submit(
        tmp_path,
        "--class",
        "Ranks",
        program,
        tmp_path,
        "exchange",
        spark_dynamicAllocation_enabled="true",
    )
    said = application.await_end(fails=True)
    settings = (
        "--conf spark.dynamicAllocation.enabled=false --conf spark.executor.instances=2 "
        "(an executor of 2 cores runs 2 ranks)"
    )
    assert settings in said, said
