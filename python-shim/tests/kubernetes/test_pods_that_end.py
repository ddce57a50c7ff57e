"""Pods that are deleted, or never start, while ranks need them."""

import re

import pytest

from kubernetes.test_kubernetes import RANKS
from processes import eventually


def reducing(application):
    """Wait until all four ranks reduce; return the executor and the pod of the last one."""
    lines = application.await_lines("REDUCING", 4)
    return next((executor, pod) for rank, executor, pod in lines if rank == "3")


def check_survivors(application, executor, pod):
    """Check that the ranks of the other pod name a rank and the executor of the one that ended.

    If Spark ends the stage before they know, its reason names the executor.
    """
    failures = application.await_lines("FAILED", 2, without=pod)
    lost = re.compile(
        rf"because rank \d \([^)]*, executor {executor}, task \d+\)"
        rf"|because the task was killed: .*ExecutorLostFailure \(executor {executor} "
    )
    others = [message for _, message in failures if not lost.search(message)]
    assert not others, "\n".join(others)


@pytest.mark.parametrize("grace", [0, 30])
def test_survivors_name_the_executor_of_a_deleted_pod(cluster, grace):
    application = cluster.submit(*RANKS, "until-killed", "4", mode="client")
    executor, pod = reducing(application)
    cluster.delete_pod(pod, grace)
    check_survivors(application, executor, pod)
    application.await_end(fails=True)


def test_a_stage_is_retried_in_a_new_pod(cluster):
    application = cluster.submit(*RANKS, "until-killed-again", "4", mode="cluster")
    executor, pod = reducing(application)
    before = set(application.executors())
    cluster.delete_pod(pod)
    check_survivors(application, executor, pod)
    rows = application.results()
    assert [row[0] for row in rows] == ["0", "1", "2", "3"]
    pods = {row[1] for row in rows}
    assert len(pods) == 2
    assert pod not in pods
    assert not pods <= before, "a new pod"


def test_a_decommissioned_pod_is_a_lost_executor(cluster):
    settings = {"spark.decommission.enabled": "true"}
    application = cluster.submit(*RANKS, "until-killed", "4", mode="client", settings=settings)
    executor, pod = reducing(application)
    cluster.delete_pod(pod, grace=5)
    check_survivors(application, executor, pod)
    application.await_end(fails=True)
    assert f"hook of {pod}" in cluster.log()


def test_a_deleted_driver_takes_its_executors_with_it(cluster):
    application = cluster.submit(*RANKS, "until-killed", "4", mode="cluster")
    reducing(application)
    cluster.delete_pod(application.driver)
    application.await_end(fails=True)
    assert set(application.executors()) == {f"{application.name}-exec-{i}" for i in (1, 2)}


def test_a_pod_that_stays_pending_is_named_by_what_was_asked_for(start):
    cluster = start(1)
    settings = {"spark.collectives.preflight.timeout": "60s"}
    application = cluster.submit(*RANKS, "exchange", "4", mode="client", settings=settings)
    output = application.await_end(fails=True)
    assert "The barrier stage has 4 partitions" in output, application.said()
    assert re.search("Only [01] of the 2 executors asked for", output), application.said()
    assert "spark.executor.instances" in output


def test_a_pending_pod_starts_once_there_is_a_node(start):
    cluster = start(1)
    application = cluster.submit(*RANKS, "exchange", "4", mode="client")
    eventually(
        application.said,
        300,
        lambda: f"no room for {application.name}-exec-2" in cluster.log(),
    )
    assert cluster.tell("node", 1) == ""
    assert len(application.results()) == 4
